//! Operating system functions that the standard library lacks.

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::{future, io, os::fd::AsRawFd as _, thread};

    use mio::{Events, Interest, Poll, Token, event::Event, unix::SourceFd};
    use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
    use tokio::sync::oneshot;

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
    /// Not available on this system.
    pub(crate) fn columns() -> Option<usize> {
        None
    }

    /// Does nothing on this system.
    pub(crate) fn discard_typed_ahead() {}

    /// Not reported on this system: the next write fails.
    pub(crate) async fn output_closed() {
        std::future::pending().await
    }
}
#[cfg(not(unix))]
pub(crate) use other::*;
