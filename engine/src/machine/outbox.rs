//! The output: lines and messages, in the order in which things happen.
//!
//! A reader takes what it was shown for kept: a message that belongs into the transcript is not given out before the entry of it
//! has been written (or has failed to be), and the messages after it wait as well, so that their order stays. Where the state of the
//! session is stored, so that another engine goes on from there, what comes after that state waits for it, too. Requests and replies
//! do not wait: what they are about must not be late because a disk is slow.

use std::collections::VecDeque;

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
    /// Each with whether it is a message, or what keeps its place among messages.
    outputs: VecDeque<(bool, Output)>,
    /// What the reader gets once entries have been written: each with the number of the write that it waits for.
    unwritten: VecDeque<(u64, Output)>,
    /// What has waited, and is taken before anything else.
    released: VecDeque<Output>,
    /// How many of `unwritten`, at the end, were sent since the last output was taken.
    latest: usize,
    /// The number of writes that were begun, and of those that have ended.
    writes: (u64, u64),
    /// The number of the latest write of the session's state.
    state_write: u64,
}

impl Outbox {
    pub(super) fn new(face: Face, frames: Frames, longest: Option<usize>) -> Self {
        Self {
            face,
            frames,
            queue: Queue::default(),
            longest,
            outputs: VecDeque::new(),
            unwritten: VecDeque::new(),
            released: VecDeque::new(),
            latest: 0,
            writes: (0, 0),
            state_write: 0,
        }
    }

    /// Sends what is not for the reader, or for nobody's transcript.
    pub(super) fn push(&mut self, output: Output) {
        if matches!(output, Output::Exit(_)) {
            self.write_no_more();
        }
        match output {
            Output::Opened(_) | Output::Fault(_) => self.send(output),
            output => self.outputs.push_back((false, output)),
        }
    }

    /// Sends a message, behind those that wait.
    fn send(&mut self, message: Output) {
        let state_write = (self.state_write > self.writes.1).then_some(self.state_write);
        let waits_for = self.unwritten.back().map(|(write, _)| *write);
        match waits_for.max(state_write) {
            Some(write) => {
                self.unwritten.push_back((write, message));
                self.latest += 1;
            }
            None => self.outputs.push_back((true, message)),
        }
    }

    /// Entries are being written. Messages that were sent since the last [`pop`](Self::pop) wait for it; writes end in the
    /// order in which they begin.
    pub(super) fn write_begun(&mut self) {
        self.writes.0 += 1;
        let write = self.writes.0;
        let latest = std::mem::take(&mut self.latest);
        for (waits_for, _) in self.unwritten.iter_mut().rev().take(latest) {
            *waits_for = write;
        }
        let outputs = std::mem::take(&mut self.outputs).into_iter();
        let (messages, others): (VecDeque<_>, _) = outputs.partition(|(is_message, _)| *is_message);
        self.outputs = others;
        let messages = messages.into_iter().map(|(_, message)| (write, message));
        self.unwritten.extend(messages);
    }

    /// The state of the session is being written; messages wait as for entries, and so do those that are sent until then.
    pub(super) fn state_write_begun(&mut self) {
        self.write_begun();
        self.state_write = self.writes.0;
    }

    /// The first write that was begun and has not ended has ended, with or without success.
    pub(super) fn write_ended(&mut self) {
        self.writes.1 = self.writes.0.min(self.writes.1 + 1);
        self.release();
    }

    /// No write that was begun will end: nothing waits any longer.
    pub(super) fn write_no_more(&mut self) {
        self.writes.1 = self.writes.0;
        self.release();
    }

    fn release(&mut self) {
        let ended = self.writes.1;
        let count = self.unwritten.partition_point(|(write, _)| *write <= ended);
        let released = self.unwritten.drain(..count).map(|(_, output)| output);
        self.released.extend(released);
        self.latest = self.latest.min(self.unwritten.len());
    }

    pub(super) fn pop(&mut self) -> Option<Output> {
        self.latest = 0;
        self.released
            .pop_front()
            .or_else(|| self.outputs.pop_front().map(|(_, output)| output))
    }

    /// The maximum length of a line in bytes; `None` for no limit.
    pub(super) fn longest(&self) -> Option<usize> {
        self.longest
    }

    /// Writes the frames that result from an event: messages.
    pub(super) fn say(&mut self, happened: impl FnOnce(&mut Frames) -> Vec<String>) {
        for line in happened(&mut self.frames) {
            if self.face.has_lines() {
                let line = self.fitted(line);
                self.send(Output::Line(line));
            }
        }
    }

    /// Writes a frame that does not change the state of [`Frames`].
    pub(super) fn frame(&mut self, frame: &(impl Serialize + ?Sized)) {
        if self.face.has_lines() {
            self.line(to_line(frame));
        }
    }

    /// Writes a line that is no message, unless the engine is embedded.
    pub(super) fn line(&mut self, line: String) {
        if self.face.has_lines() {
            let line = self.fitted(line);
            self.push(Output::Line(line));
        }
    }

    /// A line that the reader can take.
    fn fitted(&self, line: String) -> String {
        match self.longest {
            Some(longest) => fitted(line, longest),
            None => line,
        }
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
        match (self.face.has_lines(), message) {
            (false, message) => self.hand_on(message),
            (true, Message::User(user)) => self.user_message(user, facts),
            (true, message) => {
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
        self.send(Output::Message(message));
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
        match self.face.has_lines() {
            true => self.refuse(problem),
            false => self.push(Output::Fault(fault)),
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
