//! Files that are replaced as a whole or not at all.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::Path,
};

use tempfile::NamedTempFile;

use crate::regular::{self, Link};

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
    let mut file = create_beside(target, readers)?;
    file.write_all(content)?;
    let existing = fs::symlink_metadata(target).ok();
    if let Some(existing) = existing.filter(fs::Metadata::is_file) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.as_file().sync_all()?;
    // Until here it is removed when it goes: what cannot be removed is a stray file, not a lost one.
    file.persist(target).map(drop).map_err(io::Error::from)
}

/// A new file in the same folder: a rename never leaves a file system.
fn create_beside(target: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    if readers == Readers::Usual {
        // As far as the process lets files be read at all (umask).
        let usual = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        builder.permissions(usual);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.tempfile_in(
        target
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
    )
}
