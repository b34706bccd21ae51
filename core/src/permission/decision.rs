//! A decision about a call, what decided, and how that is said to people.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{Behavior, Mode, Rule, Source};

/// What the hooks before a call came to, all of them together (Agent SDK reference, `permissionDecision`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookVerdict {
    /// Deny beats everything; ask forces the question; allow takes the place of an allow rule: deny rules, ask
    /// rules and plan mode hold against it.
    pub behavior: Behavior,
    /// Why, in the hook's words.
    pub reason: Option<String>,
}

/// A decision and why it was taken. No call runs without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// What decided.
    pub cause: Cause,
    /// How much of a command it is about.
    pub scope: Scope,
}

/// How much of a command a decision is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Its whole text, whatever that does.
    #[default]
    Whole,
    /// The commands that were read in it: they run, and the text does not.
    Parts,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Rules: one, or those that allow the commands of a line together.
    Rules(Vec<RuleName>),
    /// A hook; its reason, if it gave one.
    Hook(Option<String>),
    /// Only the whole text of the command can be approved; why.
    UnreadCommand(String),
    /// The call may change a place from which later sessions or programs take orders.
    Authority(String),
    /// The command names a file that a rule closes.
    ClosedFile(RuleName),
    /// The call reads or changes a file of the program itself that is closed to tools.
    OwnFile(String),
    /// The mode.
    Mode(Mode),
    /// Reading inside the workspace is free here.
    WorkspaceRead,
    /// A path outside the workspace.
    OutsideWorkspace(String),
    /// The call changes nothing outside the session.
    OwnState,
    /// The command runs confined by the operating system.
    Confined,
    /// The settings keep all commands in the sandbox.
    StaysConfined,
    /// Only a person can answer.
    AsksThePerson,
    /// Nothing covers the call.
    NoRule,
}

/// A rule in a cause: as it is written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleName {
    /// The rule.
    pub rule: String,
    /// Where it comes from.
    pub source: Source,
}

impl From<&Rule> for RuleName {
    fn from(rule: &Rule) -> Self {
        Self {
            rule: rule.to_string(),
            source: rule.source(),
        }
    }
}

impl core::fmt::Display for RuleName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({})", self.rule, self.source.words())
    }
}

impl Cause {
    pub(super) fn rule(rule: &Rule) -> Self {
        Self::Rules(alloc::vec![RuleName::from(rule)])
    }

    /// The kind of cause, as programs know it; none for what a hook says.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Hook(_) => None,
            Self::Rules(_) | Self::ClosedFile(_) => Some("rule"),
            // What no rule covers is as the mode has it.
            Self::Mode(_) | Self::NoRule => Some("mode"),
            Self::OutsideWorkspace(_) => Some("workingDir"),
            _ => Some("other"),
        }
    }

    /// One sentence for people.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Rules(rules) => {
                let names: Vec<String> = rules.iter().map(RuleName::to_string).collect();
                match names.as_slice() {
                    [one] => format!("the rule {one} says so"),
                    all => format!("the rules {} say so", all.join(", ")),
                }
            }
            Self::Hook(None) => "a hook says so".to_string(),
            Self::Hook(Some(reason)) => format!("a hook says so: {reason}"),
            Self::UnreadCommand(why) => {
                format!("no rule can let parts of the command pass: {why}")
            }
            Self::Authority(path) => format!(
                "{path} is a place from which programs and later sessions take orders, so only a person can let it be changed"
            ),
            Self::ClosedFile(rule) => format!("the command names a file that {rule} closes"),
            Self::OwnFile(path) => format!(
                "{path} belongs to the program itself, and no rule and no mode opens it to tools"
            ),
            Self::Mode(mode) => format!("permission mode is {}", mode.name()),
            Self::WorkspaceRead => "reading inside the workspace is free".to_string(),
            Self::OutsideWorkspace(path) => format!("{path} is outside the workspace"),
            Self::OwnState => "it changes nothing outside the session".to_string(),
            Self::Confined => "the command runs confined by the operating system".to_string(),
            Self::StaysConfined => {
                "the settings let no command leave the sandbox: run it without dangerouslyDisableSandbox".to_string()
            }
            Self::AsksThePerson => "only a person can answer it".to_string(),
            Self::NoRule => "no permission rule covers it".to_string(),
        }
    }
}
