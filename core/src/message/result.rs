//! The end of the answer to a prompt.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    id::{SessionId, Uuid},
    json::RawJson,
    model::{StopReason, Usage},
    model_usage::ModelUsage,
    money::Usd,
    sorted::SortedMap,
};

/// `type: "result"` (Agent SDK reference, `SDKResultMessage`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultMessage {
    /// How the answer ended.
    pub subtype: ResultSubtype,
    /// Whether it ended with an error.
    pub is_error: bool,
    /// Milliseconds from the prompt to this message.
    pub duration_ms: u64,
    /// Milliseconds of that spent waiting for the model.
    pub duration_api_ms: u64,
    /// Model responses, the text-only one included.
    pub num_turns: u32,
    /// The final text; only on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The structured output, if a format was asked for; only on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<RawJson>,
    /// What went wrong; only on an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    /// Why the last response stopped.
    pub stop_reason: Option<StopReason>,
    /// What the session has cost so far.
    pub total_cost_usd: Usd,
    /// Token counts of this prompt.
    pub usage: Usage,
    /// Token counts and cost of the session so far, per model.
    #[serde(rename = "modelUsage")]
    pub model_usage: SortedMap<String, ModelUsage>,
    /// Tool calls that were denied.
    pub permission_denials: Vec<PermissionDenial>,
    /// The call that a hook deferred to whoever started the run; it did not run (Agent SDK reference, `SDKDeferredToolUse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A call that a hook deferred to whoever started the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredToolUse {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The input as the model sent it.
    pub input: RawJson,
}

/// How the answer to a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultSubtype {
    /// The model completed its answer.
    Success,
    /// The limit of tool rounds was reached.
    ErrorMaxTurns,
    /// The budget was used up.
    ErrorMaxBudgetUsd,
    /// No answer matched the schema that was asked for.
    ErrorMaxStructuredOutputRetries,
    /// The model call failed, or the run was interrupted.
    ErrorDuringExecution,
}

/// A tool call that was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// Its input.
    pub tool_input: RawJson,
}
