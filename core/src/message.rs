//! The messages an application sees (Agent SDK reference, "Message Types"), one JSON object a line when encoded.
//!
//! Field order is fixed by the types, so equal messages are equal bytes on every platform.

use alloc::{borrow::ToOwned, boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    id::{SessionId, Uuid},
    json::{self, RawJson, RawObject},
    money::Usd,
    permission::Mode,
    provider::{StopReason, Usage},
};

/// A message of the stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// About the session itself.
    System(SystemMessage),
    /// A model response.
    Assistant(AssistantMessage),
    /// A tool result, or input that entered the conversation.
    User(UserMessage),
    /// A raw event of the model's stream; only with partial messages on.
    StreamEvent(StreamEvent),
    /// A long tool call says that it is alive.
    ToolProgress(ToolProgress),
    /// The end of the answer to a prompt; the last message of it.
    Result(ResultMessage),
}

impl Message {
    /// The message as one line of JSON, without the line end.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Every field is a string, a number, raw JSON or a map with string keys: encoding cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, raw) = json::tagged(deserializer, "type")?;
        match kind.as_str() {
            "system" => raw.decode().map(Self::System),
            "assistant" => raw.decode().map(Self::Assistant),
            "user" => raw.decode().map(Self::User),
            "stream_event" => raw.decode().map(Self::StreamEvent),
            "tool_progress" => raw.decode().map(Self::ToolProgress),
            "result" => raw.decode().map(Self::Result),
            other => return Err(de::Error::custom(format!("no message is of type {other}"))),
        }
        .map_err(de::Error::custom)
    }
}

/// `type: "system"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemMessage {
    /// First in the answer to every prompt.
    Init(Box<Init>),
    /// A model call failed and is asked again.
    ApiRetry(ApiRetry),
}

/// What holds for the session at this prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The working directory.
    pub cwd: String,
    /// The session.
    pub session_id: SessionId,
    /// The tools offered, by name.
    pub tools: Vec<String>,
    /// MCP servers with their status.
    pub mcp_servers: Vec<McpServer>,
    /// The model in use.
    pub model: String,
    /// The permission mode in force.
    #[serde(rename = "permissionMode")]
    pub permission_mode: Mode,
    /// Slash commands, by name.
    pub slash_commands: Vec<String>,
    /// Where the API key comes from.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    /// The version of the engine.
    pub claude_code_version: String,
    /// The output style.
    pub output_style: String,
    /// Agents, by name.
    pub agents: Vec<String>,
    /// Skills, by name.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
    /// Betas in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub betas: Vec<String>,
    /// This message.
    pub uuid: Uuid,
}

/// An MCP server in [`Init`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Its name in the configuration.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
}

/// A plugin in [`Init`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Where it was loaded from.
    pub path: String,
}

/// A failed model call is asked again after a delay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiRetry {
    /// The retry that is announced, counted from 1.
    pub attempt: u32,
    /// How many retries there are.
    pub max_retries: u32,
    /// Milliseconds until it is asked.
    pub retry_delay_ms: u64,
    /// The HTTP status; null when there was none.
    pub error_status: Option<u16>,
    /// The class of the error.
    pub error: ErrorClass,
    /// What happened.
    pub message: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// `type: "assistant"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The response in Messages API form.
    pub message: ApiMessage,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// Set when this stands for a failed response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A response of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiMessage {
    /// The provider's id of the response.
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `assistant`.
    pub role: String,
    /// The model that answered.
    pub model: String,
    /// Content blocks, unknown kinds untouched.
    pub content: Vec<RawJson>,
    /// Why it stopped.
    pub stop_reason: Option<StopReason>,
    /// The stop sequence, when that was the reason.
    pub stop_sequence: Option<String>,
    /// Tokens.
    pub usage: Usage,
}

/// Classes of API errors (Agent SDK reference, `SDKAssistantMessageError`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// No key, a wrong key, no permission (401, 403).
    AuthenticationFailed,
    /// The account cannot pay (402).
    BillingError,
    /// Too many requests (429).
    RateLimit,
    /// The request is wrong: another try changes nothing (400, 404, 413 …).
    InvalidRequest,
    /// The server failed or is overloaded (5xx, 529).
    ServerError,
    /// Anything else.
    Unknown,
}

/// `type: "user"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The message in Messages API form.
    pub message: UserContent,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// The tool's structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// Written by the engine, not by a person.
    #[serde(
        rename = "isSynthetic",
        default,
        skip_serializing_if = "core::ops::Not::not"
    )]
    pub is_synthetic: bool,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// Role and blocks of a user message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserContent {
    /// Always `user`.
    pub role: String,
    /// Content blocks.
    pub content: Vec<RawJson>,
}

impl UserContent {
    /// A user message of these blocks.
    #[must_use]
    pub fn new(content: Vec<RawJson>) -> Self {
        Self {
            role: "user".to_owned(),
            content,
        }
    }
}

/// `type: "stream_event"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEvent {
    /// The event as it came over the wire.
    pub event: RawJson,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// `type: "tool_progress"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolProgress {
    /// The call.
    pub tool_use_id: String,
    /// The tool.
    pub tool_name: String,
    /// The Task call this belongs to; null on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// Whole seconds since the call began.
    pub elapsed_time_seconds: u64,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

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
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// Calls that were not allowed to run.
    pub permission_denials: Vec<PermissionDenial>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
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

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.to_raw()
    }
}
