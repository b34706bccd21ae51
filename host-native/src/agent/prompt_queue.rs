//! The prompts of a session in their order, and who listens to the answer of each.
//!
//! One prompt at a time is in the engine; the others wait here. So it is always clear to whom a message
//! belongs, and an abort can never hit the prompt after the one it was meant for: the next prompt goes in
//! only after the last message of the one before was handed over.

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

use super::{MessageCallback, run::RunError};
use crate::random::fresh_uuid;

/// The signal that a run was aborted; shared by all that belongs to the run, and its identity.
pub(super) type AbortSignal = Arc<CancellationToken>;

/// Who listens to the answer to a prompt.
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
    /// Nothing will be answered any more, and nothing runs.
    over: CancellationToken,
}

#[derive(Default)]
struct State {
    current: Option<Listener>,
    /// Prompts that went into the engine beside the current one and are not part of its answer yet. If the
    /// answer ends without them, the session answers them next, to the same listener.
    steering: VecDeque<Uuid>,
    waiting: VecDeque<Waiting>,
    closed: Option<RunError>,
}

struct Waiting {
    prompt: Prompt,
    listener: Listener,
    /// Room among the prompts that a stream may be ahead; given back when the prompt is taken.
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
        // Nothing panics while the lock is held; if it did, the queue would still be a queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a prompt at the end; the first one goes into the engine at once.
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

    /// Hands a prompt in beside the one that is being answered; none is given back when there is none.
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
            // A live listener holds the inputs open; without one nobody is left to answer.
            if let Some(inputs) = self.inputs.upgrade()
                && inputs.send(Input::Prompt(waiting.prompt)).is_ok()
            {
                state.current = Some(waiting.listener);
                return;
            }
        }
    }

    /// Hands a message to whom it belongs. Waits while the listener is behind.
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
            // An error says that the run was dropped, and a dropped run is aborted.
            _ = listener.messages.send(message) => {}
        }
        if last {
            let mut state = self.state();
            // Who wanted to steer and came too late is answered now, in the same run.
            if state.steering.pop_front().is_none() {
                self.next(&mut state);
            }
        }
    }

    /// Stops what belongs to a run: its waiting prompts are forgotten, its running one is interrupted.
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
                    // The driver has ended: nothing is left to be taken back.
                    let _ = inputs.send(Input::Tell(SessionInput::Withdraw(uuid)));
                }
            }
            self.interrupt();
        }
    }

    /// Interrupts the prompt that is being answered, if one is.
    pub(super) fn interrupt(&self) {
        if let Some(inputs) = self.inputs.upgrade() {
            // The driver has ended: nothing is left to be interrupted.
            let _ = inputs.send(Input::Tell(SessionInput::Interrupt));
        }
    }

    /// Nothing will be answered any more; the first reason counts.
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

    /// Why nothing is answered any more.
    pub(super) fn closed(&self) -> Option<RunError> {
        self.state().closed.clone()
    }
}
