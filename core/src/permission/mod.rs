//! May this call run? Rules, modes, and the cause of every decision.

mod command;
mod glob;
mod judge;
mod reach;
mod rule;

pub use judge::{CallFacts, Cause, Decision, PathFact, Verdict, judge};
pub use rule::{Rule, RuleError, Rules, Specifier};

pub(crate) use judge::{deny_patterns, is_under, workspace_roots};

use serde::{Deserialize, Serialize};

/// What happens to calls that no rule decides (Agent SDK reference, `PermissionMode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Ask.
    #[default]
    Default,
    /// Edits inside the workspace run, the rest is asked.
    AcceptEdits,
    /// Nothing that changes anything runs.
    Plan,
    /// Never ask: what no allow rule covers is denied.
    DontAsk,
    /// Everything runs but what deny and ask rules catch.
    BypassPermissions,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::DontAsk,
        Self::BypassPermissions,
    ];

    /// The name in options and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// The mode of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
