//! Code that runs between fork and exec: the parts of the sandbox that need `unsafe`.

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

/// Runs steps in a command's child process before exec.
///
/// `steps` runs in a copy of this process with a single thread, while other threads may have held locks when it was
/// forked. It may make system calls on data prepared before. It must not allocate, lock, or print.
pub(super) fn before_exec(
    command: &mut Command,
    steps: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: all closures passed here are in `establish` and `enter`. They make system calls (through rustix,
    // landlock and seccompiler) on paths, rules and filters that their values have owned since before the fork. They
    // take no lock and allocate no memory: file descriptors are stored in slots that were reserved before.
    unsafe {
        command.pre_exec(steps);
    }
}

/// Moves this process into new namespaces.
pub(super) fn unshare(namespaces: Namespaces) -> io::Result<()> {
    let flags = match namespaces {
        Namespaces::OfSandbox => {
            UnshareFlags::NEWUSER | UnshareFlags::NEWNET | UnshareFlags::NEWIPC
        }
        Namespaces::OfCommand => UnshareFlags::NEWNS | UnshareFlags::NEWPID,
    };
    // SAFETY: only `FILES` makes this unsafe, and neither set contains it: the table of file descriptors is not unshared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Marks all file descriptors except the three standard ones close-on-exec: an inherited folder descriptor would
/// bypass all mounts.
pub(super) fn close_other_handles() -> io::Result<()> {
    // SAFETY: the call takes three numbers and no pointer. It closes nothing now; it only sets close-on-exec.
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

/// Closes every file descriptor but this one, including the standard ones, in a process that only waits from here on.
pub(super) fn close_all_but(kept: BorrowedFd<'_>) {
    let kept = kept.as_raw_fd().cast_unsigned();
    let close = |first: u32, last: u32| {
        // SAFETY: the call takes three numbers and no pointer. The process runs no more code that owns what is
        // closed: it waits on the one remaining descriptor, and ends by `end` or a signal without dropping anything.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
    };
    if let Some(below) = kept.checked_sub(1) {
        close(0, below);
    }
    close(kept + 1, RawFd::MAX.cast_unsigned());
}

/// Forks the process: returns `None` in the child and the child's process id in the parent.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: the process has one thread and is itself a fork made to be executed. Without `CLONE_VM` the child has
    // its own memory; no pointer is passed. No fork handlers of libraries run, which could wait for a lock that is
    // never released here.
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

/// A thread's signal mask.
#[derive(Clone, Copy)]
pub(super) struct Mask(libc::sigset_t);

/// Blocks all signals, so that no signal handler of this process runs in its forks.
pub(super) fn hold_signals() -> io::Result<Mask> {
    // SAFETY: both sets are locals of this function that outlive the calls; an all-zero set is valid.
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
    /// Restores the previous signal mask.
    pub(super) fn restore(&self) -> io::Result<()> {
        // SAFETY: the set was written by the system and outlives the call; no old set is requested.
        match unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Exits the process at once, without running destructors or exit handlers inherited from the process it was forked from.
pub(super) fn end(code: i32) -> ! {
    // SAFETY: the call never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Ends the process by a signal; if the signal does not end it, exits with the code that shells use for it.
pub(super) fn end_by(signal: i32) -> ! {
    // SAFETY: the set is a local of this function. The default action runs no code of this process.
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

/// Which namespaces are unshared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Namespaces {
    /// Those shared by all commands of a sandbox: user, network, IPC.
    OfSandbox,
    /// Those of one command: the mount namespace, and the PID namespace of the processes that the caller starts from now on.
    OfCommand,
}
