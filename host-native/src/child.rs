//! Starting child processes: what they inherit of this process, and what they do not.
//!
//! Every process in this crate is started through [`command`], so that none inherits an API key. Those that run for a
//! session are started by `spawn`, so that none can read the memory of processes with more rights than itself.

use std::io;

use tokio::process::Child;

#[cfg(unix)]
pub(crate) use crate::child_env::without_credentials;
pub use crate::child_env::{HANDED_OVER, command};
use crate::{below_agent, os};

/// Starts a process. If this process has the right to read the memory of any process (`CAP_SYS_PTRACE`), neither the
/// child nor its descendants can get it. The rights of this process do not change. The child can tell that an agent started it
/// ([`is_below_agent`]).
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn spawn(command: &mut tokio::process::Command) -> io::Result<Child> {
    as_agent(command.as_std_mut());
    if !os::may_trace() {
        return command.spawn();
    }
    // Uses a separate thread, because a thread cannot regain a right it gave up. A child inherits the rights of the
    // thread that starts it.
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

/// Lets the program that is started know that an agent started it ([`is_below_agent`]). Every program of a session is started after
/// this, whatever its environment is.
pub(crate) fn as_agent(command: &mut std::process::Command) {
    below_agent::announce();
    command.env(below_agent::VARIABLE, "1");
}

/// Whether an agent started this program, itself or through programs that it started: such a program does not do what only a person
/// may do. A program that left its ancestors and took the agent's variable out of its environment is not known.
#[must_use]
pub fn is_below_agent() -> bool {
    below_agent::is_below_agent()
}

/// Protects this process from the processes that it starts and from others of the same user: on Linux they can
/// neither read its memory and environment nor attach a debugger, and no core dump is written. On other systems this
/// does nothing.
///
/// For programs whose only purpose is to run an agent; call it at their start, since only the calling thread gives up
/// its rights, not threads that are already running. The library never calls it by itself. An unconfined process that
/// root started otherwise can still read everything.
///
/// # Errors
/// The error of the operating system.
pub fn protect_process() -> io::Result<()> {
    os::give_up_tracing()?;
    os::close_memory()
}
