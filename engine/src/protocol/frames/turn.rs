//! The state of a turn until its result.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_core::{
    RawJson, Uuid,
    content::Block,
    message::{AssistantMessage, PermissionDenial},
};

use super::{Frames, measured::SubagentStats, stream::OpenStream};
use crate::protocol::inbound::UserFrame;

/// The names by which models call for agents.
const AGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// The data of a prompt that frames need.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedPrompt {
    /// The id of the prompt in the session.
    pub uuid: Uuid,
    /// The id given by the sender.
    pub given: Option<String>,
    /// The origin of the prompt.
    pub origin: Option<RawJson>,
}

impl QueuedPrompt {
    /// The data of a user message, under the id that it has in the session.
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
    /// Whether it has begun and has no result yet.
    pub(super) is_open: bool,
    /// The prompts it answers.
    pub(super) prompts: Vec<QueuedPrompt>,
    /// Whether it was started by the end of a background task and not by a prompt.
    pub(super) is_wake: bool,
    /// The number of user frames that the turn itself has produced so far.
    pub(super) user_frames: u32,
    /// Whether a response has been passed on.
    pub(super) has_answered: bool,
    /// The text of the message that stands for a response that never came.
    pub(super) api_error: Option<String>,
    /// The calls that were asked about when it was interrupted: nobody has allowed them.
    pub(super) undecided: Vec<PermissionDenial>,
    /// The tokens that its responses have written to the cache for an hour.
    pub(super) kept_an_hour: u64,
    /// Whether the prompt was the command to compact the conversation.
    pub(super) was_compacted: bool,
    /// The MCP tool calls that have no result yet.
    pub(super) mcp_calls: BTreeSet<String>,
    /// Whether it was interrupted while calls were open.
    pub(super) cut_in_calls: bool,
    pub(super) stream: OpenStream,
}

impl Turn {
    /// Notes what a response of the main thread has. Agents start no agents, so these are all that are asked for.
    pub(super) fn assistant(
        &mut self,
        assistant: &AssistantMessage,
        subagents: &mut SubagentStats,
    ) {
        for block in &assistant.message.content {
            match Block::from_raw(block.clone()) {
                Block::ToolUse(call) if call.name.starts_with("mcp__") => {
                    self.mcp_calls.insert(call.id);
                }
                Block::ToolUse(call) if AGENT_TOOLS.contains(&call.name.as_str()) => {
                    let input = call.input.as_ref().ok();
                    subagents.asked(call.id, input);
                }
                Block::Text { text, .. } if assistant.error.is_some() => {
                    self.api_error = Some(text)
                }
                _ => {}
            }
        }
    }

    /// Removes an answered call; returns whether it was a call of an MCP tool.
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
    /// A question about this call is withdrawn: if that is because of an interrupt, the call counts as denied.
    pub fn undecided(&mut self, call: PermissionDenial) {
        self.turn.undecided.push(call);
    }

    /// The lifecycle frame of a prompt, if its sender gave it an id.
    pub(super) fn lifecycle(&mut self, prompt: &QueuedPrompt, state: &str) -> Option<String> {
        let given = prompt.given.as_deref()?;
        let frame = json!({"type": "command_lifecycle", "command_uuid": given, "state": state});
        Some(self.stamped(frame))
    }
}
