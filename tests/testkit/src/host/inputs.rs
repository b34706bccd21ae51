//! Scheduled inputs of a test host.

use alloc::{boxed::Box, collections::VecDeque, rc::Rc, vec::Vec};
use core::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use futures_util::stream;
use windlass_core::{effect::Input, id::Millis, message::Message};

use crate::clock::{Sleep, VirtualClock};

/// The condition on a message that triggers an input.
pub(super) type Fits = Box<dyn Fn(&Message) -> bool>;

/// Inputs to deliver immediately, at a point in time, or after a message.
pub(super) struct Inputs {
    clock: VirtualClock,
    due: VecDeque<Input>,
    timed: Vec<(Sleep, Input)>,
    awaiting: Vec<(Fits, Input)>,
    waker: Option<Waker>,
}

impl Inputs {
    pub(super) fn new(clock: VirtualClock) -> Self {
        Self {
            clock,
            due: VecDeque::new(),
            timed: Vec::new(),
            awaiting: Vec::new(),
            waker: None,
        }
    }

    pub(super) fn now(&mut self, inputs: impl IntoIterator<Item = Input>) {
        self.due.extend(inputs);
    }

    pub(super) fn at(&mut self, at: Millis, input: Input) {
        self.timed.push((self.clock.sleep_until(at), input));
    }

    pub(super) fn when(&mut self, fits: Fits, input: Input) {
        self.awaiting.push((fits, input));
    }

    /// Handles a message: the inputs that wait for it become due, in the order of scheduling.
    pub(super) fn seen(&mut self, message: &Message) {
        let mut still_awaiting = Vec::new();
        for (fits, input) in self.awaiting.drain(..) {
            if fits(message) {
                self.due.push_back(input);
            } else {
                still_awaiting.push((fits, input));
            }
        }
        self.awaiting = still_awaiting;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The next input; ends when all lists are empty.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Input>> {
        if let Some(input) = self.due.pop_front() {
            return Poll::Ready(Some(input));
        }
        for index in 0..self.timed.len() {
            if Pin::new(&mut self.timed[index].0).poll(cx).is_ready() {
                return Poll::Ready(Some(self.timed.remove(index).1));
            }
        }
        if self.timed.is_empty() && self.awaiting.is_empty() {
            return Poll::Ready(None);
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// The inputs as a stream for the session's driver.
pub(super) fn stream(inputs: Rc<RefCell<Inputs>>) -> impl Stream<Item = Input> {
    stream::unfold(inputs, |inputs| async move {
        let input = poll_fn(|cx| inputs.borrow_mut().poll_next(cx)).await?;
        Some((input, inputs))
    })
}
