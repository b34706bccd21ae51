//! Settings files, read and replaced as a whole.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use cap_std::fs::Dir;
use windlass_engine::store::digest;

use super::{Readers, place::is_absent, read_text, replace};

/// Bytes of the longest file of settings.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Whether a file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    Yes,
    /// It is not what was read.
    Changed,
}

/// What a settings file says; none where there is none.
pub(crate) fn read_settings(path: &Path) -> io::Result<Option<String>> {
    match read_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a settings file that is still what was read, by the digest of that. Folders and files that are missing are created.
pub(crate) fn replace_settings(
    path: &Path,
    read: Option<&str>,
    content: &[u8],
) -> io::Result<Replaced> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Held until the file is replaced: whoever changes it too waits, and then is told.
    let _lock = lock(folder)?;
    let now = read_settings(path)?.map(|text| digest(text.as_bytes()));
    if now.as_deref() != read {
        return Ok(Replaced::Changed);
    }
    replace(path, content, Readers::Usual)?;
    Ok(Replaced::Yes)
}

/// [`lock`] of a folder that is open.
#[cfg(unix)]
pub(super) fn lock_of(folder: &Dir) -> io::Result<File> {
    // A handle that only stands for a folder cannot be locked.
    let file = folder.open(".")?.into_std();
    file.lock()?;
    Ok(file)
}

/// [`lock`] of a folder that is open.
#[cfg(not(unix))]
pub(super) fn lock_of(folder: &Dir) -> io::Result<File> {
    let file = folder.create(".settings.lock")?.into_std();
    file.lock()?;
    Ok(file)
}

/// Keeps others from changing files of this folder until it is dropped.
fn lock(folder: &Path) -> io::Result<File> {
    // The folder itself: nothing is left lying about. Elsewhere folders cannot be opened.
    #[cfg(unix)]
    let file = File::open(folder)?;
    #[cfg(not(unix))]
    let file = File::create(folder.join(".settings.lock"))?;
    file.lock()?;
    Ok(file)
}
