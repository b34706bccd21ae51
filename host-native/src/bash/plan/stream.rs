//! Blocking reads and writes of the shell itself, which end when the plan is stopped.

use std::os::fd::AsFd;

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, read, write},
};

use super::control::Control;

/// The number of bytes that a writable pipe accepts at once.
pub(super) const PIECE: usize = 4096;

/// The maximum size of a substitution's output, in bytes.
const MAX_OUTPUT: usize = 256 << 20;

/// Why a read or write failed.
#[derive(Debug)]
pub(super) enum Broken {
    /// The plan is being stopped.
    Stopped,
    /// The output of a substitution is too large.
    TooMuch,
    /// The error of the operating system.
    Failed(Errno),
}

impl From<Errno> for Broken {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// Reads to the end.
pub(super) fn read_all(from: impl AsFd, control: &Control) -> Result<Vec<u8>, Broken> {
    let mut all = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        wait(&from, PollFlags::IN, control)?;
        match read(&from, &mut piece) {
            Ok(0) => return Ok(all),
            Ok(count) => all.extend_from_slice(&piece[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(errno) => return Err(errno.into()),
        }
        if all.len() > MAX_OUTPUT {
            return Err(Broken::TooMuch);
        }
    }
}

/// Writes all bytes.
pub(super) fn write_all(to: impl AsFd, mut bytes: &[u8], control: &Control) -> Result<(), Broken> {
    while !bytes.is_empty() {
        wait(&to, PollFlags::OUT, control)?;
        match write(&to, &bytes[..bytes.len().min(PIECE)]) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Waits until a descriptor is ready, or the plan is stopped.
pub(super) fn wait(on: impl AsFd, what: PollFlags, control: &Control) -> Result<(), Broken> {
    loop {
        let stopped = control.stopped();
        let mut both = [PollFd::new(&on, what), PollFd::new(&stopped, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) if !both[1].revents().is_empty() => return Err(Broken::Stopped),
            Ok(_) if !both[0].revents().is_empty() => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
