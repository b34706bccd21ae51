//! The working directory of a shell: a name for people, and a handle that no change of names leads elsewhere.

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
        // To be in a directory takes the right to search it.
        statat(&handle, ".", AtFlags::empty())?;
        let handle = Arc::new(handle);
        Ok(Self { logical, handle })
    }

    /// The name by which it was entered.
    pub(super) fn logical(&self) -> &OsStr {
        &self.logical
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// The name of a path seen from here: nothing is taken out of it.
    pub(super) fn join(&self, path: &OsStr) -> OsString {
        if path.as_bytes().starts_with(b"/") {
            return path.to_owned();
        }
        let mut joined = self.logical.clone().into_vec();
        joined.push(b'/');
        joined.extend_from_slice(path.as_bytes());
        OsString::from_vec(joined)
    }

    /// Where `cd PATH` leads: `..` takes away the last name, whatever link that is.
    pub(super) fn enter(&self, path: &OsStr) -> io::Result<Self> {
        let joined = self.join(path);
        Self::open(canonical(joined.as_bytes())?)
    }

    /// The path without links: an error where none leads here any more. What the system says of a directory that was removed
    /// (`d (deleted)`) may be the name of another one.
    pub(super) fn physical(&self) -> io::Result<PathBuf> {
        let path = std::fs::canonicalize(self.for_programs())?;
        let (found, here) = (stat(&path)?, fstat(&self.handle)?);
        match (found.st_dev, found.st_ino) == (here.st_dev, here.st_ino) {
            true => Ok(path),
            false => Err(Errno::NOENT.into()),
        }
    }

    /// What a program is told to start in.
    #[cfg(target_os = "linux")]
    pub(super) fn for_programs(&self) -> PathBuf {
        // Read by the program that is about to start, which has a copy of this process's descriptors.
        format!("/proc/self/fd/{}", self.handle.as_raw_fd()).into()
    }

    /// What a program is told to start in.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn for_programs(&self) -> PathBuf {
        self.logical.clone().into()
    }
}

/// An absolute path without `.`, `..` and repeated slashes, by its text; an error when `..` follows what is no directory.
fn canonical(path: &[u8]) -> io::Result<OsString> {
    // Two slashes at the beginning may mean something to a system; bash keeps them.
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
