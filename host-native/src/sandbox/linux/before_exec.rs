//! What runs between fork and exec: the places of the sandbox that need `unsafe`.

#![allow(unsafe_code)]

use std::{
    io, mem,
    os::{
        fd::{AsRawFd as _, BorrowedFd, RawFd},
        unix::process::CommandExt as _,
    },
    process::Command,
    ptr,
};

use rustix::{process::Pid, thread::UnshareFlags};

/// Has a command's child do something to itself before it becomes the program.
///
/// `steps` runs in a copy of this process that has one thread, whatever the others were doing when it was made: it may make
/// system calls on what was prepared before. It must not allocate, lock, or print.
pub(super) fn before_exec(
    command: &mut Command,
    steps: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: all closures that come here are in `establish` and `enter`. They make system calls, by way of rustix, landlock
    // and seccompiler, on paths, rules and filters that their values own since before the fork. They take no lock and need no
    // memory: what they open is kept in places that were reserved.
    unsafe {
        command.pre_exec(steps);
    }
}

/// Leaves namespaces of this process for new ones.
pub(super) fn unshare(namespaces: Namespaces) -> io::Result<()> {
    let flags = match namespaces {
        Namespaces::Lasting => UnshareFlags::NEWUSER | UnshareFlags::NEWNET | UnshareFlags::NEWIPC,
        Namespaces::OfCommand => UnshareFlags::NEWNS | UnshareFlags::NEWPID,
    };
    // SAFETY: unsafe only with `FILES`, which stands in neither set: no table of file descriptors is split.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Has every handle but the three of a program end with exec: a folder that somebody left open leads past all mounts.
pub(super) fn close_other_handles() -> io::Result<()> {
    // SAFETY: the call takes three numbers and no pointer. It closes nothing now: handles only learn to end with exec.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes every handle but this one, the three standard ones too, in a process that only waits from here on.
pub(super) fn close_all_but(kept: BorrowedFd<'_>) {
    let kept = kept.as_raw_fd().cast_unsigned();
    let close = |first: u32, last: u32| {
        // SAFETY: the call takes three numbers and no pointer. The process runs nothing anymore that owns what is closed: it waits
        // with the one handle that stays, and ends by `end` or a signal, without dropping anything.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    };
    if let Some(below) = kept.checked_sub(1) {
        close(0, below);
    }
    close(kept + 1, RawFd::MAX.cast_unsigned());
}

/// Splits the process in two: none in the new one, its number in the other.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the process has one thread and is itself a copy that was made to be executed. Without `CLONE_VM` the new one has its
    // own memory; no pointer is given. No handlers of libraries run, which could wait for a lock that nobody holds here.
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::SIGCHLD,
            0_usize,
            0_usize,
            0_usize,
            0_usize,
        )
    };
    match i32::try_from(result) {
        Ok(0) => Ok(None),
        Ok(number) if number > 0 => Ok(Pid::from_raw(number)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The signals that a thread holds back.
#[derive(Clone, Copy)]
pub(super) struct Mask(libc::sigset_t);

/// Holds all signals back, so that no handler of this process runs in its copies.
pub(super) fn hold_signals() -> io::Result<Mask> {
    // SAFETY: both sets are places of this function that live through the calls; a set of zeros is one.
    unsafe {
        let (mut all, mut before) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut all);
        match libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before) {
            0 => Ok(Mask(before)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Mask {
    /// Lets through again what was let through before.
    pub(super) fn restore(&self) -> io::Result<()> {
        // SAFETY: the set was written by the system, and lives through the call; nothing is asked back.
        match unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Ends the process at once, without running what belongs to the one that it is a copy of.
pub(super) fn end(code: i32) -> ! {
    // SAFETY: the call never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Ends the process by a signal; with the code that shells give it where that does not end it.
pub(super) fn end_by(signal: i32) -> ! {
    // SAFETY: the set is a place of this function. The default action runs no code of this process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut only = mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::kill(libc::getpid(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
    }
    end(128 + signal)
}

/// Which namespaces are new.
#[derive(Debug, Clone, Copy)]
pub(super) enum Namespaces {
    /// Those that all commands of a sandbox share: users, network, System V objects.
    Lasting,
    /// Those of one command: mounts, and the processes that the calling one starts from now on.
    OfCommand,
}
