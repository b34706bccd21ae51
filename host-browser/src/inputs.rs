//! Inputs of the application to a running session.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    task::{Poll, Waker},
};

use futures_core::Stream;
use futures_util::stream;
use windlass_core::{Input, Message};

/// A queue of inputs for the driver. Only one driver reads it at a time.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    waiting: RefCell<VecDeque<Input>>,
    waker: RefCell<Option<Waker>>,
    /// The number of prompts without a result.
    open: Cell<u32>,
}

impl Inputs {
    pub(crate) fn push(&self, input: Input) {
        if matches!(input, Input::Prompt(_)) {
            self.open.set(self.open.get() + 1);
        }
        self.waiting.borrow_mut().push_back(input);
        self.wake();
    }

    /// Counts a prompt as answered when its result arrives.
    pub(crate) fn seen(&self, message: &Message) {
        if matches!(message, Message::Result(_)) {
            self.open.set(self.open.get().saturating_sub(1));
            self.wake();
        }
    }

    /// Clears everything after the session stopped half-way.
    pub(crate) fn clear(&self) {
        self.waiting.borrow_mut().clear();
        self.open.set(0);
    }

    /// Whether a prompt is being answered or is waiting.
    pub(crate) fn is_open(&self) -> bool {
        self.open.get() > 0
    }

    /// The inputs, until every prompt has its result.
    pub(crate) fn stream(self: Rc<Self>) -> impl Stream<Item = Input> {
        stream::poll_fn(move |cx| {
            if let Some(input) = self.waiting.borrow_mut().pop_front() {
                return Poll::Ready(Some(input));
            }
            if !self.is_open() {
                return Poll::Ready(None);
            }
            self.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
    }

    fn wake(&self) {
        let waiting = self.waker.take();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }
}
