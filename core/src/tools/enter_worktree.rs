//! EnterWorktree: moves the work into a git worktree (Agent SDK reference, `EnterWorktreeInput`, `EnterWorktreeOutput`).
//!
//! What it does to files is the host's part: the call goes out like that of any tool, and the host answers with an
//! [`EnterWorktreeOutput`] as the structured output. What follows from it is the session's: later calls, hooks, questions and
//! the first message of the next answer have the new tree as working directory, and the workspace is there. Rules that allow
//! files below the working directory mean the new tree then; rules that deny or ask mean both.
//!
//! A task with `isolation: "worktree"` begins with the same call, for the agent alone.
//!
//! Hooks of `WorktreeCreate` are asked before the call goes out (Agent SDK types, `WorktreeCreateHookSpecificOutput`). One that
//! gives a path has made the worktree; one that blocks has it not made; where none does either, the host makes it.

use alloc::{format, string::String};

use serde::{Deserialize, Serialize};

use crate::{content::ResultBlock, json::RawJson, tool::ToolResult};

/// What the names of worktrees that are made for agents begin with. They go with their agents, so no other may have such a name.
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
    /// The worktree's name; the host makes one up without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where a `WorktreeCreate` hook has made it: the host makes none then and says whether it can be worked in. Only the
    /// session says so; what a model writes here is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The structured output, made by the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnterWorktreeOutput {
    /// Where it is: absolute and real.
    pub worktree_path: String,
    /// The branch that is checked out there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// What the model reads.
    pub message: String,
}

impl EnterWorktreeOutput {
    /// The result of a call that made a worktree.
    #[must_use]
    pub fn into_result(self) -> ToolResult {
        ToolResult {
            // Strings only: encoding cannot fail.
            structured: RawJson::encode(&self).ok(),
            ..ToolResult::text(self.message)
        }
    }

    /// What a host answered, if the work can go on there.
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

/// What is wrong with the input beyond its schema: a name that would lead out of where worktrees are kept.
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
