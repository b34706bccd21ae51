//! What the command line needs of the operating system beyond the standard library.

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::io;

    use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
    use tokio::signal::unix::{SignalKind, signal};

    use crate::cli::signals::Signal;

    /// Columns of the terminal; none without one.
    pub(crate) fn columns() -> Option<usize> {
        let size = tcgetwinsize(io::stdout())
            .or_else(|_| tcgetwinsize(io::stderr()))
            .ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    }

    /// Forgets what was typed and not yet read: nobody answers a question before seeing it.
    pub(crate) fn discard_typed_ahead() {
        // Fails only where standard input is no terminal, and then nothing was typed.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }

    /// Listens for Ctrl-C and for requests of the system to stop.
    #[derive(Debug)]
    pub(crate) struct Listener {
        interrupts: tokio::signal::unix::Signal,
        terminations: tokio::signal::unix::Signal,
    }

    impl Listener {
        /// Listens from now on: the signals no longer end the process by themselves.
        ///
        /// # Errors
        /// What the system says.
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self {
                interrupts: signal(SignalKind::interrupt())?,
                terminations: signal(SignalKind::terminate())?,
            })
        }

        /// The next signal.
        pub(crate) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupts.recv() => Signal::Interrupt,
                _ = self.terminations.recv() => Signal::Terminate,
            }
        }
    }
}

#[cfg(not(unix))]
mod other {
    use crate::cli::signals::Signal;

    /// Unknown here.
    pub(crate) fn columns() -> Option<usize> {
        None
    }

    /// Nothing to do here.
    pub(crate) fn discard_typed_ahead() {}

    /// Listens for Ctrl-C.
    #[derive(Debug)]
    pub(crate) struct Listener;

    impl Listener {
        /// Listens from the first [`Listener::next`] on.
        ///
        /// # Errors
        /// None here.
        pub(crate) fn new() -> std::io::Result<Self> {
            Ok(Self)
        }

        /// The next signal.
        pub(crate) async fn next(&mut self) -> Signal {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Signal::Interrupt
        }
    }
}
#[cfg(not(unix))]
pub(crate) use other::*;
