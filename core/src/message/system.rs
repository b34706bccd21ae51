//! About the session itself.

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
    /// First in the answer to every prompt.
    Init(Box<Init>),
    /// A model call failed and is asked again.
    ApiRetry(ApiRetry),
    /// The model cannot be asked; the fallback model takes over for the rest of the answer.
    ModelFallback(ModelFallback),
    /// What the session is busy with, or that its permission mode changed.
    Status(Status),
    /// The beginning of the conversation was replaced by a summary.
    CompactBoundary(CompactBoundary),
    /// Files were stored.
    FilesPersisted(FilesPersisted),
    /// A background task begins.
    TaskStarted(TaskStarted),
    /// A background task goes on.
    TaskProgress(TaskProgress),
    /// A background task ends.
    TaskNotification(TaskNotification),
    /// A hook begins.
    HookStarted(HookStarted),
    /// A hook has written something.
    HookProgress(HookProgress),
    /// A hook is done.
    HookResponse(HookResponse),
    /// A word to the person that is not part of the conversation.
    Informational(Informational),
    /// A call was denied without anybody being asked.
    PermissionDenied(PermissionDenied),
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

/// Another model goes on with the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFallback {
    /// The model that could not be asked.
    pub from: String,
    /// The model that is asked instead.
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

/// What the session is busy with beside its conversation (Agent SDK reference, `SDKStatusMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Null when it is over.
    pub status: Option<StatusKind>,
    /// The permission mode, when it changed.
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
    /// Why, and how much.
    pub compact_metadata: CompactMetadata,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// Why a conversation was compacted, and how much there was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactMetadata {
    /// What made it happen.
    pub trigger: CompactionTrigger,
    /// Tokens of context before.
    pub pre_tokens: u64,
    /// Tokens of context afterwards, estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// Milliseconds it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// What a session can be busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StatusKind {
    /// The conversation is being summed up.
    Compacting,
}

/// Files were stored (Agent SDK reference, `SDKFilesPersistedEvent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesPersisted {
    /// Those that are safe.
    pub files: Vec<PersistedFile>,
    /// Those that are not.
    pub failed: Vec<FailedFile>,
    /// When, as the host writes moments (ISO 8601).
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
    /// What it is found by.
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

/// A word to the person that is not part of the conversation: what hooks have to say, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Informational {
    /// The text.
    pub content: String,
    /// How much it matters.
    pub level: InformationLevel,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// How much a word to the person matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InformationLevel {
    /// Good to know.
    Notice,
    /// Something is not as it should be.
    Warning,
}

/// A call was denied by a rule, by the mode, or because nobody can be asked
/// ([`PermissionPolicy::tell_denials`](crate::permission::PermissionPolicy::tell_denials)). What hooks and people deny they know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionDenied {
    /// The tool, by the name the model used.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// What decided: `rule`, `mode`, `workingDir` or `other`.
    pub decision_reason_type: String,
    /// What the model reads.
    pub message: String,
    /// The subagent that called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}
