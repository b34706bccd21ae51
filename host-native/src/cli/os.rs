//! Operating system functions that the standard library lacks.

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::{fs, future, io, os::fd::AsRawFd as _, thread};

    use mio::{Events, Interest, Poll, Token, event::Event, unix::SourceFd};
    use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
    use tokio::{
        signal::unix::{SignalKind, signal},
        sync::oneshot,
    };

    use crate::cli::signals::Signal;

    /// The width of the terminal in columns; `None` without a terminal.
    pub(crate) fn columns() -> Option<usize> {
        let size = tcgetwinsize(io::stdout())
            .or_else(|_| tcgetwinsize(io::stderr()))
            .ok()?;
        (size.ws_col > 0).then_some(usize::from(size.ws_col))
    }

    /// Discards input that was typed but not read, so that it does not answer a question before it is shown.
    pub(crate) fn discard_typed_ahead() {
        // Fails only if standard input is not a terminal; then there is nothing to discard.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }

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

    /// Returns when the reader of standard output is gone, without writing anything. Never returns if the system does
    /// not report it: for a file, and on systems that report it only with the next write.
    pub(crate) async fn output_closed() {
        let (tell, told) = oneshot::channel();
        // tokio cannot watch a blocking pipe, and its blocking flag is shared with other processes.
        let watching = thread::Builder::new()
            .name("output".to_owned())
            .stack_size(64 * 1024)
            .spawn(move || {
                if until_output_closes().is_ok() {
                    // The receiver may be gone.
                    let _ = tell.send(());
                }
            });
        if watching.is_err() || told.await.is_err() {
            future::pending().await
        }
    }

    fn until_output_closes() -> io::Result<()> {
        let mut poll = Poll::new()?;
        let output = io::stdout().as_raw_fd();
        // An output never becomes readable: the only event is the closing of the other end, which is always reported.
        poll.registry()
            .register(&mut SourceFd(&output), Token(0), Interest::READABLE)?;
        let mut events = Events::with_capacity(1);
        loop {
            match poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            let has_closed = |event: &Event| {
                event.is_error() || event.is_read_closed() || event.is_write_closed()
            };
            if events.iter().any(has_closed) {
                return Ok(());
            }
        }
    }
}

#[cfg(not(unix))]
mod other {
    use crate::cli::signals::Signal;

    /// Not available on this system.
    pub(crate) fn columns() -> Option<usize> {
        None
    }

    /// Does nothing on this system.
    pub(crate) fn discard_typed_ahead() {}

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

    /// Not reported on this system: the next write fails.
    pub(crate) async fn output_closed() {
        std::future::pending().await
    }
}
#[cfg(not(unix))]
pub(crate) use other::*;
