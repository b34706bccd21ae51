//! Systems other than Unix: no Bash, and file permissions by the system's defaults.

use std::{fs, io, path::Path};

use cap_std::fs::OpenOptions;

/// Opening never blocks on this system.
pub(crate) fn open_without_waiting(_options: &mut OpenOptions) {}

/// Opening by path does not block either; links are detected before.
pub(crate) fn open_at_once(_options: &mut fs::OpenOptions, _refuses_links: bool) {}

/// Access lists are inherited from the directory.
pub(crate) fn owner_only(_options: &mut OpenOptions) {}

/// The system would interpret backslashes, drive letters and streams (`a:b`) as more than a name.
pub(crate) fn is_special_path(path: &str) -> bool {
    path.contains(['\\', ':'])
}

/// Creates a directory and its parents.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// A user's cache directory is private on this system.
pub(crate) fn is_private(metadata: &fs::Metadata) -> bool {
    !metadata.is_symlink()
}

/// A user's data directory is private on this system.
pub(crate) fn is_secret(metadata: &fs::Metadata) -> bool {
    is_private(metadata)
}

/// Names tell what a program is on this system.
pub(crate) fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

/// Access lists are inherited from the directory.
///
/// # Errors
/// None.
pub(crate) fn set_private(_path: &Path, _is_executable: bool) -> io::Result<()> {
    Ok(())
}

/// There is no such right.
pub(crate) fn may_trace() -> bool {
    false
}

/// Does nothing on this system.
///
/// # Errors
/// None.
pub(crate) fn give_up_tracing() -> io::Result<()> {
    Ok(())
}

/// Does nothing: this is left to the system's defaults.
///
/// # Errors
/// None.
pub(crate) fn close_memory() -> io::Result<()> {
    Ok(())
}

/// There is no superuser that matters for permission modes.
pub(crate) fn is_root() -> bool {
    false
}
