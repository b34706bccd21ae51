//! Hook events during an answer: tool calls, failures, prompts.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{hook::CompactionTrigger, json::RawJson, model::ErrorClass};

/// Fields of `PostToolBatch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostToolBatch {
    /// The calls, in the order of the response.
    pub tool_calls: Vec<BatchCall>,
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchCall {
    /// The tool.
    pub tool_name: String,
    /// The input with which it ran.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// The content for the model: a text, or content blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_response: Option<RawJson>,
}

/// Fields of `PermissionDenied`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenied {
    /// The tool.
    pub tool_name: String,
    /// The input of the denied call.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// The reason, as the model receives it.
    pub reason: String,
}

/// Fields of `PostCompact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostCompact {
    /// What triggered the compaction.
    pub trigger: CompactionTrigger,
    /// The summary that the model wrote.
    pub compact_summary: String,
}

/// Fields of `StopFailure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopFailure {
    /// The class of the error.
    pub error: ErrorClass,
    /// The error message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<String>,
    /// The text of the last response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
}

/// Fields of `UserPromptExpansion`: the command that was expanded to the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPromptExpansion {
    /// The kind of command.
    pub expansion_type: ExpansionType,
    /// The command, without the slash.
    pub command_name: String,
    /// Its arguments.
    pub command_args: String,
    /// Where the command comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_source: Option<String>,
    /// The text as typed.
    pub prompt: String,
}

/// What was expanded to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpansionType {
    /// A command or a skill.
    SlashCommand,
    /// A prompt of an MCP server.
    McpPrompt,
}
