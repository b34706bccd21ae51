//! What a tool is to the loop: a definition and a call.
//!
//! A built-in tool, a plugin's tool, an MCP tool and an embedder's closure look the same from here.

use alloc::{boxed::Box, string::String, vec, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize};

mod command;
mod core_tool;
mod files;

pub use self::{
    command::{ApprovedCommand, CommandPlan, PlannedFile, ShellState, ShellVariable},
    core_tool::{CoreTool, Loading},
    files::{Access, DenyPattern, FsGrant, GrantRoot, Observation},
};
pub use crate::content::{ImageSource, ResultBlock};
use crate::json::RawJson;

/// A tool as it is offered to the model, with what the loop must know to schedule and judge it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name the model calls it by (`Read`, `mcp__github__list_issues`).
    pub name: String,
    /// What it does, in the words the model reads.
    pub description: String,
    /// JSON Schema of the input; an object schema.
    pub input_schema: RawJson,
    /// Behaviour hints (Agent SDK reference, `ToolAnnotations`).
    #[serde(default)]
    pub annotations: Annotations,
    /// Which input fields are file paths. These are resolved by the host before the call is judged,
    /// and what is granted follows from them.
    #[serde(default)]
    pub paths: Vec<PathParam>,
    /// The input field that is a shell command, for rules such as `Bash(npm run *)`.
    #[serde(default)]
    pub command_param: Option<String>,
    /// The input field that, when true, asks for the call to run in the background (`run_in_background`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_param: Option<String>,
    /// The input field that, when true, asks for the command to run outside of the sandbox (`dangerouslyDisableSandbox`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_param: Option<String>,
    /// What may be done about a call whose outcome was lost in a crash.
    #[serde(default)]
    pub retry: RetryClass,
    /// How long a call may take before it is stopped, in milliseconds; none means the host's default.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
    /// Whether its definition may wait until it is searched for.
    #[serde(default, skip_serializing_if = "Loading::is_usual")]
    pub loading: Loading,
    /// The core runs it itself; none for every tool that a host runs. Not part of a declaration: no plugin can
    /// say this of a tool of its own.
    #[serde(skip)]
    pub core: Option<CoreTool>,
}

impl ToolDefinition {
    /// A tool with no annotations, paths or limits of its own.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: RawJson,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            annotations: Annotations::default(),
            paths: Vec::new(),
            command_param: None,
            background_param: None,
            outside_param: None,
            retry: RetryClass::default(),
            timeout_ms: None,
            loading: Loading::default(),
            core: None,
        }
    }

    /// Marks the tool as changing nothing: it may run beside others.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only = true;
        self
    }

    /// Whether calls change files (acceptEdits approves those inside the granted directories).
    #[must_use]
    pub fn edits_files(&self) -> bool {
        self.paths.iter().any(|p| p.access == Access::Write)
    }
}

/// Behaviour hints. Both spellings in use are read, also at once: `readOnly` and `readOnlyHint`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Annotations {
    /// Changes nothing; calls may run concurrently with other read-only calls.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
    /// May destroy data.
    #[serde(rename = "destructive")]
    pub destructive: bool,
    /// Repeating a call changes nothing more.
    #[serde(rename = "idempotent")]
    pub idempotent: bool,
    /// Reaches beyond the workspace (the network).
    #[serde(rename = "openWorld")]
    pub open_world: bool,
}

impl<'de> Deserialize<'de> for Annotations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Hints {
            read_only: bool,
            #[serde(rename = "read_only")]
            read_only_in_snake: bool,
            read_only_hint: bool,
            destructive: bool,
            destructive_hint: bool,
            idempotent: bool,
            idempotent_hint: bool,
            open_world: bool,
            open_world_hint: bool,
        }
        let hints = Hints::deserialize(deserializer)?;
        Ok(Self {
            read_only: hints.read_only || hints.read_only_in_snake || hints.read_only_hint,
            destructive: hints.destructive || hints.destructive_hint,
            idempotent: hints.idempotent || hints.idempotent_hint,
            open_world: hints.open_world || hints.open_world_hint,
        })
    }
}

/// An input field that names a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathParam {
    /// The field of the input object.
    pub field: String,
    /// What the call does there.
    pub access: Access,
    /// When the field is absent the working directory is meant (`path` of Glob and Grep).
    #[serde(default)]
    pub default_cwd: bool,
    /// A file that is there must have been read before the call may change it. The tool sees to it; a person is not asked about a
    /// call that would fail for it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub read_first: bool,
}

/// What may be done about a call whose outcome was lost (see `docs/architecture.md`, "A session is a value").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryClass {
    /// Never by itself: the model is told that the outcome is unknown.
    #[default]
    Never,
    /// Run it again: it changes nothing, or the same call twice is the same as once.
    RunAgain,
    /// Run it again with the effect id as idempotency key.
    RunAgainWithKey,
    /// Look first what became of it ([`Effect::ProbeTool`](crate::effect::Effect::ProbeTool)): what it did is its
    /// result, what it did not do is run. A host that cannot look says so, and it is as with [`Never`](Self::Never).
    Probe,
}

/// One call as the host runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id of the call.
    pub tool_use_id: String,
    /// The tool's name.
    pub name: String,
    /// The input: valid JSON, valid against the tool's schema.
    pub input: RawJson,
    /// The files the call may touch. Nothing else is reachable for a component.
    pub grant: FsGrant,
    /// What earlier calls saw of the files that are granted.
    pub observed: Vec<Observation>,
    /// Milliseconds the call may take; none means the host's default.
    pub timeout_ms: Option<u32>,
    /// The name of the agent whose call it is; none on the main thread. Two agents may each have a tool of this name
    /// from a server of their own ([`AgentProfile::own_tools`](crate::agent::AgentProfile::own_tools)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// For tools that run a command ([`ToolDefinition::command_param`]): what of it was approved. A host runs nothing where this is
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ApprovedCommand>,
    /// A host that confines commands is to run this one unconfined: it was approved so, or the settings exclude it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub outside_sandbox: bool,
    /// For tools that run a command: what the commands before it left behind ([`ToolResult::shell`]); none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Box<ShellState>>,
}

/// What a call gave back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model reads.
    pub content: Vec<ResultBlock>,
    /// The tool failed; the model may try something else.
    pub is_error: bool,
    /// The structured output for programs (`tool_use_result`), in the shapes of the Agent SDK reference.
    pub structured: Option<RawJson>,
    /// Files the call saw or wrote.
    #[serde(default)]
    pub observed: Vec<Observation>,
    /// For tools that run a command: what it leaves to the commands after it; none to leave all as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Box<ShellState>>,
}

impl ToolResult {
    /// A successful text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ResultBlock::Text { text: text.into() }],
            ..Self::default()
        }
    }

    /// A failure the model reads.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// All text blocks, joined by line ends.
    #[must_use]
    pub fn joined_text(&self) -> String {
        let mut out = String::new();
        for block in &self.content {
            if let ResultBlock::Text { text } = block {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(text);
            }
        }
        out
    }
}
