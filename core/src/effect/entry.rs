//! Transcript entries.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{
    id::{UnixMillis, Uuid},
    json::RawJson,
    message::CompactMetadata,
};

/// One transcript entry (a line of the transcript).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The entry's id. For a response, a prompt or a tool result it is the id of the message that the application received.
    pub uuid: Uuid,
    /// The previous entry; none for the first.
    pub parent: Option<Uuid>,
    /// When the entry was created.
    pub timestamp: UnixMillis,
    /// The message in its Messages API form. A response is complete, with its id, model, stop reason and usage.
    pub message: RawJson,
    /// The tool's structured output, if the message is a tool result. Each tool result is an entry by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// Where the entry comes from.
    #[serde(default, skip_serializing_if = "EntryOrigin::is_conversation")]
    pub origin: EntryOrigin,
    /// The id of the subagent whose conversation the entry belongs to; such entries form a transcript of their own
    /// (`isSidechain`). None on the main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Set if the conversation starts again with this message, a compaction summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<EntryCompaction>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryOrigin {
    /// A prompt, a response or a tool result.
    #[default]
    Conversation,
    /// Text that the engine adds for the model: hook output, reminders.
    Engine,
    /// A notification about a background task.
    Task,
    /// The note that the answer was interrupted ([`InterruptedAnswer`](crate::context::InterruptedAnswer)).
    Interruption,
}

impl EntryOrigin {
    fn is_conversation(&self) -> bool {
        *self == Self::Conversation
    }
}

/// What a transcript records about a compaction so that a session can be resumed after it. The history then consists of the
/// summary, followed by the last messages from before the compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryCompaction {
    /// The id of the `compact_boundary` message.
    pub boundary: Uuid,
    /// The metadata in that message.
    pub metadata: CompactMetadata,
    /// How many of the messages before this entry are kept. Counted as the API counts messages: consecutive entries of the same
    /// role are one message.
    pub kept_messages: u64,
}
