//! Messages about the session itself.

use alloc::{boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    HookProgress, HookResponse, HookStarted,
    task::{TaskNotification, TaskProgress, TaskStarted},
};
use crate::{
    environment::{McpServer, PluginInfo},
    hook::CompactionTrigger,
    id::{SessionId, Uuid},
    model::ErrorClass,
    permission::Mode,
};

/// `type: "system"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemMessage {
    /// The first message of the answer to every prompt.
    Init(Box<Init>),
    /// A model call failed and will be retried.
    ApiRetry(ApiRetry),
    /// Model calls failed; the fallback model takes over for the rest of the answer.
    ModelFallback(ModelFallback),
    /// The session's current activity, or a change of its permission mode.
    Status(Status),
    /// The beginning of the conversation was replaced by a summary.
    CompactBoundary(CompactBoundary),
    /// Files were stored.
    FilesPersisted(FilesPersisted),
    /// A background task started.
    TaskStarted(TaskStarted),
    /// Progress of a background task.
    TaskProgress(TaskProgress),
    /// A background task ended.
    TaskNotification(TaskNotification),
    /// A hook started.
    HookStarted(HookStarted),
    /// A hook wrote output.
    HookProgress(HookProgress),
    /// A hook finished.
    HookResponse(HookResponse),
    /// A notice for the user that is not part of the conversation.
    Informational(Informational),
    /// A call was denied without asking anybody.
    PermissionDenied(PermissionDenied),
}

/// The session's configuration at this prompt.
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

/// A failed model call will be retried after a delay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiRetry {
    /// The number of the coming retry, counted from 1.
    pub attempt: u32,
    /// The maximum number of retries.
    pub max_retries: u32,
    /// Milliseconds until the retry.
    pub retry_delay_ms: u64,
    /// The HTTP status; null if there was none.
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

/// The fallback model takes over for the rest of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFallback {
    /// The model whose calls failed.
    pub from: String,
    /// The model that takes over.
    pub to: String,
    /// The class of the error.
    pub error: ErrorClass,
    /// What happened.
    pub message: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// The session's activity apart from the conversation (Agent SDK reference, `SDKStatusMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The activity; null when it has ended.
    pub status: Option<StatusKind>,
    /// The permission mode, if it changed.
    #[serde(
        rename = "permissionMode",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub permission_mode: Option<Mode>,
    /// How a compaction ended: `success` or `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_result: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_error: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// The beginning of the conversation was replaced by a summary (Agent SDK reference, `SDKCompactBoundaryMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactBoundary {
    /// The trigger and the size of the compaction.
    pub compact_metadata: CompactMetadata,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// Why a conversation was compacted, and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactMetadata {
    /// What triggered the compaction.
    pub trigger: CompactionTrigger,
    /// Tokens of context before the compaction.
    pub pre_tokens: u64,
    /// Tokens of context after the compaction, estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// Duration of the compaction in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Activities of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StatusKind {
    /// The conversation is being summarised.
    Compacting,
}

/// Files were stored (Agent SDK reference, `SDKFilesPersistedEvent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesPersisted {
    /// Files that were stored.
    pub files: Vec<PersistedFile>,
    /// Files that could not be stored.
    pub failed: Vec<FailedFile>,
    /// When they were stored, in the host's notation (ISO 8601).
    pub processed_at: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A file that was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistedFile {
    /// Its name.
    pub filename: String,
    /// The id by which it can be retrieved.
    pub file_id: String,
}

/// A file that could not be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedFile {
    /// Its name.
    pub filename: String,
    /// Why.
    pub error: String,
}

/// A notice for the user that is not part of the conversation: messages of hooks, and failures of hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Informational {
    /// The text.
    pub content: String,
    /// Its severity.
    pub level: InformationLevel,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InformationLevel {
    /// For information.
    Notice,
    /// Something needs attention.
    Warning,
}

/// A call was denied by a rule, by the mode, or because nobody can be asked
/// ([`PermissionPolicy::tell_denials`](crate::permission::PermissionPolicy::tell_denials)). Denials by hooks and people are not
/// reported: they already know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenied {
    /// The tool, by the name the model used.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// What decided: `rule`, `mode`, `workingDir` or `other`.
    pub decision_reason_type: String,
    /// The message that the model receives.
    pub message: String,
    /// The subagent that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}
