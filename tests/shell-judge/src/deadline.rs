//! Ends what does not end by itself.

use std::{
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Longer than any line takes that ends.
const LONGEST: Duration = Duration::from_secs(4);

/// Does something unless it is dropped before the time is over.
#[derive(Debug)]
pub(crate) struct Deadline {
    ended: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Deadline {
    pub(crate) fn new(over: impl FnOnce() + Send + 'static) -> Self {
        let (ended, end) = channel();
        let thread = thread::spawn(move || {
            if end.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                over();
            }
        });
        Self {
            ended: Some(ended),
            thread: Some(thread),
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        drop(self.ended.take());
        if let Some(thread) = self.thread.take() {
            // What it was to end has ended, one way or the other.
            let _ = thread.join();
        }
    }
}
