//! Core tools: tools that act on the session's own state and are run by the core.
//!
//! To the loop such a tool is a [`ToolDefinition`] like any other: it is offered, its input is validated against its schema,
//! hooks see it, rules and modes apply, its result enters the stream. Only running it involves no host: `run` is a pure function
//! of the input and of the session's state.
//!
//! None is enabled by default. [`Spec::offer`](crate::Spec::offer) adds those that an application wants.

pub mod ask_user_question;
pub mod background;
pub mod config;
pub mod enter_worktree;
pub mod exit_plan_mode;
mod offer;
mod recalled;
pub mod skill;
pub mod task;
pub mod todo_write;
pub mod tool_search;

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    json::RawJson,
    model::{Effort, Thinking},
    permission::{Mode, Rule},
    spec::Spec,
    tool::{Loading, ToolDefinition, ToolResult},
};
pub use crate::{permission::Consent, tool::CoreTool};
pub(crate) use offer::deferred;
pub use offer::offers;
pub(crate) use recalled::Recalled;

impl CoreTool {
    /// The definition as offered to the model. [`offers`] adds what depends on the session: the available skills, the tools that
    /// can be searched for.
    #[must_use]
    pub fn definition(self) -> ToolDefinition {
        let (description, schema, read_only) = match self {
            Self::TodoWrite => (todo_write::DESCRIPTION, todo_write::INPUT_SCHEMA, false),
            Self::AskUserQuestion => (
                ask_user_question::DESCRIPTION,
                ask_user_question::INPUT_SCHEMA,
                false,
            ),
            Self::ExitPlanMode => (
                exit_plan_mode::DESCRIPTION,
                exit_plan_mode::INPUT_SCHEMA,
                false,
            ),
            Self::ToolSearch => (tool_search::DESCRIPTION, tool_search::INPUT_SCHEMA, true),
            Self::Skill => (skill::DESCRIPTION, skill::INPUT_SCHEMA, true),
            Self::Config => (config::DESCRIPTION, config::INPUT_SCHEMA, false),
            Self::EnterWorktree => (
                enter_worktree::DESCRIPTION,
                enter_worktree::INPUT_SCHEMA,
                false,
            ),
            // Starting an agent changes nothing by itself: its own calls are judged.
            Self::Task => (task::DESCRIPTION, task::SCHEMA, true),
            Self::TaskOutput => (
                background::OUTPUT_DESCRIPTION,
                background::OUTPUT_SCHEMA,
                true,
            ),
            Self::TaskStop => (background::STOP_DESCRIPTION, background::STOP_SCHEMA, false),
        };
        // A test parses every schema: all of these texts are JSON.
        let schema = RawJson::parse(schema).unwrap_or_else(|_| RawJson::empty_object());
        let mut definition = ToolDefinition::new(self.name(), description, schema);
        definition.annotations.read_only = read_only;
        definition.loading = Loading::Upfront;
        definition.core = Some(self);
        definition
    }

    /// Whose consent a call with this input needs.
    #[must_use]
    pub fn consent(self, input: &RawJson) -> Consent {
        match self {
            Self::TodoWrite | Self::ToolSearch => Consent::Free,
            Self::AskUserQuestion | Self::ExitPlanMode => Consent::Person,
            // A call reads or stops a task that was started with permission.
            Self::TaskOutput | Self::TaskStop => Consent::Free,
            Self::EnterWorktree | Self::Skill | Self::Task => Consent::Judged,
            Self::Config => config::consent(input),
        }
    }

    /// The name of a call's subject, for rules such as `Skill(name)`.
    #[must_use]
    pub fn subject(self, input: &RawJson) -> Option<String> {
        match self {
            Self::Skill => skill::name(input),
            Self::Task => task::name_in(input),
            _ => None,
        }
    }

    /// The message for the model if a person's consent is needed and nobody can be asked.
    #[must_use]
    pub fn nobody_to_ask(self) -> &'static str {
        match self {
            Self::AskUserQuestion => {
                "Nobody can be asked in this session. Decide by what you know, and say in your answer what you assumed."
            }
            _ => {
                "Nobody can be asked to approve this in this session. End with the plan as your answer; it can be carried out in another session."
            }
        }
    }

    /// The input as it is judged and shown: fields that only a person may fill in are removed from the model's input, and
    /// information for the person is added. `said` is the text of the response that makes the call.
    pub(crate) fn prepare(self, input: RawJson, said: &str) -> RawJson {
        match self {
            Self::AskUserQuestion => ask_user_question::without_answers(input),
            Self::ExitPlanMode => exit_plan_mode::with_plan(input, said),
            _ => input,
        }
    }

    /// An error in an input that matches the schema, checked before anybody is asked.
    pub(crate) fn fault(self, input: &RawJson, seen: &Seen<'_>) -> Option<String> {
        match self {
            Self::AskUserQuestion => ask_user_question::fault(input),
            Self::ExitPlanMode => exit_plan_mode::fault(input, seen),
            Self::Skill => skill::fault(input, seen.spec),
            Self::EnterWorktree => enter_worktree::fault(input),
            Self::TodoWrite | Self::ToolSearch | Self::Config => None,
            Self::Task | Self::TaskOutput | Self::TaskStop => None,
        }
    }
}

