//! A program that has the engine in its own process: it speaks in values, and its host asks whoever is asked.

use windlass_core::{Input as SessionInput, Prompt};

use super::{Engine, Face, io::Output, pending::Prepare, queue::Asked};
use crate::protocol::initialize::Initialize;

impl Engine {
    /// The session is known that is spoken to. A program has said everything with what it starts the engine with: servers begin
    /// at once, not with the first prompt.
    pub(super) fn opened_for_program(&mut self) {
        if self.launch.face == Face::Program {
            self.outbox.push(Output::Opened(self.session_id));
            self.prepare(Initialize::default(), Prepare::Prompt);
        }
    }

    /// The program says something to the model.
    pub(super) fn asked_by_program(&mut self, prompt: Prompt) {
        let uuid = prompt.uuid.unwrap_or_else(|| self.ids.uuid());
        self.outbox.accept(Asked::Program(prompt), uuid);
    }

    /// The program tells its session something else.
    pub(super) fn told_by_program(&mut self, input: SessionInput) {
        match input {
            SessionInput::Prompt(prompt) => self.asked_by_program(prompt),
            SessionInput::SetModel(model) => self.choose_model(model),
            SessionInput::Withdraw(uuid) => {
                self.withdraw(uuid);
            }
            SessionInput::Interrupt => {
                // A prompt that has not reached the session goes first, so that it has a result to be interrupted with.
                self.pump();
                self.send(SessionInput::Interrupt);
            }
            input => self.tell_session(input),
        }
    }
}
