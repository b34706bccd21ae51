//! Inputs of hooks, with the fields that most hooks want (Agent SDK reference, hook input types). More can be read by a type of
//! one's own: every field of the input is there.

use serde::Deserialize;
use serde_json::Value;

/// A tool is about to be called.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct PreToolUse {
    /// The tool.
    pub tool_name: String,
    /// Its input as the model gave it.
    pub tool_input: Value,
    /// The working directory of the session.
    #[serde(default)]
    pub cwd: String,
}

/// A tool was called.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct PostToolUse {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: Value,
    /// Its result.
    #[serde(default)]
    pub tool_response: Value,
    /// The working directory of the session.
    #[serde(default)]
    pub cwd: String,
}

/// A person has written something.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct UserPromptSubmit {
    /// The text.
    pub prompt: String,
    /// The working directory of the session.
    #[serde(default)]
    pub cwd: String,
}

impl PreToolUse {
    /// A field of the tool's input that is a text.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.tool_input.get(field)?.as_str()
    }
}

impl PostToolUse {
    /// A field of the tool's input that is a text.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.tool_input.get(field)?.as_str()
    }
}
