//! Functions as tools: what the attribute `#[tool]` makes of one.

use serde::{Serialize, de::DeserializeOwned};

use crate::{ToolCall, ToolError, ToolResult, call::structured};

/// A tool, as `#[tool]` implements it for the function it stands on.
pub trait Tool {
    /// Its input.
    type Input: DeserializeOwned + schemars::JsonSchema;

    /// What it says of itself.
    const FACTS: ToolFacts;

    /// Answers a call.
    ///
    /// # Errors
    /// [`ToolError`]: the input does not fit, or what the function returned.
    fn call(call: &ToolCall) -> Result<ToolResult, ToolError>;
}

/// What a tool says of itself in the declaration (`wit/README.md`), apart from its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolFacts {
    /// What the model calls it.
    pub name: &'static str,
    /// What it is for; the model reads this.
    pub description: &'static str,
    /// It changes nothing.
    pub read_only: bool,
    /// What it changes cannot be brought back.
    pub destructive: bool,
    /// Twice is as once.
    pub idempotent: bool,
    /// It reaches what lies outside of the machine.
    pub open_world: bool,
    /// What may be done about a call whose outcome was lost: `never`, `run_again` or `run_again_with_key`.
    pub retry: &'static str,
    /// The time that a call may take, in milliseconds; none is the host's default.
    pub timeout_ms: Option<u32>,
}

/// What a tool function may return.
pub trait IntoToolResult {
    /// The result of the call.
    ///
    /// # Errors
    /// [`ToolError`]: the tool failed, and the model reads why.
    fn into_tool_result(self) -> Result<ToolResult, ToolError>;
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self))
    }
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        self.map_err(Into::into)?.into_tool_result()
    }
}

/// A value for programs, which the model reads as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl<T: Serialize> IntoToolResult for Structured<T> {
    fn into_tool_result(self) -> Result<ToolResult, ToolError> {
        let json = structured(&self.0)?;
        Ok(ToolResult {
            structured: Some(json.clone()),
            ..ToolResult::text(json)
        })
    }
}
