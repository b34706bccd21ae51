//! How far a run is with its structured output.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::json::RawJson;

/// The state of the structured output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::session) struct OutputProgress {
    /// The valid answer, once given.
    pub(in crate::session) answer: Option<RawJson>,
    /// The number of failed attempts.
    pub(super) misses: u32,
    /// What was wrong with the last one.
    pub(super) fault: String,
    /// Whether the model was reminded after it ended a turn without an answer.
    pub(super) reminded: bool,
}

impl OutputProgress {
    pub(in crate::session) fn is_fresh(&self) -> bool {
        *self == Self::default()
    }
}
