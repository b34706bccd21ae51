//! The messages an application receives (Agent SDK reference, "Message Types"), encoded as one JSON object per line.
//!
//! Field order is fixed by the types, so equal messages are equal bytes on every platform.

mod conversation;
mod hook;
mod notice;
mod result;
mod system;
mod task;

use alloc::{format, string::String};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::json;

pub use self::{
    conversation::{ApiMessage, AssistantMessage, StreamEvent, UserContent, UserMessage},
    hook::{HookOutcome, HookProgress, HookResponse, HookStarted},
    notice::{
        AuthStatus, PromptSuggestion, RateLimitEvent, RateLimitInfo, RateLimitStatus, ToolProgress,
        ToolUseSummary, Utilization,
    },
    result::{DeferredToolUse, PermissionDenial, ResultMessage, ResultSubtype},
    system::{
        ApiRetry, CompactBoundary, CompactMetadata, FailedFile, FilesPersisted, InformationLevel,
        Informational, Init, ModelFallback, PermissionDenied, PersistedFile, Status, StatusKind,
        SystemMessage,
    },
    task::{TaskEnd, TaskKind, TaskNotification, TaskProgress, TaskStarted, TaskUsage},
};
pub use crate::model_usage::ModelUsage;

pub use crate::{
    environment::{McpServer, PluginInfo},
    model::ErrorClass,
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
    /// A raw event of the model's stream; only if partial messages are enabled.
    StreamEvent(StreamEvent),
    /// A long tool call is still running.
    ToolProgress(ToolProgress),
    /// A short summary of a round of tool calls; only if enabled.
    ToolUseSummary(ToolUseSummary),
    /// The state of a rate limit, when it changes notably.
    RateLimitEvent(RateLimitEvent),
    /// The state of the host's sign-in.
    AuthStatus(AuthStatus),
    /// A suggestion for the next prompt; only if enabled, and after the result.
    PromptSuggestion(PromptSuggestion),
    /// The end of the answer to a prompt. Only suggestions and notifications of background tasks may follow.
    Result(ResultMessage),
}

impl Message {
    /// The message as one line of JSON, without the line end.
    #[must_use]
    pub fn to_line(&self) -> String {
        // Every field is a string, a number, raw JSON or a map with string keys: encoding cannot fail.
        crate::json::write::to_text(self)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (kind, raw) = json::tagged(deserializer, "type")?;
        match kind.as_str() {
            "system" => raw.read().map(Self::System),
            "assistant" => raw.read().map(Self::Assistant),
            "user" => raw.read().map(Self::User),
            "stream_event" => raw.read().map(Self::StreamEvent),
            "tool_progress" => raw.read().map(Self::ToolProgress),
            "tool_use_summary" => raw.read().map(Self::ToolUseSummary),
            "rate_limit_event" => raw.read().map(Self::RateLimitEvent),
            "auth_status" => raw.read().map(Self::AuthStatus),
            "prompt_suggestion" => raw.read().map(Self::PromptSuggestion),
            "result" => raw.read().map(Self::Result),
            other => return Err(de::Error::custom(format!("no message is of type {other}"))),
        }
        .map_err(de::Error::custom)
    }
}
