//! TaskOutput and TaskStop: tools for background tasks, under their current and older names (Agent SDK reference,
//! `TaskOutputInput`, `TaskStopInput`, `TaskStopOutput`; formerly `BashOutput` and `KillBash`).

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use crate::{
    json::{RawJson, RawObject},
    pattern::{Pattern, PatternError},
};

/// The default time that TaskOutput waits, in milliseconds.
pub const DEFAULT_WAIT_MS: u64 = 30_000;
/// The longest it waits, in milliseconds.
pub const LONGEST_WAIT_MS: u64 = 600_000;

pub(crate) const OUTPUT_DESCRIPTION: &str = "Reads what a background task has put out so far: an agent's report, a command's output. \
With `block` it waits for the task to end, at most `timeout` milliseconds; without, it answers at once. \
You are told when a background task ends: there is no need to ask again and again.";

/// `bash_id` of the older tool is renamed to `task_id` before the schema is applied.
pub(crate) const OUTPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "task_id": { "type": "string", "description": "The task's id, as the call that started it gave it" },
    "block": { "type": "boolean", "default": true, "description": "Whether to wait for its end" },
    "timeout": { "type": "number", "minimum": 0, "maximum": 600000, "default": 30000, "description": "The longest wait in milliseconds" },
    "filter": { "type": "string", "description": "A regular expression: only lines that match are read" }
  },
  "required": ["task_id"]
}"#;

pub(crate) const STOP_DESCRIPTION: &str = "Stops a background task, an agent or a command, by its id. What it has put out until then can still be read with TaskOutput.";

/// `shell_id` is the older name of `task_id`.
pub(crate) const STOP_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "task_id": { "type": "string", "description": "The task's id" },
    "shell_id": { "type": "string", "description": "Older name of task_id" }
  }
}"#;

/// The input of TaskOutput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskOutputInput {
    /// The task.
    pub task_id: String,
    /// Whether to wait for its end.
    #[serde(default = "crate::json::yes")]
    pub block: bool,
    /// The longest time to wait, in milliseconds.
    #[serde(default = "default_wait")]
    pub timeout: Milliseconds,
    /// A pattern; only matching lines are returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

fn default_wait() -> Milliseconds {
    Milliseconds(DEFAULT_WAIT_MS)
}

/// Whole milliseconds. Any notation of the number is accepted: models also write `5000.0` and `5e3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Milliseconds(pub u64);

impl<'de> Deserialize<'de> for Milliseconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let whole = number.as_u64().or_else(|| {
            let number = number.as_f64().filter(|n| *n >= 0.0)?;
            // Truncated, not rounded; far beyond the longest wait it saturates.
            Some(number as u64)
        });
        whole
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a number of milliseconds from 0"))
    }
}

/// The input of TaskStop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStopInput {
    /// The task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The older name of the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_id: Option<String>,
}

/// The output of TaskStop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStopOutput {
    /// A message in one sentence.
    pub message: String,
    /// The task.
    pub task_id: String,
    /// The name of the [`TaskKind`](crate::message::TaskKind).
    pub task_type: String,
    /// The command, if the task runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The output of TaskOutput. The Agent SDK reference does not specify its form; this one is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOutputOutput {
    /// The task.
    pub task_id: String,
    /// The name of the [`TaskKind`](crate::message::TaskKind).
    pub task_type: String,
    /// `running`, `completed`, `failed` or `stopped`.
    pub status: String,
    /// A short description.
    pub description: String,
    /// Its output so far.
    pub output: String,
}

/// Converts the input of a call under an older name to that of the current tool.
pub(crate) fn present_input(name: &str, input: &RawJson) -> RawJson {
    let (old, new) = match name {
        "BashOutput" => ("bash_id", "task_id"),
        "KillBash" | "KillShell" => ("shell_id", "task_id"),
        _ => return input.clone(),
    };
    let Ok(fields) = RawObject::parse(input.get()) else {
        return input.clone();
    };
    let mut present = RawObject::default();
    for (key, value) in fields.fields() {
        present.set(if key == old { new } else { key }, value.clone());
    }
    if name == "BashOutput" && fields.get("block").is_none() {
        // The older tool never waited.
        present.set(
            "block",
            RawJson::parse("false").unwrap_or_else(|_| RawJson::null()),
        );
    }
    present.to_raw()
}

/// The lines of an output that match a pattern.
///
/// # Errors
/// [`PatternError`] with the position.
pub(crate) fn filtered(output: &str, filter: &str) -> Result<String, PatternError> {
    let pattern = Pattern::new(filter)?;
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| pattern.is_match(line))
        .collect();
    Ok(lines.join("\n"))
}

/// The last part of a text that fits into `limit` bytes, starting at the beginning of a line if possible.
pub(crate) fn tail(text: &str, limit: usize) -> &str {
    let Some(mut from) = text.len().checked_sub(limit).filter(|from| *from > 0) else {
        return text;
    };
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let rest = &text[from..];
    match rest.find('\n') {
        Some(end) if end + 1 < rest.len() => &rest[end + 1..],
        _ => rest,
    }
}

/// The command of a call, if it has one.
pub(crate) fn command_of(input: &RawJson) -> Option<String> {
    RawObject::parse(input.get()).ok()?.get_string("command")
}

/// The description in a call's input, or its command, or the name of its tool.
pub(crate) fn description_of(name: &str, input: &RawJson) -> String {
    let fields = RawObject::parse(input.get()).unwrap_or_default();
    let given = |key: &str| {
        fields
            .get_string(key)
            .filter(|text| !text.trim().is_empty())
    };
    given("description")
        .or_else(|| given("command"))
        .unwrap_or_else(|| name.to_owned())
        .to_string()
}
