//! Programs that are started: what they are given of this process, and what not.
//!
//! Every program in this crate is started through [`command`], so that none is given a key; those that run for a session by
//! `spawn`, so that none may read the memory of processes that have more rights than itself.

use std::io;

use tokio::process::Child;

#[cfg(unix)]
pub(crate) use crate::child_env::without_credentials;
pub use crate::child_env::{HANDED_OVER, command};
use crate::os;

/// Starts a program. It and whatever it starts cannot be given the right to read the memory of any process (`CAP_SYS_PTRACE`),
/// where this process has the right to see to that; what this process itself may do stays as it is.
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// What the system says.
pub(crate) fn spawn(command: &mut tokio::process::Command) -> io::Result<Child> {
    if !os::may_trace() {
        return command.spawn();
    }
    // A thread of its own, because what a thread gives up it never gets back. Children begin with what their thread has.
    let runtime = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            let _inside = runtime.enter();
            os::give_up_tracing()?;
            command.spawn()
        });
        spawning
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })
}

/// Keeps this whole process from the programs that it starts, and from others of the same user: on Linux they can neither read its
/// memory and environment nor attach a debugger, and no core dump is written. Elsewhere nothing is done.
///
/// For programs that are an agent and nothing else, at their start: of threads that run already only the one that calls gives up
/// its rights. The library never does this by itself. A process that was started by root in another way, and is not confined, can
/// still read everything.
///
/// # Errors
/// What the system says.
pub fn protect_process() -> io::Result<()> {
    os::give_up_tracing()?;
    os::close_memory()
}
