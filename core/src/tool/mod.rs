//! Tools as the loop sees them: a definition and calls.
//!
//! Built-in tools, tools of plugins, MCP tools and an embedder's closures are all the same here.

use alloc::{boxed::Box, string::String, vec, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize};

mod command;
mod core_tool;
mod files;

pub use self::{
    command::{ApprovedCommand, CommandPlan, PlannedFile, ShellState, ShellVariable},
    core_tool::{CoreTool, Loading},
    files::{Access, DenyPattern, FsGrant, GrantRoot, Observation, PluginGrant},
};
pub use crate::content::{ImageSource, ResultBlock};
use crate::{json::RawJson, model_usage::ModelUsage, sorted::SortedMap};

/// A tool as it is offered to the model, with what the loop needs to schedule and judge its calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name by which the model calls it (`Read`, `mcp__github__list_issues`).
    pub name: String,
    /// What it does; the model reads this.
    pub description: String,
    /// JSON Schema of the input; an object schema.
    pub input_schema: RawJson,
    /// Behaviour hints (Agent SDK reference, `ToolAnnotations`).
    #[serde(default)]
    pub annotations: Annotations,
    /// The input fields that are file paths. The host resolves them before the call is judged, and the grant is derived from
    /// them.
    #[serde(default)]
    pub paths: Vec<PathParam>,
    /// The input field that is a shell command, for rules such as `Bash(npm run *)`.
    #[serde(default)]
    pub command_param: Option<String>,
    /// The input field that, when true, asks for the call to run in the background (`run_in_background`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_param: Option<String>,
    /// The input field that, when true, asks for the command to run outside the sandbox (`dangerouslyDisableSandbox`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_param: Option<String>,
    /// Whether its calls ask a model on the side, so that they are told which one the conversation is with
    /// ([`ToolCall::model`]).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub asks_model: bool,
    /// What to do about a call whose outcome was lost in a crash.
    #[serde(default)]
    pub retry: RetryClass,
    /// The time limit of a call in milliseconds; none means the host's default.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
    /// Whether its definition may be deferred until it is searched for.
    #[serde(default, skip_serializing_if = "Loading::is_usual")]
    pub loading: Loading,
    /// What the plugin of the tool was granted by whoever loaded it; none for a tool of the host itself, about whose files only
    /// rules decide. Hosts set it for every tool of a plugin, whatever a declaration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<PluginGrant>,
    /// Set if the core runs the tool itself; none for every tool that a host runs. It is not part of a declaration, so no plugin
    /// can claim it for its own tool.
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
            asks_model: false,
            retry: RetryClass::default(),
            timeout_ms: None,
            loading: Loading::default(),
            grant: None,
            core: None,
        }
    }

    /// Marks the tool as read-only: its calls may run concurrently.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.annotations.read_only = true;
        self
    }

    /// Whether it is a plugin's and may pass on what it has read: nothing that is about files alone lets it run.
    #[must_use]
    pub fn may_send(&self) -> bool {
        self.grant.is_some() && self.annotations.open_world
    }

    /// Whether calls change files (acceptEdits approves those inside the granted directories).
    #[must_use]
    pub fn edits_files(&self) -> bool {
        self.paths.iter().any(|p| p.access == Access::Write)
    }
}

/// Behaviour hints. Both common spellings are read, even together: `readOnly` and `readOnlyHint`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Annotations {
    /// Changes nothing; calls may run concurrently with other read-only calls.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
    /// May destroy data.
    #[serde(rename = "destructive")]
    pub destructive: bool,
    /// Repeating a call has no further effect.
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
    /// How the call accesses it.
    pub access: Access,
    /// If the field is absent, the working directory is used (`path` of Glob and Grep).
    #[serde(default)]
    pub default_cwd: bool,
    /// An existing file must have been read before the call may change it. The tool checks this itself; nobody is asked for
    /// permission for a call that would fail the check.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub read_first: bool,
}

/// What to do about a call whose outcome was lost (see `docs/architecture.md`, "A session is a value").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryClass {
    /// Do not run it again: the model is told that the outcome is unknown.
    #[default]
    Never,
    /// Run it again: it changes nothing, or repeating it has no further effect.
    RunAgain,
    /// Run it again with the effect id as idempotency key.
    RunAgainWithKey,
    /// First ask the host for the outcome ([`Effect::ProbeTool`](crate::effect::Effect::ProbeTool)). If the call completed, its
    /// result is used; if it did nothing, it is run. If the host cannot tell, the call is treated as [`Never`](Self::Never).
    Probe,
}

/// One call as the host runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id of the call.
    pub tool_use_id: String,
    /// The tool's name.
    pub name: String,
    /// The input: valid JSON that matches the tool's schema.
    pub input: RawJson,
    /// The files the call may access. A component cannot reach anything else.
    pub grant: FsGrant,
    /// What earlier calls observed of the granted files.
    pub observed: Vec<Observation>,
    /// The time limit of the call in milliseconds; none means the host's default.
    pub timeout_ms: Option<u32>,
    /// The name of the agent that makes the call; none on the main thread. Two agents may each have a tool of this name from a
    /// server of their own ([`AgentProfile::own_tools`](crate::agent::AgentProfile::own_tools)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// For tools that run a command ([`ToolDefinition::command_param`]): which part of it was approved. The host must not run
    /// anything if this is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ApprovedCommand>,
    /// Whether a host that confines commands must run this one unconfined: this was approved, or the settings exclude the
    /// command.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub outside_sandbox: bool,
    /// For tools that run a command: the shell state that earlier commands left ([`ToolResult::shell`]); none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Box<ShellState>>,
    /// For tools that ask a model on the side ([`ToolDefinition::asks_model`]): the model of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The content for the model.
    pub content: Vec<ResultBlock>,
    /// Whether the tool failed; the model may try something else.
    pub is_error: bool,
    /// The structured output for programs (`tool_use_result`), in the shapes of the Agent SDK reference.
    pub structured: Option<RawJson>,
    /// What the call observed of the files it read or wrote.
    #[serde(default)]
    pub observed: Vec<Observation>,
    /// For tools that run a command: the shell state for later commands; none leaves it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Box<ShellState>>,
    /// What the call used of models, by name: counted as usage and cost of the session.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub model_usage: SortedMap<String, ModelUsage>,
}

impl ToolResult {
    /// A successful text result.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ResultBlock::Text { text: text.into() }],
            ..Self::default()
        }
    }

    /// An error result, for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// All text blocks, joined by newlines.
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
