//! The end of the answer to a prompt.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    id::{SessionId, Uuid},
    json::RawJson,
    model::{StopReason, Usage},
    money::Usd,
    sorted::SortedMap,
};

/// `type: "result"` (Agent SDK reference, `SDKResultMessage`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultMessage {
    /// How it ended.
    pub subtype: ResultSubtype,
    /// Whether that is an error.
    pub is_error: bool,
    /// From the prompt to this message.
    pub duration_ms: u64,
    /// The part of it spent waiting for the model.
    pub duration_api_ms: u64,
    /// Model responses, the text-only one included.
    pub num_turns: u32,
    /// The final text; only on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The answer as a value, where a form was asked for; only on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<RawJson>,
    /// What went wrong; only on an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    /// Why the last response stopped.
    pub stop_reason: Option<StopReason>,
    /// What the session has cost so far.
    pub total_cost_usd: Usd,
    /// Tokens of this prompt.
    pub usage: Usage,
    /// Tokens and cost of the session so far, per model.
    #[serde(rename = "modelUsage")]
    pub model_usage: SortedMap<String, ModelUsage>,
    /// Calls that were not allowed to run.
    pub permission_denials: Vec<PermissionDenial>,
    /// The call that a hook left to whoever started the run; it did not run (Agent SDK reference, `SDKDeferredToolUse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A call that was left to whoever started the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredToolUse {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The input as the model gave it.
    pub input: RawJson,
}

/// How the answer to a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultSubtype {
    /// The model was done.
    Success,
    /// The limit of tool rounds was reached.
    ErrorMaxTurns,
    /// The budget was used up.
    ErrorMaxBudgetUsd,
    /// No answer fitted the schema that was asked for.
    ErrorMaxStructuredOutputRetries,
    /// The model could not be asked, or the run was interrupted.
    ErrorDuringExecution,
}

/// Tokens and cost per model (Agent SDK reference, `ModelUsage`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Searches the provider made.
    pub web_search_requests: u64,
    /// What they cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: Usd,
    /// Tokens the model can take in; 0 when unknown.
    pub context_window: u64,
    /// Tokens the model can give out; 0 when unknown.
    pub max_output_tokens: u64,
}

impl ModelUsage {
    /// Adds the counts of a response; its cost is added apart.
    pub(crate) fn add(&mut self, usage: &Usage) {
        let sum = |slot: &mut u64, more: u64| *slot = slot.saturating_add(more);
        sum(&mut self.input_tokens, usage.input_tokens);
        sum(&mut self.output_tokens, usage.output_tokens);
        sum(
            &mut self.cache_read_input_tokens,
            usage.cache_read_input_tokens,
        );
        sum(
            &mut self.cache_creation_input_tokens,
            usage.cache_creation_input_tokens,
        );
        sum(
            &mut self.web_search_requests,
            usage.server_tool_use.web_search_requests,
        );
    }
}

/// A call that was not allowed to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// Its input.
    pub tool_input: RawJson,
}
