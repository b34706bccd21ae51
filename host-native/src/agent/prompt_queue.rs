//! The queue of a session's prompts, each with the listener of its answer.
//!
//! Only one prompt at a time is in the engine; the others wait here. So it is always clear to which prompt a message
//! belongs, and an abort can never hit the next prompt: that one is sent only after the last message of the current
//! one was delivered.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{Sender, WeakUnboundedSender},
};
use tokio_util::sync::CancellationToken;
use windlass_core::{Input as SessionInput, Message, Prompt, Uuid, effect::Delivery};
use windlass_engine::machine::Input;

use super::{MessageCallback, run_error::RunError};
use crate::random::fresh_uuid;

/// The signal that a run was aborted. All parts of a run share it, and it identifies the run.
pub(super) type AbortSignal = Arc<CancellationToken>;

/// The receiver of the answer to a prompt.
#[derive(Clone)]
pub(super) struct Listener {
    pub(super) messages: Sender<Message>,
    pub(super) aborted: AbortSignal,
}

pub(super) struct PromptQueue {
    state: Mutex<State>,
    /// The engine's inputs. Weak: the queue must not keep the driver that feeds it alive.
    inputs: WeakUnboundedSender<Input>,
    on_message: Option<Arc<MessageCallback>>,
    /// Cancelled when nothing will be answered any more and the driver has ended.
    over: CancellationToken,
}

#[derive(Default)]
struct State {
    current: Option<Listener>,
    /// Prompts that were sent into the current answer and are not part of it yet. If the answer ends without them,
    /// the session answers them next, to the same listener.
    steering: VecDeque<Uuid>,
    waiting: VecDeque<Waiting>,
    closed: Option<RunError>,
}

struct Waiting {
    prompt: Prompt,
    listener: Listener,
    /// Permit that limits how far a stream is read ahead; released when the prompt is taken.
    _room: Option<OwnedSemaphorePermit>,
}

impl PromptQueue {
    pub(super) fn new(
        inputs: WeakUnboundedSender<Input>,
        on_message: Option<Arc<MessageCallback>>,
    ) -> Self {
        Self {
            state: Mutex::default(),
            inputs,
            on_message,
            over: CancellationToken::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; if something did, the queue would still be valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a prompt. If none is being answered, it is sent to the engine at once.
    pub(super) fn push(
        &self,
        prompt: Prompt,
        listener: Listener,
        room: Option<OwnedSemaphorePermit>,
    ) {
        let mut state = self.state();
        if state.closed.is_some() {
            return; // dropping the listener ends its run, which then asks why
        }
        state.waiting.push_back(Waiting {
            prompt,
            listener,
            _room: room,
        });
        if state.current.is_none() {
            self.next(&mut state);
        }
    }

    /// Sends a prompt into the current answer. Returns the prompt if nothing is being answered.
    pub(super) fn steer(&self, prompt: Prompt) -> Option<Prompt> {
        let mut state = self.state();
        let inputs = self.inputs.upgrade();
        let (Some(_), Some(inputs)) = (&state.current, inputs) else {
            return Some(prompt);
        };
        let uuid = prompt.uuid.unwrap_or_else(fresh_uuid);
        let prompt = prompt.delivered(Delivery::Steer).with_uuid(uuid);
        if inputs.send(Input::Prompt(prompt)).is_ok() {
            state.steering.push_back(uuid);
        }
        None
    }

    fn next(&self, state: &mut State) {
        state.current = None;
        state.steering.clear();
        while let Some(waiting) = state.waiting.pop_front() {
            if waiting.listener.aborted.is_cancelled() {
                continue;
            }
            // A live listener keeps the inputs open; without one, nobody waits for an answer.
            if let Some(inputs) = self.inputs.upgrade()
                && inputs.send(Input::Prompt(waiting.prompt)).is_ok()
            {
                state.current = Some(waiting.listener);
                return;
            }
        }
    }

    /// Delivers a message to the current listener. Waits while the listener is behind.
    pub(super) async fn deliver(&self, message: Message) {
        if let Some(look) = &self.on_message {
            look(&message);
        }
        let Some(listener) = self.state().current.clone() else {
            return; // between two answers nobody listens but the callback
        };
        let last = matches!(message, Message::Result(_));
        if let Message::User(user) = &message {
            self.state().steering.retain(|uuid| *uuid != user.uuid);
        }
        tokio::select! {
            biased;
            () = listener.aborted.cancelled() => {}
            // An error means that the run was dropped, which aborts it.
            _ = listener.messages.send(message) => {}
        }
        if last {
            let mut state = self.state();
            // A steering prompt that came too late is answered now, in the same run.
            if state.steering.pop_front().is_none() {
                self.next(&mut state);
            }
        }
    }

    /// Aborts a run: its waiting prompts are discarded, and its current one is interrupted.
    pub(super) fn abort(&self, run: &AbortSignal) {
        run.cancel();
        let mut state = self.state();
        state
            .waiting
            .retain(|waiting| !Arc::ptr_eq(&waiting.listener.aborted, run));
        let is_current = |current: &Listener| Arc::ptr_eq(&current.aborted, run);
        if state.current.as_ref().is_some_and(is_current) {
            let steering = std::mem::take(&mut state.steering);
            if let Some(inputs) = self.inputs.upgrade() {
                for uuid in steering {
                    // If the driver has ended, there is nothing to withdraw.
                    let _ = inputs.send(Input::Tell(SessionInput::Withdraw(uuid)));
                }
            }
            self.interrupt();
        }
    }

    /// Interrupts the current prompt, if there is one.
    pub(super) fn interrupt(&self) {
        if let Some(inputs) = self.inputs.upgrade() {
            // If the driver has ended, there is nothing to interrupt.
            let _ = inputs.send(Input::Tell(SessionInput::Interrupt));
        }
    }

    /// Ends the queue: nothing will be answered any more. Only the first reason is kept.
    pub(super) fn close(&self, reason: RunError) {
        let mut state = self.state();
        state.closed.get_or_insert(reason);
        state.waiting.clear();
        state.current = None;
        self.over.cancel();
    }

    /// Waits until the driver has ended.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Why the queue was closed, if it was.
    pub(super) fn closed(&self) -> Option<RunError> {
        self.state().closed.clone()
    }
}
