//! When a run stops, and what a model server may take.

use serde::{Deserialize, Serialize};

use crate::money::Usd;

/// When a run stops although the model would go on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Tool rounds for one prompt; none is no limit.
    pub max_turns: Option<u32>,
    /// What the session may cost; none is no limit.
    pub max_budget: Option<Usd>,
}

/// When a failed model call is asked again. A value: two programs may want different ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// Retries after the first attempt.
    pub max_retries: u32,
    /// Milliseconds before the first retry; doubled for each further one.
    pub base_ms: u64,
    /// The longest wait in milliseconds.
    pub max_ms: u64,
    /// Up to so many percent are added at random, so that many clients do not return at once.
    pub jitter_percent: u8,
    /// Retry rate limits (429) only.
    pub only_rate_limits: bool,
    /// Wait as long as the server's `retry-after` asks for, within reason (at most five minutes).
    pub honour_retry_after: bool,
    /// Where there is a fallback model: retries before it takes over.
    pub retries_before_fallback: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 10,
            base_ms: 500,
            max_ms: 32_000,
            jitter_percent: 25,
            only_rate_limits: false,
            honour_retry_after: true,
            retries_before_fallback: 3,
        }
    }
}

/// How long a model server may take over a response, and how much it may send. What is over a limit of time counts as a failed
/// call that may succeed later ([`RetryPolicy`]); what is too large does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseLimits {
    /// Milliseconds in which something of the response must come: its head, then piece after piece of its content. Signs of
    /// life without content (`ping`, comments, white space, empty deltas) are none. 0 is no limit.
    pub idle_ms: u64,
    /// Milliseconds from the request to the end of the response. 0 is no limit.
    pub total_ms: u64,
    /// Bytes of the whole response. 0 is no limit.
    pub max_bytes: u64,
}

impl ResponseLimits {
    /// No limits: a response may take as long, and be as long, as it likes.
    #[must_use]
    pub fn none() -> Self {
        Self {
            idle_ms: 0,
            total_ms: 0,
            max_bytes: 0,
        }
    }
}

impl Default for ResponseLimits {
    /// Five minutes without content, two hours in all, 64 MiB.
    fn default() -> Self {
        Self {
            idle_ms: 5 * 60_000,
            total_ms: 2 * 60 * 60_000,
            max_bytes: 64 << 20,
        }
    }
}
