//! The triggers of a compaction.

use serde::{Deserialize, Serialize};

/// What triggered a compaction (Agent SDK reference, `SDKCompactBoundaryMessage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// It was requested.
    Manual,
    /// The context was nearly full, or the server rejected the request as too long.
    Auto,
}

impl CompactionTrigger {
    /// The name in messages and hook inputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}
