//! Which tools the core runs itself. What they are and do is in [`tools`](crate::tools).

use serde::{Deserialize, Serialize};

/// The tools that the core runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CoreTool {
    /// A list of what is to be done ([`todo_write`](crate::tools::todo_write)).
    TodoWrite,
    /// Questions with choices for the person ([`ask_user_question`](crate::tools::ask_user_question)).
    AskUserQuestion,
    /// Presents a plan and leaves plan mode ([`exit_plan_mode`](crate::tools::exit_plan_mode)).
    ExitPlanMode,
    /// Finds tools whose definitions are not loaded ([`tool_search`](crate::tools::tool_search)).
    ToolSearch,
    /// Fetches the text of a skill ([`skill`](crate::tools::skill)).
    Skill,
    /// Reads and changes settings of the session ([`config`](crate::tools::config)).
    Config,
    /// Moves the work into a git worktree ([`enter_worktree`](crate::tools::enter_worktree)): the host makes it, the session moves.
    EnterWorktree,
    /// Starts an agent ([`task`](crate::tools::task)).
    Task,
    /// Reads a background task ([`background`](crate::tools::background)).
    TaskOutput,
    /// Stops a background task ([`background`](crate::tools::background)).
    TaskStop,
}

impl CoreTool {
    /// Every core tool.
    pub const ALL: [Self; 10] = [
        Self::TodoWrite,
        Self::AskUserQuestion,
        Self::ExitPlanMode,
        Self::ToolSearch,
        Self::Skill,
        Self::Config,
        Self::EnterWorktree,
        Self::Task,
        Self::TaskOutput,
        Self::TaskStop,
    ];

    /// The name the model calls it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TodoWrite => "TodoWrite",
            Self::AskUserQuestion => "AskUserQuestion",
            Self::ExitPlanMode => "ExitPlanMode",
            Self::ToolSearch => "ToolSearch",
            Self::Skill => "Skill",
            Self::Config => "Config",
            Self::EnterWorktree => "EnterWorktree",
            Self::Task => "Task",
            Self::TaskOutput => "TaskOutput",
            Self::TaskStop => "TaskStop",
        }
    }

    /// The core tool of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Whether a tool's definition may wait until it is searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loading {
    /// Tools of MCP servers may wait, all others are there from the start.
    #[default]
    Usual,
    /// It is there from the start.
    Upfront,
    /// It may wait.
    OnDemand,
}

impl Loading {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}
