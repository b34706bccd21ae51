//! Opens the files of redirections, only if they are still the approved ones.

use std::{
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::Path,
};

use rustix::{
    event::PollFlags,
    fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat},
    io::Errno,
};
use windlass_core::tool::{Access, PlannedFile};

use super::{shell::LineContext, stream};

/// The only file that may be opened without approval.
const NOTHING: &str = "/dev/null";

/// The mode of a new file, before the umask.
const MODE: Mode = Mode::from_raw_mode(0o666);

/// Why a file was not opened.
pub(super) enum OpenError {
    /// The file is not in the plan.
    NotPlanned,
    /// The path now contains a link that was not there at the permission check.
    Moved,
    /// The plan is being stopped.
    Stopped,
    /// The error of the operating system.
    Failed(Errno),
}

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// The descriptor behind the name of a standard stream. Opening these paths again could turn reading into writing.
pub(super) fn own_stream(path: &str, access: Access) -> Option<u8> {
    match (path, access) {
        ("/dev/stdin", Access::Read) => Some(0),
        ("/dev/stdout", Access::Write) => Some(1),
        ("/dev/stderr", Access::Write) => Some(2),
        _ => None,
    }
}

/// Opens a file of the plan.
pub(super) fn planned(
    context: &LineContext<'_>,
    written: &OsStr,
    access: Access,
    append: bool,
) -> Result<OwnedFd, OpenError> {
    let real = if written == NOTHING {
        NOTHING.into()
    } else {
        let planned = |file: &&PlannedFile| file.access == access && written == &*file.written;
        let file = context.files.iter().find(planned);
        as_written(written, &file.ok_or(OpenError::NotPlanned)?.real)?
    };
    let flags = match (access, append) {
        (Access::Read, _) => OFlags::RDONLY,
        (Access::Write, false) => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
        (Access::Write, true) => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
    };
    let file = open_or_wait(context, &real, flags)?;
    Ok(file)
}

/// The real path in a form that fails where the written path would, for example behind something that is not a directory.
fn as_written(written: &OsStr, real: &str) -> Result<String, OpenError> {
    let text = written.as_bytes();
    let climbs = text.split(|b| *b == b'/').any(|name| name == b"..");
    if climbs && let Some(parent) = Path::new(written).parent() {
        // The system resolves `..` from the target of a link, and fails if that does not exist.
        let parent = std::fs::canonicalize(parent).map_err(|error| {
            let errno = error.raw_os_error().map(Errno::from_raw_os_error);
            OpenError::Failed(errno.unwrap_or(Errno::NOENT))
        })?;
        let is_link = std::fs::symlink_metadata(written).is_ok_and(|found| found.is_symlink());
        if !is_link && Path::new(real).parent() != Some(&parent) {
            return Err(OpenError::Moved);
        }
    }
    let end = if text.ends_with(b"/") { "/" } else { "" };
    Ok(format!("{real}{end}"))
}

/// Opens a file. Waits for the other end of a named pipe, unless the plan is being stopped.
fn open_or_wait(
    context: &LineContext<'_>,
    real: &str,
    flags: OFlags,
) -> Result<OwnedFd, OpenError> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    let control = context.control;
    let file = loop {
        match without_links(real, flags | OFlags::NONBLOCK) {
            Err(Errno::LOOP) => return Err(OpenError::Moved),
            // A pipe without a reader.
            Err(Errno::NXIO) => {
                std::thread::sleep(std::time::Duration::from_millis(5));
                if control.is_stopping() {
                    return Err(OpenError::Stopped);
                }
            }
            other => break other?,
        }
    };
    let is_pipe = fstat(&file).is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Fifo);
    if is_pipe && !flags.contains(OFlags::WRONLY) {
        // Becomes readable when a writer has written or closed the pipe.
        stream::wait(&file, PollFlags::IN, control).map_err(|_| OpenError::Stopped)?;
    }
    let without = fcntl_getfl(&file)?.difference(OFlags::NONBLOCK);
    fcntl_setfl(&file, without)?;
    Ok(file)
}

/// Opens a real path; `ELOOP` if any component is a link.
#[cfg(target_os = "linux")]
pub(super) fn without_links(real: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    let mode = if flags.contains(OFlags::CREATE) {
        MODE
    } else {
        // The call fails if a mode is given but nothing is created.
        Mode::empty()
    };
    let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, real, flags, mode, no_links) {
        // A kernel before 5.6, or a container that forbids the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(real, flags),
        other => other,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn without_links(real: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    walk(real, flags)
}

/// The same, component by component.
fn walk(real: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, openat};
    let step = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let mut directory = openat(CWD, "/", step, Mode::empty())?;
    let mut names = real.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        // A real path does not contain these components.
        if matches!(name, "." | "..") {
            return Err(Errno::LOOP);
        }
        if names.peek().is_none() {
            return openat(&directory, name, flags | OFlags::NOFOLLOW, MODE);
        }
        directory = match openat(&directory, name, step, Mode::empty()) {
            // The error for a link where a directory is expected.
            Err(Errno::NOTDIR) if is_link(&directory, name) => return Err(Errno::LOOP),
            other => other?,
        };
    }
    // The path is `/` itself.
    openat(CWD, "/", flags | OFlags::NOFOLLOW, MODE)
}

fn is_link(directory: &OwnedFd, name: &str) -> bool {
    use rustix::fs::{AtFlags, statat};
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Symlink)
}
