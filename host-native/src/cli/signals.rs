//! Ctrl-C, requests to terminate, and terminals that go away.

use std::{io, process, thread, time::Duration};

use tokio::sync::watch;

use super::os;

/// Time to end in good order after the second signal, before the process ends regardless.
const LAST_GRACE: Duration = Duration::from_secs(2);

/// What a person or the system asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nothing yet.
    No,
    /// Stop the work and report.
    Orderly(Signal),
    /// Stop everything.
    Now(Signal),
}

/// Which signal it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal, or the connection to it, is gone.
    HangUp,
}

impl Signal {
    /// The exit code by the convention of shells: 128 and the number of the signal.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}

/// Watches for signals from now on.
///
/// # Errors
/// What the system says when it takes no handler.
pub(crate) fn watch() -> io::Result<watch::Receiver<Stop>> {
    let mut listener = os::Listener::new()?;
    let (sender, receiver) = watch::channel(Stop::No);
    tokio::spawn(async move {
        loop {
            let signal = listener.next().await;
            let so_far = *sender.borrow();
            sender.send_replace(match so_far {
                Stop::No => Stop::Orderly(signal),
                Stop::Orderly(_) => {
                    // If even the end hangs, as on a pipe that nobody reads, it is cut short.
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
