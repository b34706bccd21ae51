//! The working directory of a shell: a path for display, and a handle that stays valid if paths change.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
    path::PathBuf,
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, stat, statat},
    io::Errno,
};

#[cfg(target_os = "linux")]
const HANDLE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const HANDLE: OFlags = OFlags::RDONLY;

/// A directory that was entered.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    logical: OsString,
    handle: Arc<OwnedFd>,
}

impl Directory {
    /// Enters an absolute directory.
    pub(super) fn open(logical: OsString) -> io::Result<Self> {
        let flags = HANDLE | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, logical.as_os_str(), flags, Mode::empty())?;
        // Entering a directory requires search permission.
        statat(&handle, ".", AtFlags::empty())?;
        let handle = Arc::new(handle);
        Ok(Self { logical, handle })
    }

    /// The path by which it was entered.
    pub(super) fn logical(&self) -> &OsStr {
        &self.logical
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// A path relative to this directory, joined without normalization.
    pub(super) fn join(&self, path: &OsStr) -> OsString {
        if path.as_bytes().starts_with(b"/") {
            return path.to_owned();
        }
        let mut joined = self.logical.clone().into_vec();
        joined.push(b'/');
        joined.extend_from_slice(path.as_bytes());
        OsString::from_vec(joined)
    }

    /// The target of `cd PATH`: `..` removes the last component, even if it is a link.
    pub(super) fn enter(&self, path: &OsStr) -> io::Result<Self> {
        let joined = self.join(path);
        Self::open(canonical(joined.as_bytes())?)
    }

    /// The path without symbolic links; an error if the directory no longer has a path. For a removed directory, the
    /// system returns a text (`d (deleted)`) that could be the path of another one.
    pub(super) fn physical(&self) -> io::Result<PathBuf> {
        let path = std::fs::canonicalize(self.for_programs())?;
        let (found, here) = (stat(&path)?, fstat(&self.handle)?);
        match (found.st_dev, found.st_ino) == (here.st_dev, here.st_ino) {
            true => Ok(path),
            false => Err(Errno::NOENT.into()),
        }
    }

    /// The path of the working directory for programs.
    #[cfg(target_os = "linux")]
    pub(super) fn for_programs(&self) -> PathBuf {
        // Resolved by the started program, which has a copy of this process's descriptors.
        format!("/proc/self/fd/{}", self.handle.as_raw_fd()).into()
    }

    /// The path of the working directory for programs.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn for_programs(&self) -> PathBuf {
        self.logical.clone().into()
    }
}

/// Normalizes an absolute path by its text: removes `.`, `..` and repeated slashes. An error if `..` follows
/// something that is not a directory.
fn canonical(path: &[u8]) -> io::Result<OsString> {
    // POSIX lets two leading slashes have a special meaning; bash keeps them.
    let two = path.starts_with(b"//") && !path.starts_with(b"///");
    let root: &[u8] = if two { b"//" } else { b"/" };
    let mut names: Vec<&[u8]> = Vec::new();
    let whole = |names: &[&[u8]]| OsString::from_vec([root, &names.join(&b'/')].concat());
    for name in path.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                if !std::fs::metadata(whole(&names))?.is_dir() {
                    return Err(Errno::NOTDIR.into());
                }
                names.pop();
            }
            name => names.push(name),
        }
    }
    Ok(whole(&names))
}
