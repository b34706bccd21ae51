//! What an application sees of a session while it runs.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What an application sees of a session while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSpec {
    /// Whether raw stream events are handed on as messages.
    pub partial_messages: bool,
    /// Whether each prompt is repeated in the stream when it is taken in, marked as a replay.
    pub replay_prompts: bool,
    /// Whether each round of tools is followed by a summary of it.
    pub tool_use_summaries: bool,
    /// Whether the model is asked after each answer what the person might say next (`prompt_suggestion`); a request of its
    /// own, which costs what it costs (Agent SDK reference, option `promptSuggestions`).
    pub prompt_suggestions: bool,
    /// After how many milliseconds, again and again, a running call is reported; none never does.
    #[serde(serialize_with = "write_interval", deserialize_with = "read_interval")]
    pub progress_interval_ms: Option<u64>,
    /// Whether hooks announce themselves in the stream (`hook_started`, `hook_progress`, `hook_response`).
    pub hook_messages: bool,
}

impl Default for StreamSpec {
    fn default() -> Self {
        Self {
            partial_messages: false,
            replay_prompts: false,
            tool_use_summaries: false,
            prompt_suggestions: false,
            progress_interval_ms: Some(10_000),
            hook_messages: true,
        }
    }
}

/// In JSON never is 0.
fn write_interval<S: Serializer>(ms: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    ms.unwrap_or(0).serialize(serializer)
}

fn read_interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let ms = u64::deserialize(deserializer)?;
    Ok((ms > 0).then_some(ms))
}
