//! Listens for Ctrl-C, termination requests, and closed terminals.

#[cfg(not(unix))]
pub(crate) use other::Listener;
#[cfg(unix)]
pub(crate) use unix::Listener;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal or its connection is gone.
    HangUp,
}

impl Signal {
    /// The exit code as in shells: 128 plus the signal number.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::{fs, future, io};

    use tokio::signal::unix::{SignalKind, signal};

    use super::Signal;

    /// Listens for Ctrl-C, termination requests, and the loss of the terminal.
    #[derive(Debug)]
    pub(crate) struct Listener {
        interrupts: tokio::signal::unix::Signal,
        terminations: tokio::signal::unix::Signal,
        /// `None` if the process is meant to outlive the terminal (`nohup`).
        hangups: Option<tokio::signal::unix::Signal>,
    }

    impl Listener {
        /// Starts listening: the signals no longer end the process by themselves.
        ///
        /// # Errors
        /// The error of the operating system.
        pub(crate) fn new() -> io::Result<Self> {
            let hangups = match ignores_hangups() {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            };
            Ok(Self {
                interrupts: signal(SignalKind::interrupt())?,
                terminations: signal(SignalKind::terminate())?,
                hangups,
            })
        }

        /// The next signal.
        pub(crate) async fn next(&mut self) -> Signal {
            let hung_up = async {
                match &mut self.hangups {
                    Some(hangups) => hangups.recv().await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                _ = self.interrupts.recv() => Signal::Interrupt,
                _ = self.terminations.recv() => Signal::Terminate,
                _ = hung_up => Signal::HangUp,
            }
        }
    }

    /// Whether SIGHUP was ignored when this process started. Only Linux reports it; elsewhere `false`.
    fn ignores_hangups() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // Bit 0 is signal 1.
        ignored.is_some_and(|mask| mask & 1 != 0)
    }
}

#[cfg(not(unix))]
mod other {
    use super::Signal;

    /// Listens for Ctrl-C.
    #[derive(Debug)]
    pub(crate) struct Listener;

    impl Listener {
        /// Starts listening with the first [`Listener::next`].
        ///
        /// # Errors
        /// None on this system.
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
