//! Terms that all wire formats share: effort, thinking, token counts, stop reasons.

use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize};

/// Extended thinking (Agent SDK reference, `ThinkingConfig`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// As the model thinks by itself: adaptively, or with all tokens of the response; not sent if the model is unknown.
    #[default]
    Default,
    /// The model decides when and how much.
    Adaptive,
    /// With a token budget.
    Enabled {
        /// The budget in tokens; none means 10,000.
        budget_tokens: Option<u32>,
    },
    /// Off.
    Disabled,
}

impl Thinking {
    /// Applies the older option, a number of tokens, of which 0 means off. An explicit setting takes precedence (Agent SDK
    /// reference, `maxThinkingTokens`).
    #[must_use]
    pub fn from_options(thinking: Option<Self>, max_thinking_tokens: Option<u32>) -> Self {
        match (thinking, max_thinking_tokens) {
            (Some(thinking), _) => thinking,
            (None, None) => Self::Default,
            (None, Some(0)) => Self::Disabled,
            (None, Some(tokens)) => Self::Enabled {
                budget_tokens: Some(tokens),
            },
        }
    }
}

/// How much of the model's thinking is shown (Agent SDK reference, `ThinkingConfig`, `display`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Only the signature.
    Omitted,
}

impl ThinkingDisplay {
    /// The display with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "summarized" => Some(Self::Summarized),
            "omitted" => Some(Self::Omitted),
            _ => None,
        }
    }
}

/// How much effort goes into a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// The least effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// Very high effort.
    Xhigh,
    /// The most effort.
    Max,
}

impl Effort {
    /// All levels, from least to most effort.
    pub const ALL: [Self; 5] = [Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The name in options and requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

/// Why a response stopped. Unknown reasons are kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model completed its answer.
    EndTurn,
    /// The output limit was reached.
    MaxTokens,
    /// A stop sequence was generated.
    StopSequence,
    /// The response calls tools.
    ToolUse,
    /// The provider paused a long turn; another request continues it.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// Anything else.
    #[serde(untagged)]
    Other(String),
}

/// Token counts of one or more responses (Agent SDK reference, `NonNullableUsage`). No counter is ever null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the cache.
    #[serde(deserialize_with = "null_as_zero")]
    pub input_tokens: u64,
    /// Input tokens written to the cache.
    #[serde(deserialize_with = "null_as_zero")]
    pub cache_creation_input_tokens: u64,
    /// Input tokens read from the cache.
    #[serde(deserialize_with = "null_as_zero")]
    pub cache_read_input_tokens: u64,
    /// Output tokens.
    #[serde(deserialize_with = "null_as_zero")]
    pub output_tokens: u64,
    /// Calls of the provider's own tools.
    #[serde(deserialize_with = "null_as_default")]
    pub server_tool_use: ServerToolUse,
    /// How the tokens written to the cache divide, for their price. Of several responses it is that of none.
    #[serde(deserialize_with = "null_as_default", skip_serializing)]
    pub cache_creation: CacheCreation,
    /// Whether the response was made in the United States (`inference_geo`), which costs more.
    #[serde(rename = "inference_geo", deserialize_with = "is_us", skip_serializing)]
    pub is_us: bool,
    /// Whether the response was fast (`speed`), which costs more.
    #[serde(rename = "speed", deserialize_with = "is_fast", skip_serializing)]
    pub is_fast: bool,
}

/// Tokens written to the cache, by how long they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CacheCreation {
    /// For an hour.
    #[serde(deserialize_with = "null_as_zero")]
    pub ephemeral_1h_input_tokens: u64,
}

/// Calls of the provider's own tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerToolUse {
    /// Web searches.
    #[serde(deserialize_with = "null_as_zero")]
    pub web_search_requests: u64,
    /// Web fetches.
    #[serde(deserialize_with = "null_as_zero")]
    pub web_fetch_requests: u64,
}

fn null_as_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.unwrap_or(0))
}

fn null_as_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

pub(crate) fn is_us<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.as_deref() == Some("us"))
}

pub(crate) fn is_fast<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.as_deref() == Some("fast"))
}

impl Usage {
    /// Adds another response's counts.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: &mut u64, b: u64| *a = a.saturating_add(b);
        sum(&mut self.input_tokens, other.input_tokens);
        sum(
            &mut self.cache_creation_input_tokens,
            other.cache_creation_input_tokens,
        );
        sum(
            &mut self.cache_read_input_tokens,
            other.cache_read_input_tokens,
        );
        sum(&mut self.output_tokens, other.output_tokens);
        sum(
            &mut self.server_tool_use.web_search_requests,
            other.server_tool_use.web_search_requests,
        );
        sum(
            &mut self.server_tool_use.web_fetch_requests,
            other.server_tool_use.web_fetch_requests,
        );
    }
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
    /// The request is invalid; a retry does not help (400, 404, 413 …).
    InvalidRequest,
    /// The server failed or is overloaded (5xx, 529).
    ServerError,
    /// Anything else.
    Unknown,
}

impl ErrorClass {
    /// The name in messages and hook inputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "authentication_failed",
            Self::BillingError => "billing_error",
            Self::RateLimit => "rate_limit",
            Self::InvalidRequest => "invalid_request",
            Self::ServerError => "server_error",
            Self::Unknown => "unknown",
        }
    }
}
