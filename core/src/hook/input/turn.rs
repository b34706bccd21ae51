//! What hooks are told of the way an answer takes: its calls, its failure, the prompt that it began with.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{hook::CompactionTrigger, json::RawJson, model::ErrorClass};

/// Fields of `PostToolBatch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostToolBatch {
    /// The calls, in the order of the response.
    pub tool_calls: Vec<BatchCall>,
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchCall {
    /// The tool.
    pub tool_name: String,
    /// The input that ran.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// What the model is about to read: a text, or content blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<RawJson>,
}

/// Fields of `PermissionDenied`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenied {
    /// The tool.
    pub tool_name: String,
    /// The input that does not run.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// Why, as the model reads it.
    pub reason: String,
}

/// Fields of `PostCompact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostCompact {
    /// Who wanted it.
    pub trigger: CompactionTrigger,
    /// What the model wrote of what was before.
    pub compact_summary: String,
}

/// Fields of `StopFailure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopFailure {
    /// What kind of failure.
    pub error: ErrorClass,
    /// The same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<String>,
    /// The text of the last response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
}

/// Fields of `UserPromptExpansion`: the command that a prompt was before it was expanded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPromptExpansion {
    /// What was expanded.
    pub expansion_type: ExpansionType,
    /// The command, without its slash.
    pub command_name: String,
    /// What stood behind it.
    pub command_args: String,
    /// Where the command comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_source: Option<String>,
    /// What was typed.
    pub prompt: String,
}

/// What becomes a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpansionType {
    /// A command or a skill.
    SlashCommand,
    /// A prompt of an MCP server.
    McpPrompt,
}
