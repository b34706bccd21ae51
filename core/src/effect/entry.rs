//! Lines of transcripts.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{
    id::{UnixMillis, Uuid},
    json::RawJson,
    message::CompactMetadata,
};

/// One line of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The message's id: of a response, a prompt or the result of a call that of the message that the application saw.
    pub uuid: Uuid,
    /// The entry before it.
    pub parent: Option<Uuid>,
    /// When it was made.
    pub timestamp: UnixMillis,
    /// The message in its Messages API form; a response whole, with its id, model, stop reason and usage.
    pub message: RawJson,
    /// The tool's structured output, where the message is the result of a call: an entry by itself for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "EntryOrigin::is_conversation")]
    pub origin: EntryOrigin,
    /// The subagent whose conversation it belongs to, by its id: a transcript of its own (`isSidechain`). None on the
    /// main thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The conversation begins anew with this message, a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction: Option<EntryCompaction>,
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryOrigin {
    /// A prompt, a response, the result of a call.
    #[default]
    Conversation,
    /// A word of the engine's own to the model: what hooks add, reminders.
    Engine,
    /// News of a background task.
    Task,
    /// The word that somebody interrupted the answer ([`InterruptedAnswer`](crate::context::InterruptedAnswer)).
    Interruption,
}

impl EntryOrigin {
    fn is_conversation(&self) -> bool {
        *self == Self::Conversation
    }
}

/// What a transcript must know of a compaction so that a session can be taken up behind it: its history is the summary and,
/// behind it, the last messages of what was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryCompaction {
    /// The id of the `compact_boundary` message.
    pub boundary: Uuid,
    /// What it says.
    pub metadata: CompactMetadata,
    /// How many messages before this entry stay; messages as the API counts them, several entries of one speaker in a
    /// row being one.
    pub kept_messages: u64,
}
