//! The output: lines and messages, in the order in which things happen.

use serde::Serialize;
use windlass_core::{Message, Uuid, message::UserMessage};

use super::{
    Face,
    io::{Fault, Output},
    queue::{Asked, Queue},
};
use crate::protocol::{
    frame_limit::fitted,
    frames::{Facts, Frames},
    line::to_line,
};

/// Collects all outputs of the engine.
#[derive(Debug)]
pub(super) struct Outbox {
    face: Face,
    pub(super) frames: Frames,
    pub(super) queue: Queue,
    /// The maximum length of a line in bytes, if the reader has a limit.
    longest: Option<usize>,
    outputs: std::collections::VecDeque<Output>,
}

impl Outbox {
    pub(super) fn new(face: Face, frames: Frames, longest: Option<usize>) -> Self {
        Self {
            face,
            frames,
            queue: Queue::default(),
            longest,
            outputs: std::collections::VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(super) fn pop(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The maximum length of a line in bytes; `None` for no limit.
    pub(super) fn longest(&self) -> Option<usize> {
        self.longest
    }

    /// Writes the frames that result from an event.
    pub(super) fn say(&mut self, happened: impl FnOnce(&mut Frames) -> Vec<String>) {
        for line in happened(&mut self.frames) {
            self.line(line);
        }
    }

    /// Writes a frame that does not change the state of [`Frames`].
    pub(super) fn frame(&mut self, frame: &(impl Serialize + ?Sized)) {
        if self.face == Face::Lines {
            self.line(to_line(frame));
        }
    }

    /// Writes a line, unless the engine is embedded.
    pub(super) fn line(&mut self, line: String) {
        if self.face == Face::Program {
            return;
        }
        let line = match self.longest {
            Some(longest) => fitted(line, longest),
            None => line,
        };
        self.outputs.push_back(Output::Line(line));
    }

    /// Accepts a prompt.
    pub(super) fn accept(&mut self, asked: Asked, uuid: Uuid) {
        let prompt = asked.queued(uuid);
        self.say(|frames| frames.accepted(&prompt));
        self.queue.push(prompt, asked);
    }

    /// Withdraws a prompt, if it is still waiting.
    pub(super) fn withdraw(&mut self, uuid: Uuid) {
        if let Some(prompt) = self.queue.take(uuid) {
            self.say(|frames| frames.withdrawn(&prompt));
        }
    }

    /// Sends a message of the session.
    pub(super) fn message(&mut self, message: Message, mut facts: Facts) {
        if matches!(message, Message::Result(_)) && self.frames.lacks_its_prompt() {
            let prompt = self.queue.take_first_sent();
            prompt.into_iter().for_each(|it| self.frames.answers(it));
        }
        match (self.face, message) {
            (Face::Program, message) => self.hand_on(message),
            (Face::Lines, Message::User(user)) => self.user_message(user, facts),
            (Face::Lines, message) => {
                facts.queued = self.queue.len();
                self.say(|frames| frames.message(message, facts));
            }
        }
    }

    /// Sends a message unchanged to an embedding program. The prompt that begins a turn is repeated only if requested, a
    /// prompt that enters later always.
    fn hand_on(&mut self, mut message: Message) {
        if let Message::User(user) = &mut message
            && user.parent_tool_use_id.is_none()
            && let Some(prompt) = self.queue.take(user.uuid)
        {
            let begins_turn = self.frames.lacks_its_prompt();
            self.frames.answers(prompt);
            user.is_replay = self.frames.repeats_prompts();
            if begins_turn && !user.is_replay {
                return;
            }
        }
        self.frames.follow(&message, self.queue.len());
        self.outputs.push_back(Output::Message(message));
    }

    fn user_message(&mut self, user: UserMessage, mut facts: Facts) {
        let prompt = match user.parent_tool_use_id {
            None => self.queue.take(user.uuid),
            Some(_) => None,
        };
        facts.queued = self.queue.len();
        match prompt {
            Some(prompt) => self.say(|frames| frames.taken_in(prompt, user)),
            None => self.say(|frames| frames.message(Message::User(user), facts)),
        }
    }

    /// Reports why there is no answer: as a result to a reader of lines, as a fault to an embedding program.
    pub(super) fn fail(&mut self, problem: &str, fault: Fault) {
        match self.face {
            Face::Lines => self.refuse(problem),
            Face::Program => self.push(Output::Fault(fault)),
        }
    }

    /// Writes an error result in place of an answer.
    pub(super) fn refuse(&mut self, problem: &str) {
        let queued = self.queue.len();
        self.say(|frames| frames.refusal(problem, queued));
    }

    /// Whether a prompt is being answered or is waiting; a background task alone does not count.
    pub(super) fn is_answering(&self) -> bool {
        self.frames.is_in_turn() || self.queue.first().is_some()
    }
}
