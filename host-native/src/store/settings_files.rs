//! Reads and atomically replaces settings files.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use cap_std::fs::Dir;
use windlass_engine::store::digest;

use super::{Readers, place::is_absent, read_text, replace};

/// The maximum size of a settings file, in bytes.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Whether a file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    Yes,
    /// The file has changed since it was read.
    Changed,
}

/// The text of a settings file; `None` if it does not exist.
pub(crate) fn read_settings(path: &Path) -> io::Result<Option<String>> {
    match read_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a settings file if it is unchanged since it was read, by its digest. Missing folders and files are created.
pub(crate) fn replace_settings(
    path: &Path,
    read: Option<&str>,
    content: &[u8],
) -> io::Result<Replaced> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Held until the file is replaced: another writer waits, and then sees the change.
    let _lock = lock(folder)?;
    let now = read_settings(path)?.map(|text| digest(text.as_bytes()));
    if now.as_deref() != read {
        return Ok(Replaced::Changed);
    }
    replace(path, content, Readers::Usual)?;
    Ok(Replaced::Yes)
}

/// [`lock`] for an open folder.
#[cfg(unix)]
pub(super) fn lock_of(folder: &Dir) -> io::Result<File> {
    // A handle opened with `O_PATH` cannot be locked.
    let file = folder.open(".")?.into_std();
    file.lock()?;
    Ok(file)
}

/// [`lock`] for an open folder.
#[cfg(not(unix))]
pub(super) fn lock_of(folder: &Dir) -> io::Result<File> {
    let file = folder.create(".settings.lock")?.into_std();
    file.lock()?;
    Ok(file)
}

/// Locks the files of this folder against other writers until dropped.
fn lock(folder: &Path) -> io::Result<File> {
    // Locks the folder itself, so that no lock file is left behind. On other systems, folders cannot be opened.
    #[cfg(unix)]
    let file = File::open(folder)?;
    #[cfg(not(unix))]
    let file = File::create(folder.join(".settings.lock"))?;
    file.lock()?;
    Ok(file)
}
