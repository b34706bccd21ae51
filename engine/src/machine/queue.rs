//! Prompts that were sent and that no turn has taken in yet: the one list of them.

use std::collections::{BTreeSet, VecDeque};

use windlass_core::{Prompt, Uuid};

use crate::protocol::{
    frames::{LocalCommand, QueuedPrompt},
    inbound::UserFrame,
};

/// A prompt as it came.
#[derive(Debug)]
pub(super) enum Asked {
    /// In a line.
    Line(UserFrame),
    /// By the program that the host is part of.
    Program(Prompt),
}

impl Asked {
    /// What is to be known of it while it waits, under the id that it has in the session.
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

    /// The text that may begin with a command, where it is one.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Line(frame) if frame.client_composed => None,
            Self::Line(frame) => frame.plain_text(),
            Self::Program(prompt) => prompt.plain_text(),
        }
    }

    /// The command to the engine that it is. Programs have methods for those.
    pub(super) fn local_command(&self) -> Option<LocalCommand> {
        match self {
            Self::Line(_) => LocalCommand::parse(&self.text()?),
            Self::Program(_) => None,
        }
    }

    /// The prompt for the session; none where it cannot be read.
    pub(super) fn to_prompt(&self, uuid: Uuid, is_answering: bool) -> Option<Prompt> {
        match self {
            Self::Line(frame) => frame.to_prompt(uuid, is_answering),
            Self::Program(prompt) => Some(prompt.clone().with_uuid(uuid)),
        }
    }
}

/// The prompts that were sent, in their order.
#[derive(Debug, Default)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    /// The ids that senders gave to prompts that were taken: one that comes again is passed over.
    seen: BTreeSet<String>,
}

#[derive(Debug)]
enum Entry {
    /// It has not gone to the session yet.
    Waiting(QueuedPrompt, Box<Asked>),
    /// The session has it, and no turn has taken it in.
    Sent(QueuedPrompt),
    /// A line that cannot be used, in the place of the prompt that it should have been.
    Unusable(String),
}

/// What is to be done next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next<'q> {
    /// A prompt is to go to the session.
    Prompt(&'q Asked, Uuid),
    /// Somebody is to be told that a line cannot be used.
    Unusable(&'q str),
}

impl Queue {
    /// Whether this id is new. An empty one is none.
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

    /// The first that has not gone to the session.
    pub(super) fn next(&self) -> Option<Next<'_>> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Waiting(prompt, asked) => Some(Next::Prompt(asked, prompt.uuid)),
            Entry::Unusable(problem) => Some(Next::Unusable(problem)),
            Entry::Sent(_) => None,
        })
    }

    /// Whether nothing is left that has not gone to the session.
    pub(super) fn nothing_waits(&self) -> bool {
        self.next().is_none()
    }

    /// The first that waits is in the session now, or was a line that cannot be used and is done with.
    pub(super) fn sent(&mut self) {
        let waits = |entry: &Entry| !matches!(entry, Entry::Sent(_));
        let at = self.entries.iter().position(waits);
        let first = at.and_then(|at| Some((at, self.entries.remove(at)?)));
        if let Some((at, Entry::Waiting(prompt, _))) = first {
            self.entries.insert(at, Entry::Sent(prompt));
        }
    }

    /// How many prompts no turn has taken in yet.
    pub(super) fn len(&self) -> usize {
        self.prompts().count()
    }

    /// Whether the session has a prompt that no turn has taken in.
    pub(super) fn any_sent(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| matches!(entry, Entry::Sent(_)))
    }

    /// Whether the session has a prompt that no turn has taken in, by its id there.
    pub(super) fn is_sent(&self, uuid: Uuid) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| matches!(entry, Entry::Sent(prompt) if prompt.uuid == uuid))
    }

    /// The first that no turn has taken in.
    pub(super) fn first(&self) -> Option<&QueuedPrompt> {
        self.prompts().next()
    }

    /// Takes out a prompt, by its id in the session.
    pub(super) fn take(&mut self, uuid: Uuid) -> Option<QueuedPrompt> {
        let at = (self.entries.iter())
            .position(|entry| entry.prompt().is_some_and(|prompt| prompt.uuid == uuid))?;
        self.entries.remove(at)?.into_prompt()
    }

    /// Takes out the first that the session has.
    pub(super) fn take_first_sent(&mut self) -> Option<QueuedPrompt> {
        let at = (self.entries.iter()).position(|entry| matches!(entry, Entry::Sent(_)))?;
        self.entries.remove(at)?.into_prompt()
    }

    /// Forgets what has not gone to the session. Those that have are the session's to answer.
    pub(super) fn clear(&mut self) {
        self.entries.retain(|entry| matches!(entry, Entry::Sent(_)));
    }

    /// Forgets everything: there is no session any more that could answer.
    pub(super) fn clear_all(&mut self) {
        self.entries.clear();
    }

    /// Prompts that no turn has taken in yet and that their senders have named.
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
