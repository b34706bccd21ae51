//! What must be remembered of a turn until its result.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_core::{RawJson, Uuid, content::Block, message::AssistantMessage};

use super::{Frames, stream::OpenStream};
use crate::protocol::inbound::UserFrame;

/// A prompt as frames name it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedPrompt {
    /// Its id in the session.
    pub uuid: Uuid,
    /// The id that its sender gave it.
    pub given: Option<String>,
    /// Who wrote it.
    pub origin: Option<RawJson>,
}

impl QueuedPrompt {
    /// What is to be known of a user message, under the id that it has in the session.
    #[must_use]
    pub fn new(frame: &UserFrame, uuid: Uuid) -> Self {
        Self {
            uuid,
            given: frame.uuid.clone().filter(|given| !given.is_empty()),
            origin: frame.human_origin(),
        }
    }
}

/// A turn, from its `init` to its result.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// It has begun and has no result.
    pub(super) is_open: bool,
    /// The prompts it answers.
    pub(super) prompts: Vec<QueuedPrompt>,
    /// Nobody asked for it: the end of a background task did.
    pub(super) is_wake: bool,
    /// User frames so far that the turn itself made.
    pub(super) user_frames: u32,
    /// Whether a response was handed on.
    pub(super) has_answered: bool,
    /// What the message said that stands for a response that never came.
    pub(super) api_error: Option<String>,
    /// The prompt was the command to compact the conversation.
    pub(super) was_compacted: bool,
    /// Calls of MCP tools without a result.
    pub(super) mcp_calls: BTreeSet<String>,
    /// An interrupt met it while calls were open.
    pub(super) cut_in_calls: bool,
    pub(super) stream: OpenStream,
}

impl Turn {
    pub(super) fn assistant(&mut self, assistant: &AssistantMessage) {
        for block in &assistant.message.content {
            match Block::from_raw(block.clone()) {
                Block::ToolUse(call) if call.name.starts_with("mcp__") => {
                    self.mcp_calls.insert(call.id);
                }
                Block::Text { text, .. } if assistant.error.is_some() => {
                    self.api_error = Some(text)
                }
                _ => {}
            }
        }
    }

    /// Whether the call was one of an MCP tool.
    pub(super) fn answered(&mut self, call: &str) -> bool {
        self.mcp_calls.remove(call)
    }

    /// The ids that senders gave its prompts.
    pub(super) fn given_uuids(&self) -> Vec<String> {
        self.prompts
            .iter()
            .filter_map(|prompt| prompt.given.clone())
            .collect()
    }
}

impl Frames {
    /// What the lifecycle of a prompt has come to, for a sender that gave it an id.
    pub(super) fn lifecycle(&mut self, prompt: &QueuedPrompt, state: &str) -> Option<String> {
        let given = prompt.given.as_deref()?;
        let frame = json!({"type": "command_lifecycle", "command_uuid": given, "state": state});
        Some(self.stamped(frame))
    }
}
