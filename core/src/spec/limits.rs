//! Limits of a run, and of a model server's responses.

use serde::{Deserialize, Serialize};

use crate::money::Usd;

/// Limits that stop a run although the model would continue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum tool rounds per prompt; none is no limit.
    pub max_turns: Option<u32>,
    /// Maximum cost of the session; none is no limit.
    pub max_budget: Option<Usd>,
}

/// When a failed model call is retried. A value, since two programs may want different policies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// Maximum retries after the first attempt.
    pub max_retries: u32,
    /// Delay before the first retry in milliseconds; doubled for each further retry.
    pub base_ms: u64,
    /// The longest delay in milliseconds.
    pub max_ms: u64,
    /// A random share of up to this many percent is added to the delay, so that many clients do not return at once.
    pub jitter_percent: u8,
    /// Retry rate limits (429) only.
    pub only_rate_limits: bool,
    /// Wait as long as the server's `retry-after` asks for, up to five minutes.
    pub honour_retry_after: bool,
    /// Retries before the fallback model, if there is one, takes over.
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

/// Limits on the time and size of a model server's response. Exceeding a time limit counts as a failed call that may be retried
/// ([`RetryPolicy`]); exceeding the size limit does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseLimits {
    /// The longest time in milliseconds without content: until the head, and between pieces of content. Keep-alives without
    /// content (`ping`, comments, white space, empty deltas) do not count. 0 is no limit.
    pub idle_ms: u64,
    /// Milliseconds from the request to the end of the response. 0 is no limit.
    pub total_ms: u64,
    /// Maximum bytes of the whole response. 0 is no limit.
    pub max_bytes: u64,
}

impl ResponseLimits {
    /// No limits on time or size.
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
