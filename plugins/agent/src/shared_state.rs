//! The state that the driver of a session and the caller of the exported resource share.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::Poll,
};

use futures_core::Stream;
use futures_util::stream;
use windlass_core::{Input, Message, Prompt};

/// The state shared by the driver and the caller that requests messages.
#[derive(Debug, Default)]
pub(crate) struct SharedState {
    /// Messages that have not been requested yet.
    ready: RefCell<VecDeque<String>>,
    interrupt: Cell<bool>,
    /// Whether the result has been sent.
    over: Cell<bool>,
}

impl SharedState {
    /// Queues a message and yields to the caller that requests the next one.
    pub(crate) async fn say(&self, message: &Message) {
        self.ready.borrow_mut().push_back(message.to_line());
        if matches!(message, Message::Result(_)) {
            self.over.set(true);
        }
        let mut waited = false;
        poll_fn(|_| match waited {
            true => Poll::Ready(()),
            false => {
                waited = true;
                Poll::Pending
            }
        })
        .await;
    }

    /// The next message that has not been requested yet.
    pub(crate) fn next_message(&self) -> Option<String> {
        self.ready.borrow_mut().pop_front()
    }

    pub(crate) fn has_messages(&self) -> bool {
        !self.ready.borrow().is_empty()
    }

    /// Interrupts the session when the driver next asks for inputs.
    pub(crate) fn interrupt(&self) {
        self.interrupt.set(true);
    }

    /// The prompt, then interrupts, until the result has been sent.
    pub(crate) fn inputs(self: Rc<Self>, prompt: Prompt) -> impl Stream<Item = Input> {
        let mut prompt = Some(prompt);
        stream::poll_fn(move |_| {
            let next = prompt.take().map(Input::Prompt);
            let interrupt = || self.interrupt.take().then_some(Input::Interrupt);
            match next.or_else(interrupt) {
                Some(input) => Poll::Ready(Some(input)),
                None if self.over.get() => Poll::Ready(None),
                None => Poll::Pending,
            }
        })
    }
}
