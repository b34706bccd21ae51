//! Settings that are written for one project stay in its folder.
//!
//! A link of the project could lead to the user's own settings, or to those of another project: what a person allows here
//! would hold there. So the file is opened and replaced from a handle of the project's folder, which no path leads out of,
//! whatever is exchanged meanwhile. Links within the project are followed.

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

/// Replaces a settings file of a project that is still what was read, by the digest of that. What is missing is created.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::PermissionDenied`] where a link leads out of the project. Nothing is
/// changed then.
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
    // Held until the file is replaced: whoever changes it too waits, and then is told.
    let _lock = super::settings_files::lock_of(&folder)?;
    let now = text(&folder, name)?.map(|text| digest(&text));
    if now.as_deref() != read {
        return Ok(Replaced::Changed);
    }
    replace_in(&folder, name, content)?;
    Ok(Replaced::Yes)
}

/// Where a path leads within the project. A link to nothing leads nowhere.
fn real(project: &Dir, below: &Path) -> io::Result<PathBuf> {
    match project.canonicalize(below) {
        Err(error) if is_absent(&error) && project.symlink_metadata(below).is_err() => {
            Ok(below.to_path_buf())
        }
        real => real,
    }
}

/// What is in a file; none where there is none.
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

/// The first link on the way that leads out of the project, in words; none where there is none.
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
