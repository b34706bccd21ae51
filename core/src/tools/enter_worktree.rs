//! EnterWorktree: moves the session into a git worktree (Agent SDK reference, `EnterWorktreeInput`, `EnterWorktreeOutput`).
//!
//! The host handles the files: the call is sent to it like that of any tool, and it answers with an [`EnterWorktreeOutput`] as
//! the structured output. The session handles the consequences: for later calls, hooks, permission requests and the first message
//! of the next answer, the worktree is the working directory and the workspace. Allow rules for files below the working directory
//! then apply to the worktree; deny and ask rules apply to both.
//!
//! A task with `isolation: "worktree"` begins with the same call, for the agent only.
//!
//! Hooks of `WorktreeCreate` run before the call is sent (Agent SDK types, `WorktreeCreateHookSpecificOutput`). A hook that
//! returns a path has created the worktree; one that blocks refuses it; if neither happens, the host creates the worktree.

use alloc::{format, string::String};

use serde::{Deserialize, Serialize};

use crate::{content::ResultBlock, json::RawJson, tool::ToolResult};

/// The name prefix of worktrees that are created for agents. They are removed with their agents, so that no other worktree may
/// have such a name.
pub const OF_AGENTS: &str = "agent-";

pub(super) const DESCRIPTION: &str = "Makes a git worktree of the repository in the working directory and moves the work there: from then on, relative paths and \
commands mean the new tree, and what stood in the old one is untouched. Use it only when the person asks to work in a worktree. \
Without `name` one is made up.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "name": { "type": "string", "minLength": 1, "maxLength": 64, "description": "The worktree's name: letters, digits, `.`, `_` and `-`" }
  }
}"#;

/// The input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterWorktreeInput {
    /// The worktree's name; if absent, the host chooses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The path at which a `WorktreeCreate` hook has created it. The host then creates none and only checks that it is usable.
    /// Set only by the session; a value from the model is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The structured output, produced by the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnterWorktreeOutput {
    /// Its path: absolute and resolved.
    pub worktree_path: String,
    /// The branch that is checked out there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// The message for the model.
    pub message: String,
}

impl EnterWorktreeOutput {
    /// The tool result of a call that created a worktree.
    #[must_use]
    pub fn into_result(self) -> ToolResult {
        ToolResult {
            // Strings only: encoding cannot fail.
            structured: RawJson::encode(&self).ok(),
            ..ToolResult::text(self.message)
        }
    }

    /// The host's answer, if the worktree can be used.
    pub(crate) fn of(result: &ToolResult) -> Result<Self, ToolResult> {
        if result.is_error {
            return Err(result.clone());
        }
        let output: Option<Self> = (result.structured.as_ref()).and_then(|raw| raw.read().ok());
        let is_real = |path: &str| {
            let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
            absolute && path.len() > 1 && !path.split(['/', '\\']).any(|part| part == "..")
        };
        match output {
            Some(output) if is_real(&output.worktree_path) => Ok(output),
            _ => {
                let mut refused = ToolResult::error(
                    "The host made no worktree that can be worked in: it gave no absolute path. The work goes on where it was.",
                );
                let said = result.joined_text();
                if !said.is_empty() {
                    refused.content.push(ResultBlock::Text { text: said });
                }
                Err(refused)
            }
        }
    }
}

/// Checks the name beyond the schema: it must not lead out of the folder for worktrees.
pub(super) fn fault(input: &RawJson) -> Option<String> {
    let input: EnterWorktreeInput = input.read().ok()?;
    let name = input.name?;
    if name.starts_with(OF_AGENTS) {
        return Some(format!(
            "The name {name} cannot be given: worktrees that begin with `{OF_AGENTS}` are made for agents and taken away with them."
        ));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fits = name.chars().all(plain) && !name.starts_with(['.', '_', '-']);
    (!fits).then(|| {
        format!(
            "The name {name} cannot be that of a worktree: use letters, digits, `.`, `_` and `-`, with a letter or digit first."
        )
    })
}
