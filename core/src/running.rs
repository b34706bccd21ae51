//! Running effects, for drivers of a state machine: their answers, how each of them is cancelled, and which source is polled
//! next.

use alloc::{boxed::Box, vec::Vec};
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{StreamExt, stream::SelectAll};

use crate::{
    effect::EffectId,
    effect::{Answer, Effect},
    host::{CancelSignal, Cancelled},
};

/// What happens to an effect when it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// It is dropped at once, and counts as answered by [`Answer::Cancelled`]: a model request, a permission request.
    Drop,
    /// It is notified through its signal and ends by itself: a tool, a hook. Only abandoning it drops it.
    Signal,
}

impl OnCancel {
    /// What happens to this effect when it is cancelled.
    #[must_use]
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::CallTool(_) | Effect::RunHook(_) => Self::Signal,
            _ => Self::Drop,
        }
    }
}

/// The running effects of a session, each a stream of answers of type `S`. As a stream it yields each answer with its effect id.
/// Every effect gets exactly one last answer, whatever its stream does.
#[derive(Debug)]
pub struct RunningEffects<S> {
    answers: SelectAll<Guarded<S>>,
    controls: Vec<Control>,
}

impl<S: Stream<Item = Answer>> Default for RunningEffects<S> {
    fn default() -> Self {
        Self {
            answers: SelectAll::new(),
            controls: Vec::new(),
        }
    }
}

impl<S: Stream<Item = Answer>> RunningEffects<S> {
    /// Starts an effect. `perform` receives the signal that fires when the effect is cancelled.
    pub fn start(
        &mut self,
        id: EffectId,
        on_cancel: OnCancel,
        perform: impl FnOnce(CancelSignal) -> S,
    ) {
        let control = Control {
            id,
            cancel: CancelSignal::new(),
            abandon: CancelSignal::new(),
        };
        let cancelled = match on_cancel {
            OnCancel::Drop => Some(control.cancel.cancelled()),
            OnCancel::Signal => None,
        };
        self.answers.push(Guarded {
            id,
            answers: Box::pin(perform(control.cancel.clone())),
            cancelled,
            abandoned: control.abandon.cancelled(),
            is_done: false,
        });
        self.controls.push(control);
    }

    /// Cancels an effect; it still gets its last answer. Does nothing if the effect is not running.
    pub fn cancel(&self, id: EffectId) {
        for control in self.controls.iter().filter(|control| control.id == id) {
            control.cancel.cancel();
        }
    }

    /// Drops an effect; it yields no more answers.
    pub fn abandon(&mut self, id: EffectId) {
        for control in self.controls.iter().filter(|control| control.id == id) {
            control.abandon.cancel();
        }
        self.controls.retain(|control| control.id != id);
    }

    /// Whether no effect is running.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

impl<S: Stream<Item = Answer>> Stream for RunningEffects<S> {
    type Item = (EffectId, Answer);

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let next = this.answers.poll_next_unpin(cx);
        if let Poll::Ready(Some((id, answer))) = &next
            && answer.is_last()
        {
            this.controls.retain(|control| control.id != *id);
        }
        next
    }
}

/// Which source a driver polls first, inputs or answers. They alternate, so that neither a stream that is always ready nor a
/// steady flow of inputs starves the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Inputs.
    Inputs,
    /// Answers to effects.
    Answers,
}

impl Turn {
    /// The other source, which is polled next.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Inputs => Self::Answers,
            Self::Answers => Self::Inputs,
        }
    }
}

/// Controls for stopping a running effect.
#[derive(Debug)]
struct Control {
    id: EffectId,
    /// Asks the effect to stop.
    cancel: CancelSignal,
    /// Drops the effect.
    abandon: CancelSignal,
}

/// The answers of one effect.
#[derive(Debug)]
struct Guarded<S> {
    id: EffectId,
    answers: Pin<Box<S>>,
    /// Fires when the effect is cancelled; only for effects that are dropped then.
    cancelled: Option<Cancelled>,
    abandoned: Cancelled,
    is_done: bool,
}

impl<S: Stream<Item = Answer>> Guarded<S> {
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        if self.is_done {
            return Poll::Ready(None);
        }
        if Pin::new(&mut self.abandoned).poll(cx).is_ready() {
            self.is_done = true;
            return Poll::Ready(None);
        }
        if let Some(cancelled) = &mut self.cancelled
            && Pin::new(cancelled).poll(cx).is_ready()
        {
            self.is_done = true;
            return Poll::Ready(Some(Answer::Cancelled));
        }
        match self.answers.as_mut().poll_next(cx) {
            Poll::Ready(Some(answer)) => {
                self.is_done = answer.is_last();
                Poll::Ready(Some(answer))
            }
            // A stream that ends without a last answer must not leave the session waiting.
            Poll::Ready(None) => {
                self.is_done = true;
                Poll::Ready(Some(Answer::Cancelled))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: Stream<Item = Answer>> Stream for Guarded<S> {
    type Item = (EffectId, Answer);

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let id = this.id;
        this.poll_answer(cx)
            .map(|next| next.map(|answer| (id, answer)))
    }
}