impl Spec {
    /// Adds tools that the core runs itself. An existing tool of the same name is kept.
    pub fn offer(&mut self, tools: impl IntoIterator<Item = CoreTool>) {
        for tool in tools {
            if self.tool(tool.name()).is_none() {
                self.tools.definitions.push(tool.definition());
            }
        }
    }
}

/// The parts of the session that a core tool can read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The current spec of the conversation.
    pub(crate) spec: &'a Spec,
    /// The model that the next request goes to.
    pub(crate) model: &'a str,
    pub(crate) mode: Mode,
    /// The spec at the start of the session, without settings chosen since.
    pub(crate) session_spec: &'a Spec,
    /// Whether the conversation is a subagent's.
    pub(crate) in_subagent: bool,
}

/// The state that core tools keep for one conversation. Part of every snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CoreToolState {
    /// The to-do list, as the model last wrote it.
    pub todos: Vec<todo_write::Todo>,
    /// Tools that a search has found, in that order.
    pub loaded: Vec<String>,
    /// Skills that were invoked, in the order of their first invocation.
    pub skills: Vec<String>,
}

impl CoreToolState {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The outcome of a core tool's call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) result: ToolResult,
    /// The changes that the session has to make.
    pub(crate) changes: Vec<Change>,
}

impl Done {
    fn failed(text: impl Into<String>) -> Self {
        ToolResult::error(text).into()
    }
}

impl From<ToolResult> for Done {
    fn from(result: ToolResult) -> Self {
        Self {
            result,
            changes: Vec::new(),
        }
    }
}

/// A change of the session that results from a core tool's call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// Sets the permission mode; none restores the one before plan mode.
    Mode(Option<Mode>),
    /// Adds allow rules for the rest of the session.
    Allow(Vec<Rule>),
    /// Sets the model; none restores that of the spec.
    Model(Option<String>),
    /// Sets the effort; none restores that of the spec.
    Effort(Option<Effort>),
    /// Sets the thinking; none restores that of the spec.
    Thinking(Option<Thinking>),
}

/// Runs a core tool on an approved input that matches its schema.
pub(crate) fn run(
    tool: CoreTool,
    input: &RawJson,
    seen: &Seen<'_>,
    tool_state: &mut CoreToolState,
) -> Done {
    match tool {
        CoreTool::TodoWrite => with_input(input, |input| todo_write::run(input, tool_state)),
        CoreTool::AskUserQuestion => with_input(input, ask_user_question::run),
        CoreTool::ExitPlanMode => with_input(input, |input| exit_plan_mode::run(input, seen)),
        CoreTool::ToolSearch => {
            with_input(input, |input| tool_search::run(&input, seen, tool_state))
        }
        CoreTool::Skill => with_input(input, |input| skill::run(&input, seen.spec, tool_state)),
        CoreTool::Config => with_input(input, |input| config::run(&input, seen)),
        // These concern other threads, running effects and the working directory: the session runs them itself.
        CoreTool::EnterWorktree | CoreTool::Task | CoreTool::TaskOutput | CoreTool::TaskStop => {
            Done::failed("This tool is not available here.")
        }
    }
}

/// Decodes the input to the tool's own type. Schema and type agree, so that an error here was caused by a hook or whoever
/// replaced the input.
fn with_input<T: DeserializeOwned>(input: &RawJson, run: impl FnOnce(T) -> Done) -> Done {
    match input.read() {
        Ok(input) => run(input),
        Err(error) => Done::failed(format!("The input cannot be used: {error}")),
    }
}

/// A text for the model with a structured output for programs.
fn answered<T: Serialize>(text: impl Into<String>, output: &T) -> ToolResult {
    ToolResult {
        // Strings, numbers and raw JSON only: encoding cannot fail.
        structured: RawJson::encode(output).ok(),
        ..ToolResult::text(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_definition_has_a_schema_of_an_object() {
        for tool in CoreTool::ALL {
            let definition = tool.definition();
            let schema: Value = definition.input_schema.read().unwrap();
            assert_eq!(schema["type"], "object", "{}", definition.name);
            assert!(schema["properties"].is_object(), "{}", definition.name);
            assert_eq!(CoreTool::parse(&definition.name), Some(tool));
        }
    }
}
