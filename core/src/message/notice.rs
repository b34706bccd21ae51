//! What happens beside the conversation.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    id::{SessionId, Uuid},
    money::Usd,
};

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
    /// The background task the call belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// What a round of tools did (Agent SDK reference, `SDKToolUseSummaryMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUseSummary {
    /// A few words (`Read 3 times, Bash (1 failed)`).
    pub summary: String,
    /// The calls it is about.
    pub preceding_tool_use_ids: Vec<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// How much of a rate limit is used (Agent SDK reference, `SDKRateLimitEvent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimitEvent {
    /// The limit that is nearest to being used up.
    pub rate_limit_info: RateLimitInfo,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A rate limit as the provider reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitInfo {
    /// Whether requests pass.
    pub status: RateLimitStatus,
    /// When the limit is fresh again, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// The used part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Utilization>,
}

/// Whether requests pass a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// They do.
    Allowed,
    /// They do, but not for long.
    AllowedWarning,
    /// They do not.
    Rejected,
}

/// The used part of a limit: a number from 0 to 1 on the wire, whole thousandths here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utilization {
    /// Thousandths.
    pub per_mille: u32,
}

impl Serialize for Utilization {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A decimal number, as money is.
        Usd::from_nanos(u64::from(self.per_mille) * 1_000_000).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Utilization {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let decimal = Usd::deserialize(deserializer)?;
        u32::try_from(decimal.nanos / 1_000_000)
            .ok()
            .map(|per_mille| Self { per_mille })
            .ok_or_else(|| de::Error::custom("not a number from 0 to 1"))
    }
}

/// The host signs in (Agent SDK reference, `SDKAuthStatusMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthStatus {
    /// Whether it still does.
    #[serde(rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// What was printed for the person.
    pub output: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// What the person might say next (Agent SDK reference, `SDKPromptSuggestionMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSuggestion {
    /// The prompt, ready to be sent.
    pub suggestion: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}
