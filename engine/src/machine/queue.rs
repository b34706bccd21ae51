//! The queue of prompts that were sent but not taken in by a turn yet.

use std::collections::{BTreeSet, VecDeque};

use windlass_core::{Prompt, Uuid};

use crate::protocol::{
    frames::{LocalCommand, QueuedPrompt},
    inbound::UserFrame,
};

/// A prompt in its original form.
#[derive(Debug)]
pub(super) enum Asked {
    /// A frame of the SDK.
    Line(UserFrame),
    /// A value of the embedding program.
    Program(Prompt),
}

impl Asked {
    /// The data needed while the prompt waits, under the id that it has in the session.
    pub(super) fn queued(&self, uuid: Uuid) -> QueuedPrompt {
        match self {
            Self::Line(frame) => QueuedPrompt::new(frame, uuid),
            Self::Program(_) => QueuedPrompt {
                uuid,
                given: None,
                origin: None,
            },
        }
    }

    /// The text that may begin with a command; `None` if the prompt is not plain text.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Line(frame) if frame.client_composed => None,
            Self::Line(frame) => frame.plain_text(),
            Self::Program(prompt) => prompt.plain_text(),
        }
    }

    /// The command to the engine that the prompt consists of. Embedding programs have methods for these.
    pub(super) fn local_command(&self) -> Option<LocalCommand> {
        match self {
            Self::Line(_) => LocalCommand::parse(&self.text()?),
            Self::Program(_) => None,
        }
    }

    /// The prompt for the session; `None` if its content is invalid.
    pub(super) fn to_prompt(&self, uuid: Uuid, is_answering: bool) -> Option<Prompt> {
        match self {
            Self::Line(frame) => frame.to_prompt(uuid, is_answering),
            Self::Program(prompt) => Some(prompt.clone().with_uuid(uuid)),
        }
    }
}

/// The prompts in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    /// The ids that senders gave to accepted prompts; a prompt with a known id is ignored as a duplicate.
    seen: BTreeSet<String>,
}

#[derive(Debug)]
enum Entry {
    /// It has not been sent to the session yet.
    Waiting(QueuedPrompt, Box<Asked>),
    /// The session has it, and no turn has taken it in.
    Sent(QueuedPrompt),
    /// An invalid line, in place of the prompt that it should have been.
    Unusable(String),
}

/// The next thing to do.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next<'q> {
    /// Send a prompt to the session.
    Prompt(&'q Asked, Uuid),
    /// Report an invalid line.
    Unusable(&'q str),
}

impl Queue {
    /// Whether an id is new. An empty id counts as none.
    pub(super) fn is_new(&mut self, given: Option<&str>) -> bool {
        match given.filter(|given| !given.is_empty()) {
            Some(given) => self.seen.insert(given.to_owned()),
            None => true,
        }
    }

    pub(super) fn push(&mut self, prompt: QueuedPrompt, asked: Asked) {
        self.entries
            .push_back(Entry::Waiting(prompt, Box::new(asked)));
    }

    pub(super) fn push_unusable(&mut self, problem: String) {
        self.entries.push_back(Entry::Unusable(problem));
    }

    /// The first entry that has not been sent to the session.
    pub(super) fn next(&self) -> Option<Next<'_>> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Waiting(prompt, asked) => Some(Next::Prompt(asked, prompt.uuid)),
            Entry::Unusable(problem) => Some(Next::Unusable(problem)),
            Entry::Sent(_) => None,
        })
    }

    /// Whether everything has been sent to the session.
    pub(super) fn nothing_waits(&self) -> bool {
        self.next().is_none()
    }

    /// Marks the first waiting entry as sent; removes it if it is an invalid line.
    pub(super) fn sent(&mut self) {
        let waits = |entry: &Entry| !matches!(entry, Entry::Sent(_));
        let at = self.entries.iter().position(waits);
        let first = at.and_then(|at| Some((at, self.entries.remove(at)?)));
        if let Some((at, Entry::Waiting(prompt, _))) = first {
            self.entries.insert(at, Entry::Sent(prompt));
        }
    }

    /// The number of prompts that no turn has taken in yet.
    pub(super) fn len(&self) -> usize {
        self.prompts().count()
    }

    /// Whether the session has a prompt that no turn has taken in.
    pub(super) fn any_sent(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| matches!(entry, Entry::Sent(_)))
    }

    /// Whether the session has this prompt, by its id there, and no turn has taken it in.
    pub(super) fn is_sent(&self, uuid: Uuid) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| matches!(entry, Entry::Sent(prompt) if prompt.uuid == uuid))
    }

    /// The first prompt that no turn has taken in.
    pub(super) fn first(&self) -> Option<&QueuedPrompt> {
        self.prompts().next()
    }

    /// Removes a prompt, by its id in the session.
    pub(super) fn take(&mut self, uuid: Uuid) -> Option<QueuedPrompt> {
        let at = (self.entries.iter())
            .position(|entry| entry.prompt().is_some_and(|prompt| prompt.uuid == uuid))?;
        self.entries.remove(at)?.into_prompt()
    }

    /// Removes the first prompt that the session has.
    pub(super) fn take_first_sent(&mut self) -> Option<QueuedPrompt> {
        let at = (self.entries.iter()).position(|entry| matches!(entry, Entry::Sent(_)))?;
        self.entries.remove(at)?.into_prompt()
    }

    /// Removes all entries that have not been sent to the session; the session still answers the others.
    pub(super) fn clear(&mut self) {
        self.entries.retain(|entry| matches!(entry, Entry::Sent(_)));
    }

    /// Removes all entries, when there is no session left that could answer them.
    pub(super) fn clear_all(&mut self) {
        self.entries.clear();
    }

    /// The prompts that no turn has taken in and that have an id given by the sender.
    pub(super) fn named(&self) -> impl Iterator<Item = (Uuid, &str)> {
        let named = |prompt: &'_ QueuedPrompt| prompt.given.is_some();
        let prompts = self.prompts().filter(move |prompt| named(prompt));
        prompts.filter_map(|prompt| Some((prompt.uuid, prompt.given.as_deref()?)))
    }

    fn prompts(&self) -> impl Iterator<Item = &QueuedPrompt> {
        self.entries.iter().filter_map(Entry::prompt)
    }
}

impl Entry {
    fn prompt(&self) -> Option<&QueuedPrompt> {
        match self {
            Self::Waiting(prompt, _) | Self::Sent(prompt) => Some(prompt),
            Self::Unusable(_) => None,
        }
    }

    fn into_prompt(self) -> Option<QueuedPrompt> {
        match self {
            Self::Waiting(prompt, _) | Self::Sent(prompt) => Some(prompt),
            Self::Unusable(_) => None,
        }
    }
}
