//! Opening a path that was judged: from the root of the file system, and through no link.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use cap_fs_ext::DirExt;
use cap_std::{ambient_authority, fs::Dir};

/// The deepest directory of a real path, opened.
pub(super) struct Deepest {
    pub(super) dir: Dir,
    /// Its path: the judged one, or a beginning of it.
    pub(super) path: PathBuf,
}

/// Opens the deepest directory that exists of an absolute path whose links were resolved before it was judged.
///
/// Every component is opened from the handle of the one before and must be a directory itself. A link on the way, or at the
/// end, was not there when the path was judged: somebody put it there since, and what it points to was judged by nobody.
///
/// This is the one place where the host's own authority over files is used for a call.
///
/// # Errors
/// Why nothing of the path is handed out.
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
                // The granted file itself, or a file where the path needs a directory: the walk will tell.
                Ok(found) if !found.is_dir() => break,
                Ok(_) | Err(_) => return Err(CANNOT_BE_OPENED),
            },
        }
        deepest.path.push(component);
    }
    Ok(deepest)
}
