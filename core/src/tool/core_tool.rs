//! The tools that the core runs itself. They are described in [`tools`](crate::tools).

use serde::{Deserialize, Serialize};

/// The tools that the core runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CoreTool {
    /// A to-do list ([`todo_write`](crate::tools::todo_write)).
    TodoWrite,
    /// Questions with choices for the user ([`ask_user_question`](crate::tools::ask_user_question)).
    AskUserQuestion,
    /// Presents a plan and leaves plan mode ([`exit_plan_mode`](crate::tools::exit_plan_mode)).
    ExitPlanMode,
    /// Finds deferred tools ([`tool_search`](crate::tools::tool_search)).
    ToolSearch,
    /// Loads the text of a skill ([`skill`](crate::tools::skill)).
    Skill,
    /// Reads and changes settings of the session ([`config`](crate::tools::config)).
    Config,
    /// Moves the session into a git worktree ([`enter_worktree`](crate::tools::enter_worktree)). The host creates the worktree.
    EnterWorktree,
    /// Starts a subagent ([`task`](crate::tools::task)).
    Task,
    /// Reads a background task ([`background`](crate::tools::background)).
    TaskOutput,
    /// Stops a background task ([`background`](crate::tools::background)).
    TaskStop,
}

impl CoreTool {
    /// All core tools.
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

    /// The name by which the model calls it.
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

    /// The core tool with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Whether a tool's definition may be deferred until it is searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loading {
    /// The default: tools of MCP servers may be deferred, all others are loaded from the start.
    #[default]
    Usual,
    /// Loaded from the start.
    Upfront,
    /// May be deferred.
    OnDemand,
}

impl Loading {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}
