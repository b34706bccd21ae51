//! An engine that is embedded in a program: prompts and messages are values, and the host performs permission questions and
//! hooks.

use windlass_core::{Input as SessionInput, Prompt};

use super::{Engine, io::Output, pending::PreparedFor, queue::Asked};
use crate::protocol::initialize::Initialize;

impl Engine {
    /// Announces the session id to the embedding program. All its configuration is known at the start, so MCP servers are
    /// started immediately and not with the first prompt.
    pub(super) fn opened_for_program(&mut self) {
        if !self.launch.face.has_lines() {
            self.outbox.push(Output::Opened(self.session_id));
            self.prepare(Initialize::default(), PreparedFor::Prompt);
        }
    }

    /// Handles a prompt of the program.
    pub(super) fn asked_by_program(&mut self, prompt: Prompt) {
        let uuid = prompt.uuid.unwrap_or_else(|| self.ids.uuid());
        self.outbox.accept(Asked::Program(prompt), uuid);
    }

    /// Connects anew to a server, as the program asks.
    pub(super) fn reconnect_by_program(&mut self, name: &str) {
        if !self.state.is_over() {
            self.connect(&None, name);
        }
    }

    /// Handles another input of the program to its session.
    pub(super) fn told_by_program(&mut self, input: SessionInput) {
        match input {
            SessionInput::Prompt(prompt) => self.asked_by_program(prompt),
            SessionInput::SetModel(model) => self.choose_model(model),
            SessionInput::Withdraw(uuid) => {
                self.withdraw(uuid);
            }
            SessionInput::Interrupt => {
                // A prompt that has not reached the session yet is sent first, so that it gets a result that reports the
                // interrupt.
                self.pump();
                self.send(SessionInput::Interrupt);
            }
            SessionInput::Resumed { .. } => self.go_on_with_turn(input),
            input => self.tell_session(input),
        }
    }
}
