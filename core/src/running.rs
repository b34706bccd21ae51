//! Effects that are under way, for whoever drives a machine: their answers, how each of them is stopped, and who is heard first.

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

/// What becomes of an effect when it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// It is dropped at once, and counts as answered by [`Answer::Cancelled`]: a request, a question.
    Drop,
    /// It hears of it by its signal and ends by itself: a tool, a hook. Only abandoning drops it.
    Signal,
}

impl OnCancel {
    /// What becomes of this effect.
    #[must_use]
    pub fn of(effect: &Effect) -> Self {
        match effect {
            Effect::CallTool(_) | Effect::RunHook(_) => Self::Signal,
            _ => Self::Drop,
        }
    }
}

/// The effects of a session that a host performs, each a stream of answers of type `S`. As a stream it gives each answer
/// with the name of its effect; every effect comes to exactly one last answer, whatever its stream does.
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
    /// Starts an effect. `perform` is given the signal that fires when it is cancelled.
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

    /// Cancels an effect; it still comes to its last answer. Nothing happens where there is no such effect.
    pub fn cancel(&self, id: EffectId) {
        for control in self.controls.iter().filter(|control| control.id == id) {
            control.cancel.cancel();
        }
    }

    /// Drops an effect, of which nothing more is heard.
    pub fn abandon(&mut self, id: EffectId) {
        for control in self.controls.iter().filter(|control| control.id == id) {
            control.abandon.cancel();
        }
        self.controls.retain(|control| control.id != id);
    }

    /// Whether nothing is under way.
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

/// Who is heard first, where inputs and answers come to a driver: in turn, so that neither a stream that is always ready nor
/// somebody who never stops talking keeps the other from being heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Inputs.
    Inputs,
    /// Answers to effects.
    Answers,
}

impl Turn {
    /// Who is heard next.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Inputs => Self::Answers,
            Self::Answers => Self::Inputs,
        }
    }
}

/// How a running effect is stopped.
#[derive(Debug)]
struct Control {
    id: EffectId,
    /// Stop, and say so.
    cancel: CancelSignal,
    /// Be dropped; nobody listens any more.
    abandon: CancelSignal,
}

/// The answers of one effect.
#[derive(Debug)]
struct Guarded<S> {
    id: EffectId,
    answers: Pin<Box<S>>,
    /// Fires when it is cancelled, where it is dropped then.
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
            // A stream that ends without its last answer must not leave the machine waiting.
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
