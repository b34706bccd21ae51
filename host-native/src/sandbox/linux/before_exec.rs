//! What runs between fork and exec: the three places of the sandbox that need `unsafe`.

#![allow(unsafe_code)]

use std::{io, os::unix::process::CommandExt as _, process::Command};

use rustix::thread::UnshareFlags;

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
        Namespaces::Mounts => UnshareFlags::NEWNS,
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

/// Which namespaces are new.
#[derive(Debug, Clone, Copy)]
pub(super) enum Namespaces {
    /// Those that all commands of a sandbox share: users, network, System V objects.
    Lasting,
    /// That of one command: mounts.
    Mounts,
}
