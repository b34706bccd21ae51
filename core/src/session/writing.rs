//! What of a thread is written down: the chain of its entries, and what the host is writing.

use alloc::{string::String, vec::Vec};

use serde::Serialize;

use super::Shared;
use crate::{
    effect::{Effect, Entry, EntryCompaction, EntryOrigin},
    history::Role,
    id::Uuid,
    json::RawJson,
    message::ApiMessage,
};

/// The transcript of a thread, as far as the thread knows of it.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// The last entry that is written, behind which the next one comes.
    last_entry: Option<Uuid>,
    /// The entries that the host is writing.
    saving: Vec<Entry>,
}

impl Writing {
    /// Goes on behind an entry; without one, at the beginning.
    pub(super) fn after(last_entry: Option<Uuid>) -> Self {
        Self::restored(last_entry, Vec::new())
    }

    /// The last entry that is written.
    pub(super) fn last_entry(&self) -> Option<Uuid> {
        self.last_entry
    }

    /// Makes entries of lines; the effect hands them to the host.
    pub(super) fn begin(
        &mut self,
        shared: &mut Shared,
        agent: Option<&String>,
        lines: Vec<Line>,
    ) -> Effect {
        let mut parent = self.last_entry;
        self.saving.clear();
        for line in lines {
            let uuid = line.uuid.unwrap_or_else(|| shared.ids.uuid());
            self.saving.push(Entry {
                uuid,
                parent: parent.replace(uuid),
                timestamp: shared.now.wall,
                message: line.encode(),
                tool_use_result: line.tool_use_result,
                origin: line.origin,
                agent: agent.cloned(),
                compaction: line.compaction,
            });
        }
        Effect::Persist(self.saving.clone())
    }

    /// Hands over once more what is being written, if anything is: writing the same entries twice must be the same as once.
    pub(super) fn again(&self) -> Option<Effect> {
        (!self.saving.is_empty()).then(|| Effect::Persist(self.saving.clone()))
    }

    /// Everything handed over so far is written.
    pub(super) fn written(&mut self) {
        if let Some(written) = core::mem::take(&mut self.saving).last() {
            self.last_entry = Some(written.uuid);
        }
    }

    /// What was handed over could not be written.
    pub(super) fn failed(&mut self) {
        self.saving.clear();
    }

    /// The next entry comes behind this one: what was written since becomes a branch that nothing follows.
    pub(super) fn go_back_to(&mut self, entry: Option<Uuid>) {
        self.last_entry = entry;
    }

    /// What snapshots keep, in this order.
    pub(super) fn state(&self) -> (Option<Uuid>, Vec<Entry>) {
        let Self { last_entry, saving } = self;
        (*last_entry, saving.clone())
    }

    /// The same again.
    pub(super) fn restored(last_entry: Option<Uuid>, saving: Vec<Entry>) -> Self {
        Self { last_entry, saving }
    }
}

/// A message on its way to the transcript.
pub(super) struct Line {
    message: LineMessage,
    uuid: Option<Uuid>,
    tool_use_result: Option<RawJson>,
    origin: EntryOrigin,
    compaction: Option<EntryCompaction>,
}

/// A message as it is written down.
#[derive(Serialize)]
#[serde(untagged)]
enum LineMessage {
    Plain { role: Role, content: Vec<RawJson> },
    Response(ApiMessage),
}

impl Line {
    pub(super) fn new(role: Role, content: Vec<RawJson>) -> Self {
        Self::of(LineMessage::Plain { role, content })
    }

    /// A response, whole.
    pub(super) fn response(message: ApiMessage) -> Self {
        Self::of(LineMessage::Response(message))
    }

    /// A word of the engine's own to the model.
    pub(super) fn synthetic(content: Vec<RawJson>) -> Self {
        Self {
            origin: EntryOrigin::Engine,
            ..Self::new(Role::User, content)
        }
    }

    /// News of background tasks.
    pub(super) fn news(content: Vec<RawJson>) -> Self {
        Self {
            origin: EntryOrigin::Task,
            ..Self::new(Role::User, content)
        }
    }

    /// The word that somebody interrupted the answer.
    pub(super) fn interruption(content: Vec<RawJson>) -> Self {
        Self {
            origin: EntryOrigin::Interruption,
            ..Self::new(Role::User, content)
        }
    }

    fn of(message: LineMessage) -> Self {
        Self {
            message,
            uuid: None,
            tool_use_result: None,
            origin: EntryOrigin::Conversation,
            compaction: None,
        }
    }

    /// The same with a tool's structured output.
    pub(super) fn with_output(mut self, output: Option<RawJson>) -> Self {
        self.tool_use_result = output;
        self
    }

    /// A summary, with which the conversation begins anew.
    pub(super) fn beginning_anew(mut self, compaction: EntryCompaction) -> Self {
        self.compaction = Some(compaction);
        self
    }

    /// The same under an id that is known already.
    pub(super) fn under(mut self, uuid: Uuid) -> Self {
        self.uuid = Some(uuid);
        self
    }

    fn encode(&self) -> RawJson {
        // Strings, numbers and raw JSON only: encoding cannot fail.
        RawJson::encode(&self.message).unwrap_or_else(|_| RawJson::null())
    }
}
