//! Messages about events outside the conversation.

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

/// A summary of a round of tool calls (Agent SDK reference, `SDKToolUseSummaryMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUseSummary {
    /// A few words (`Read 3 times, Bash (1 failed)`).
    pub summary: String,
    /// The calls it summarises.
    pub preceding_tool_use_ids: Vec<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// The state of a rate limit (Agent SDK reference, `SDKRateLimitEvent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimitEvent {
    /// The limit that is closest to being exhausted.
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
    /// Whether requests are accepted.
    pub status: RateLimitStatus,
    /// When the limit resets, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// The used fraction of the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Utilization>,
}

/// Whether requests are accepted under a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitStatus {
    /// They are accepted.
    Allowed,
    /// They are accepted, but the limit is nearly used up.
    AllowedWarning,
    /// They are rejected.
    Rejected,
}

/// The used fraction of a limit: a number from 0 to 1 on the wire, whole thousandths here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utilization {
    /// Thousandths.
    pub per_mille: u32,
}

impl Serialize for Utilization {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Written as a decimal number, like money.
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

/// The state of the host's sign-in (Agent SDK reference, `SDKAuthStatusMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthStatus {
    /// Whether signing in is still in progress.
    #[serde(rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// What was printed for the user.
    pub output: Vec<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}

/// A suggestion for the next prompt (Agent SDK reference, `SDKPromptSuggestionMessage`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSuggestion {
    /// The suggested prompt, ready to be sent.
    pub suggestion: String,
    /// This message.
    pub uuid: Uuid,
    /// The session.
    pub session_id: SessionId,
}
