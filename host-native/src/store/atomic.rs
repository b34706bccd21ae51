//! Files that are replaced as a whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::regular::{self, Link};

/// Tells the writes of one process apart.
static WRITES: AtomicU32 = AtomicU32::new(0);

/// Who may read a file that was not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner.
    Owner,
    /// Whoever the system lets by default.
    Usual,
}

/// Replaces a file's content: readers see the old or the new one, never a part, whatever happens in between. A link
/// stays a link, its target is replaced; permissions stay.
///
/// # Errors
/// What the operating system says; the file is as it was then.
pub fn replace(path: &Path, content: &[u8], readers: Readers) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        Err(error) => return Err(error),
    };
    put(&target, content, readers)
}

/// The same for a file whose name nobody chose to write to: a link, and whatever else is no regular file, stays as it is.
///
/// # Errors
/// The same, and [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub(super) fn replace_itself(path: &Path, content: &[u8], readers: Readers) -> io::Result<()> {
    regular::is_there(path, Link::Refused)?;
    // A rename follows no link: one that comes in between is replaced, not what it leads to.
    put(path, content, readers)
}

fn put(target: &Path, content: &[u8], readers: Readers) -> io::Result<()> {
    let (mut file, beside) = create_beside(target, readers)?;
    let written = (|| {
        file.write_all(content)?;
        if let Some(meta) = fs::symlink_metadata(target)
            .ok()
            .filter(fs::Metadata::is_file)
        {
            file.set_permissions(meta.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, target)
    })();
    if written.is_err() {
        // What cannot be removed either is a stray file, not a lost one.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file in the same folder: a rename never leaves a file system.
fn create_beside(target: &Path, readers: Readers) -> io::Result<(File, PathBuf)> {
    loop {
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        let beside = target.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if readers == Readers::Owner {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = readers;
        match options.open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
