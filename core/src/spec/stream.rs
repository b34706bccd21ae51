//! Which messages an application receives while a session runs.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which messages an application receives while a session runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSpec {
    /// Whether raw stream events are forwarded as messages.
    pub partial_messages: bool,
    /// Whether each prompt is repeated in the stream when it is accepted, marked as a replay.
    pub replay_prompts: bool,
    /// Whether each round of tool calls is followed by a summary.
    pub tool_use_summaries: bool,
    /// Whether the model is asked after each answer to suggest the next prompt (`prompt_suggestion`). This is a request of its
    /// own and is billed as one (Agent SDK reference, option `promptSuggestions`).
    pub prompt_suggestions: bool,
    /// The interval in milliseconds at which a running call is reported; none disables the reports.
    #[serde(serialize_with = "write_interval", deserialize_with = "read_interval")]
    pub progress_interval_ms: Option<u64>,
    /// Whether hooks are reported in the stream (`hook_started`, `hook_progress`, `hook_response`).
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

/// None is written as 0 in JSON.
fn write_interval<S: Serializer>(ms: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    ms.unwrap_or(0).serialize(serializer)
}

fn read_interval<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let ms = u64::deserialize(deserializer)?;
    Ok((ms > 0).then_some(ms))
}
