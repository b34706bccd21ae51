//! The prompts of a session in their order, and who listens to the answer of each.
//!
//! One prompt at a time is in the machine; the others wait here. So it is always clear to whom a message
//! belongs, and an abort can never hit the prompt after the one it was meant for: the next prompt goes in
//! only after the last message of the one before was handed over.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{Sender, UnboundedSender, WeakUnboundedSender},
};
use tokio_util::sync::CancellationToken;
use windlass_core::{Input, Message, Prompt, Uuid, effect::Delivery};

use super::{MessageCallback, commands::Commands, fresh_uuid, run::RunError};

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
    /// The machine's inputs. Weak: the queue must not keep the driver that feeds it alive.
    inputs: WeakUnboundedSender<Input>,
    on_message: Option<Arc<MessageCallback>>,
    /// What prompts may begin with, if any files of commands were read.
    commands: Option<Arc<Commands>>,
    /// Nothing will be answered any more, and nothing runs.
    over: CancellationToken,
}

#[derive(Default)]
struct State {
    current: Option<Listener>,
    /// Prompts that went into the machine beside the current one and are not part of its answer yet. If the
    /// answer ends without them, the machine answers them next, to the same listener.
    steering: VecDeque<Uuid>,
    waiting: VecDeque<Waiting>,
    closed: Option<RunError>,
    /// The model that was chosen last; none for the agent's own.
    chosen_model: Option<String>,
    /// The model is that of a command, for one answer.
    has_commands_model: bool,
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
        commands: Option<Arc<Commands>>,
    ) -> Self {
        Self {
            state: Mutex::default(),
            inputs,
            on_message,
            commands,
            over: CancellationToken::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; if it did, the queue would still be a queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a prompt at the end; the first one goes into the machine at once.
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

    /// Changes the model, from the next request on.
    pub(super) fn set_model(&self, model: Option<String>) {
        let mut state = self.state();
        state.chosen_model.clone_from(&model);
        state.has_commands_model = false;
        if let Some(inputs) = self.inputs.upgrade() {
            // The driver has ended: nothing is asked any more.
            let _ = inputs.send(Input::SetModel(model));
        }
    }

    /// Hands a prompt to the machine, as what it stands for. Only for an answer of its own a command chooses the model.
    fn send(
        &self,
        state: &mut State,
        inputs: &UnboundedSender<Input>,
        prompt: Prompt,
        has_own_answer: bool,
    ) -> bool {
        if has_own_answer && std::mem::take(&mut state.has_commands_model) {
            // What fails is seen when the prompt is sent.
            let _ = inputs.send(Input::SetModel(state.chosen_model.clone()));
        }
        let Some(commands) = &self.commands else {
            return inputs.send(Input::Prompt(prompt)).is_ok();
        };
        let expanded = commands.expand(prompt);
        if let (Some(model), true) = (expanded.model, has_own_answer) {
            let _ = inputs.send(Input::SetModel(Some(model)));
            state.has_commands_model = true;
        }
        if let Some(allows) = expanded.allows {
            let _ = inputs.send(allows);
        }
        inputs.send(Input::Prompt(expanded.prompt)).is_ok()
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
        if self.send(&mut state, &inputs, prompt, false) {
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
                && self.send(state, &inputs, waiting.prompt, true)
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
                    let _ = inputs.send(Input::Withdraw(uuid));
                }
            }
            self.interrupt();
        }
    }

    /// Interrupts the prompt that is being answered, if one is.
    pub(super) fn interrupt(&self) {
        if let Some(inputs) = self.inputs.upgrade() {
            // The driver has ended: nothing is left to be interrupted.
            let _ = inputs.send(Input::Interrupt);
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
