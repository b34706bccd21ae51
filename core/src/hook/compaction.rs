//! What makes a conversation be summed up.

use serde::{Deserialize, Serialize};

/// What made a compaction happen (Agent SDK reference, `SDKCompactBoundaryMessage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// Somebody asked for it.
    Manual,
    /// The context was nearly full, or the server said that it is.
    Auto,
}

impl CompactionTrigger {
    /// The name in messages and inputs of hooks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}
