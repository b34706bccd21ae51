//! What signals ask of the program: the first to stop in order, the second to stop now.

use std::{io, process, thread, time::Duration};

use tokio::sync::watch;

use super::signal_listener::{Listener, Signal};

/// The time for an orderly end after the second signal, before the process is ended regardless.
const LAST_GRACE: Duration = Duration::from_secs(2);

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing yet.
    No,
    /// Stop the work and report.
    Orderly(Signal),
    /// Stop everything.
    Now(Signal),
}

/// Starts watching for signals.
///
/// # Errors
/// The error of the operating system if a handler cannot be installed.
pub(crate) fn watch() -> io::Result<watch::Receiver<Stop>> {
    let mut listener = Listener::new()?;
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        loop {
            let signal = listener.next().await;
            let so_far = *sender.borrow();
            sender.send_replace(match so_far {
                Stop::No => Stop::Orderly(signal),
                Stop::Orderly(_) => {
                    // Enforces the end if it hangs, for example on a pipe that nobody reads.
                    thread::spawn(move || {
                        thread::sleep(LAST_GRACE);
                        process::exit(signal.exit_code().into());
                    });
                    Stop::Now(signal)
                }
                Stop::Now(first) => process::exit(first.exit_code().into()),
            });
        }
    });
    Ok(receiver)
}
