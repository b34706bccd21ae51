//! Opens a path that was checked, from the root of the file system and without following any link.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use cap_fs_ext::DirExt;
use cap_std::{ambient_authority, fs::Dir};

/// The deepest existing directory of a real path, opened.
pub(super) struct Deepest {
    pub(super) dir: Dir,
    /// Its path: the checked path, or one of its parents.
    pub(super) path: PathBuf,
}

/// Opens the deepest existing directory of an absolute path whose links were resolved before it was checked.
///
/// Every component is opened from the handle of its parent and must be a directory. A link in the path was created
/// after the check, so its target was never checked.
///
/// This is the only place where a call uses the host's own access to files.
///
/// # Errors
/// Why the path is not opened.
pub(super) fn deepest_directory(path: &Path) -> Result<Deepest, &'static str> {
    const CANNOT_BE_OPENED: &str = "it cannot be opened";
    let mut components = path.components().peekable();
    let mut start = PathBuf::new();
    while let Some(component) = components.next_if(|c| !matches!(c, Component::Normal(_))) {
        start.push(component);
    }
    let dir = Dir::open_ambient_dir(&start, ambient_authority()).map_err(|_| CANNOT_BE_OPENED)?;
    let mut deepest = Deepest { dir, path: start };
    for component in components {
        let opened = deepest.dir.open_dir_nofollow(component);
        match opened {
            Ok(dir) => deepest.dir = dir,
            Err(_) => match deepest.dir.symlink_metadata(component) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Ok(found) if found.is_symlink() => {
                    return Err("a link stands on the way that was not there when it was judged");
                }
                // The granted file itself, or a file in place of a directory: the walk will report it.
                Ok(found) if !found.is_dir() => break,
                Ok(_) | Err(_) => return Err(CANNOT_BE_OPENED),
            },
        }
        deepest.path.push(component);
    }
    Ok(deepest)
}
