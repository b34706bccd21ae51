//! Systems that are not Unix: no Bash, and permissions as the system's defaults give them.

use std::{fs, io, path::Path};

use cap_std::fs::OpenOptions;

/// Opening never waits here.
pub(crate) fn open_without_waiting(_options: &mut OpenOptions) {}

/// Nor does it by a path; links are seen before.
pub(crate) fn open_at_once(_options: &mut fs::OpenOptions, _refuses_links: bool) {}

/// Access lists are inherited from the directory.
pub(crate) fn owner_only(_options: &mut OpenOptions) {}

/// Backslashes, drive letters and streams (`a:b`) would be read by the system as more than a name.
pub(crate) fn is_special_path(path: &str) -> bool {
    path.contains(['\\', ':'])
}

/// Creates a directory with its parents.
///
/// # Errors
/// What the system says.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// A user's cache directory is that user's own here.
pub(crate) fn is_private(metadata: &fs::Metadata) -> bool {
    !metadata.is_symlink()
}

/// A user's data directory is that user's own here.
pub(crate) fn is_secret(metadata: &fs::Metadata) -> bool {
    is_private(metadata)
}

/// There is no such right.
pub(crate) fn may_trace() -> bool {
    false
}

/// There is nothing to give up.
///
/// # Errors
/// None.
pub(crate) fn give_up_tracing() -> io::Result<()> {
    Ok(())
}

/// Left to the system's defaults.
///
/// # Errors
/// None.
pub(crate) fn close_memory() -> io::Result<()> {
    Ok(())
}

/// There is no superuser that permission modes know of.
pub(crate) fn is_root() -> bool {
    false
}
