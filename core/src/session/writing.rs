//! Writing the transcript of a thread: the chain of its entries, and those being written.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::Serialize;

use super::Shared;
use crate::{
    effect::{Effect, Entry, EntryCompaction, EntryOrigin},
    history::Role,
    id::Uuid,
    json::RawJson,
    message::ApiMessage,
};

/// The transcript of a thread, as far as the thread tracks it.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// The last written entry, which the next one follows.
    last_entry: Option<Uuid>,
    /// The entries that the host is writing.
    saving: Vec<Entry>,
}

impl Writing {
    /// Continues after an entry; without one, at the beginning.
    pub(super) fn after(last_entry: Option<Uuid>) -> Self {
        Self::restored(last_entry, Vec::new())
    }

    /// The last written entry.
    pub(super) fn last_entry(&self) -> Option<Uuid> {
        self.last_entry
    }

    /// Makes entries of lines, and the effect that sends them to the host.
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

    /// The effect that writes the pending entries again, if there are any. Writing the same entries twice must have the effect of
    /// writing them once.
    pub(super) fn again(&self) -> Option<Effect> {
        (!self.saving.is_empty()).then(|| Effect::Persist(self.saving.clone()))
    }

    /// All entries sent so far are written.
    pub(super) fn written(&mut self) {
        if let Some(written) = core::mem::take(&mut self.saving).last() {
            self.last_entry = Some(written.uuid);
        }
    }

    /// The pending entries could not be written.
    pub(super) fn failed(&mut self) {
        self.saving.clear();
    }

    /// The next entry follows this one: later entries become a branch that nothing continues.
    pub(super) fn go_back_to(&mut self, entry: Option<Uuid>) {
        self.last_entry = entry;
    }

    /// The state for snapshots, in this order.
    pub(super) fn state(&self) -> (Option<Uuid>, Vec<Entry>) {
        let Self { last_entry, saving } = self;
        (*last_entry, saving.clone())
    }

    /// Restores it from that state.
    pub(super) fn restored(last_entry: Option<Uuid>, saving: Vec<Entry>) -> Self {
        Self { last_entry, saving }
    }
}

/// A message to be written to the transcript.
pub(super) struct Line {
    message: LineMessage,
    uuid: Option<Uuid>,
    tool_use_result: Option<RawJson>,
    origin: EntryOrigin,
    compaction: Option<EntryCompaction>,
}

/// The content of a transcript line.
#[derive(Serialize)]
#[serde(untagged)]
enum LineMessage {
    Plain { role: Role, content: Vec<RawJson> },
    Response(Box<ApiMessage>),
}

impl Line {
    pub(super) fn new(role: Role, content: Vec<RawJson>) -> Self {
        Self::of(LineMessage::Plain { role, content })
    }

    /// A complete response.
    pub(super) fn response(message: ApiMessage) -> Self {
        Self::of(LineMessage::Response(Box::new(message)))
    }

    /// Text that the engine adds for the model.
    pub(super) fn synthetic(content: Vec<RawJson>) -> Self {
        Self {
            origin: EntryOrigin::Engine,
            ..Self::new(Role::User, content)
        }
    }

    /// A notification of background tasks.
    pub(super) fn task_notices(content: Vec<RawJson>) -> Self {
        Self {
            origin: EntryOrigin::Task,
            ..Self::new(Role::User, content)
        }
    }

    /// The note that the answer was interrupted.
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

    /// Adds a tool's structured output.
    pub(super) fn with_output(mut self, output: Option<RawJson>) -> Self {
        self.tool_use_result = output;
        self
    }

    /// Marks it as a summary with which the conversation restarts.
    pub(super) fn beginning_anew(mut self, compaction: EntryCompaction) -> Self {
        self.compaction = Some(compaction);
        self
    }

    /// Sets an id that is known already.
    pub(super) fn under(mut self, uuid: Uuid) -> Self {
        self.uuid = Some(uuid);
        self
    }

    fn encode(&self) -> RawJson {
        // Strings, numbers and raw JSON only: encoding cannot fail.
        RawJson::encode(&self.message).unwrap_or_else(|_| RawJson::null())
    }
}
