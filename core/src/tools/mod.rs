//! Tools that belong to the session itself: what they do is done to its state, by the core.
//!
//! To the loop such a tool is a [`ToolDefinition`] like any other: it is offered, its input is checked
//! against its schema, hooks see it, rules and modes judge it, its result enters the stream. Only when
//! it runs, no host is asked: `run` is a pure function of the input and of what the session knows.
//!
//! None is there by itself. [`Spec::offer`](crate::Spec::offer) adds those that an application wants.

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
    /// The tool as the model is offered it. [`offers`] adds what depends on the session: the skills there
    /// are, the tools that can be searched for.
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
        // A test reads every schema: none of these texts can be anything but JSON.
        let schema = RawJson::parse(schema).unwrap_or_else(|_| RawJson::empty_object());
        let mut definition = ToolDefinition::new(self.name(), description, schema);
        definition.annotations.read_only = read_only;
        definition.loading = Loading::Upfront;
        definition.core = Some(self);
        definition
    }

    /// Who must agree to a call with this input.
    #[must_use]
    pub fn consent(self, input: &RawJson) -> Consent {
        match self {
            Self::TodoWrite | Self::ToolSearch => Consent::Free,
            Self::AskUserQuestion | Self::ExitPlanMode => Consent::Person,
            // A call reads and stops what was started with permission.
            Self::TaskOutput | Self::TaskStop => Consent::Free,
            Self::EnterWorktree | Self::Skill | Self::Task => Consent::Judged,
            Self::Config => config::consent(input),
        }
    }

    /// The name of what a call is about, for rules such as `Skill(name)`.
    #[must_use]
    pub fn subject(self, input: &RawJson) -> Option<String> {
        match self {
            Self::Skill => skill::name(input),
            Self::Task => task::name_in(input),
            _ => None,
        }
    }

    /// What the model reads when a person must agree and nobody can be asked.
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

    /// The input as it is judged and shown: what only a person may fill in is taken out of the model's
    /// own input, and what a person wants to see is added. `said` is the text of the response that makes
    /// the call.
    pub(crate) fn prepare(self, input: RawJson, said: &str) -> RawJson {
        match self {
            Self::AskUserQuestion => ask_user_question::without_answers(input),
            Self::ExitPlanMode => exit_plan_mode::with_plan(input, said),
            _ => input,
        }
    }

    /// What is wrong with an input that fits the schema, if anything: checked before anybody is asked.
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
    /// Adds tools that the core runs itself. A tool of the same name that is there already stays.
    pub fn offer(&mut self, tools: impl IntoIterator<Item = CoreTool>) {
        for tool in tools {
            if self.tool(tool.name()).is_none() {
                self.tools.definitions.push(tool.definition());
            }
        }
    }
}

/// What a core tool can see of the session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// What holds for the conversation.
    pub(crate) spec: &'a Spec,
    /// The model that the next request goes to.
    pub(crate) model: &'a str,
    pub(crate) mode: Mode,
    /// What the session was told when it began, without what was chosen since.
    pub(crate) session_spec: &'a Spec,
    /// The conversation is a subagent's.
    pub(crate) in_subagent: bool,
}

/// What the core tools keep for one conversation. Part of every snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notes {
    /// What is to be done, as the model wrote it last.
    pub todos: Vec<todo_write::Todo>,
    /// Tools that a search has found, in the order in which they were.
    pub loaded: Vec<String>,
    /// Skills that were invoked, in the order in which they were first.
    pub skills: Vec<String>,
}

impl Notes {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a core tool did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) result: ToolResult,
    /// What the session is to take over from it.
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

/// A consequence of a core tool's call for the session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    /// The permission mode; none is the one before plan mode.
    Mode(Option<Mode>),
    /// Rules that allow, for the rest of the session.
    Allow(Vec<Rule>),
    /// The model; none is that of the spec.
    Model(Option<String>),
    /// The effort; none is that of the spec.
    Effort(Option<Effort>),
    /// The thinking; none is that of the spec.
    Thinking(Option<Thinking>),
}

/// Runs a core tool on an input that its schema allows and that was approved.
pub(crate) fn run(tool: CoreTool, input: &RawJson, seen: &Seen<'_>, notes: &mut Notes) -> Done {
    match tool {
        CoreTool::TodoWrite => with_input(input, |input| todo_write::run(input, notes)),
        CoreTool::AskUserQuestion => with_input(input, ask_user_question::run),
        CoreTool::ExitPlanMode => with_input(input, |input| exit_plan_mode::run(input, seen)),
        CoreTool::ToolSearch => with_input(input, |input| tool_search::run(&input, seen, notes)),
        CoreTool::Skill => with_input(input, |input| skill::run(&input, seen.spec, notes)),
        CoreTool::Config => with_input(input, |input| config::run(&input, seen)),
        // These are about other threads, running effects and the place of the work: the session runs them itself.
        CoreTool::EnterWorktree | CoreTool::Task | CoreTool::TaskOutput | CoreTool::TaskStop => {
            Done::failed("This tool is not available here.")
        }
    }
}

/// The input in the tool's own type. Schema and type agree, so a fault here is one of a hook or of
/// whoever replaced the input.
fn with_input<T: DeserializeOwned>(input: &RawJson, run: impl FnOnce(T) -> Done) -> Done {
    match input.read() {
        Ok(input) => run(input),
        Err(error) => Done::failed(format!("The input cannot be used: {error}")),
    }
}

/// A text for the model with the structured output for programs.
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
