//! Writes project settings without leaving the project's folder.
//!
//! A link in the project could lead to the user's own settings, or to those of another project: a permission for this
//! project would then apply there. So the file is opened and replaced through a handle on the project's folder, which
//! no path can leave, even if files are replaced meanwhile. Links within the project are followed.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use windlass_engine::store::digest;

use super::{MAX_BYTES, Replaced, place::is_absent};
use crate::files::replace_in;

/// How many links are followed one after the other, as Linux does it.
const MOST_LINKS: usize = 40;

/// Replaces a settings file of a project if it is unchanged since it was read, by its digest. Missing files and
/// folders are created.
///
/// # Errors
/// The error of the operating system; [`io::ErrorKind::PermissionDenied`] if a link leads out of the project. Nothing
/// is changed then.
pub(super) fn replace_within(
    project: &Path,
    file: &Path,
    read: Option<&str>,
    content: &[u8],
) -> io::Result<Replaced> {
    let below = file.strip_prefix(project).map_err(io::Error::other)?;
    fs::create_dir_all(project)?;
    let replaced = Dir::open_ambient_dir(project, ambient_authority())
        .and_then(|project| replace_below(&project, below, read, content));
    replaced.map_err(|error| link_out(project, below).unwrap_or(error))
}

fn replace_below(
    project: &Dir,
    below: &Path,
    read: Option<&str>,
    content: &[u8],
) -> io::Result<Replaced> {
    if let Some(folder) = below.parent() {
        project.create_dir_all(folder)?;
    }
    let place = real(project, below)?;
    let folder = match place.parent().filter(|it| !it.as_os_str().is_empty()) {
        Some(folder) => project.open_dir(folder)?,
        None => project.try_clone()?,
    };
    let name = place.file_name().and_then(|name| name.to_str());
    let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
    // Held until the file is replaced: another writer waits, and then sees the change.
    let _lock = super::settings_files::lock_of(&folder)?;
    let now = text(&folder, name)?.map(|text| digest(&text));
    if now.as_deref() != read {
        return Ok(Replaced::Changed);
    }
    replace_in(&folder, name, content)?;
    Ok(Replaced::Yes)
}

/// The real path within the project. A dangling link leads nowhere. Only folders are canonicalized: another writer may replace the file
/// in that very moment, and then its path would be that of a file that is not there any more.
fn real(project: &Dir, below: &Path) -> io::Result<PathBuf> {
    let mut place = below.to_path_buf();
    for _ in 0..=MOST_LINKS {
        let name = place.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let folder = match place.parent().filter(|it| !it.as_os_str().is_empty()) {
            Some(folder) => project.canonicalize(folder)?,
            None => PathBuf::new(),
        };
        let real = folder.join(name);
        match project.symlink_metadata(&real) {
            Ok(found) if found.is_symlink() => place = folder.join(project.read_link(&real)?),
            Err(error) if is_absent(&error) && place != below => return Err(error),
            _ => return Ok(real),
        }
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// The content of a file; `None` if it does not exist.
fn text(folder: &Dir, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    crate::os::open_without_waiting(&mut options);
    let file = match folder.open_with(name, &options) {
        Err(error) if is_absent(&error) => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        let words = "it is no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text)?;
    Ok(Some(text))
}

/// An error for the first link on the path that leads out of the project, if there is one.
fn link_out(project: &Path, below: &Path) -> Option<io::Error> {
    let inside = fs::canonicalize(project).ok()?;
    let mut link = project.to_path_buf();
    for name in below {
        link.push(name);
        let Ok(target) = fs::read_link(&link) else {
            continue;
        };
        let real = fs::canonicalize(&link).ok();
        if real.is_some_and(|real| real.starts_with(&inside)) {
            continue;
        }
        let words = format!(
            "{} is a link to {}, not to anything in the project, so that what is set for this project would hold elsewhere; put a file or folder of the project in its place, or change what it leads to by hand",
            link.display(),
            target.display()
        );
        return Some(io::Error::new(io::ErrorKind::PermissionDenied, words));
    }
    None
}
