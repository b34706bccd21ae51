//! The tools Read, Write, Edit, NotebookEdit, Glob and Grep, as one component.
//!
//! Every call starts from a fresh instance, so the component keeps no state. Whether a file was read before it is edited
//! follows from the observations in earlier results, which are passed with the call. The logic is generic over [`Tree`], and
//! its tests run natively over a tree in memory.

#![deny(unsafe_code)]

mod edit;
mod filter;
mod glob;
mod grep;
mod notebook;
mod observation;
mod patch;
mod read;
mod rules;
mod walk;
mod write;

use windlass_plugin::{ToolCall, ToolError, ToolResult, Tree, Workspace};

/// Answers a call to one of the tools in `plugin.json`.
///
/// # Errors
/// [`ToolError`], in the words that the model reads.
pub fn call<T: Tree>(call: &ToolCall, workspace: &Workspace<T>) -> Result<ToolResult, ToolError> {
    match call.name.as_str() {
        "Read" => read::run(call, workspace),
        "Write" => write::run(call, workspace),
        "Edit" => edit::run(call, workspace),
        "NotebookEdit" => notebook::run(call, workspace),
        "Glob" => glob::run(call, workspace),
        "Grep" => grep::run(call, workspace),
        other => Err(ToolError::new(format!(
            "This component has no tool {other}."
        ))),
    }
}

/// The declaration of the tools: the JSON text that hosts read from the component's custom section.
pub const DECLARATION: &str = include_str!("../plugin.json");

#[cfg(feature = "component")]
fn call_granted(tool_call: &ToolCall) -> Result<ToolResult, ToolError> {
    call(tool_call, &Workspace::granted())
}

#[cfg(feature = "component")]
windlass_plugin::export_tools!(declaration: "../plugin.json", call: call_granted);
