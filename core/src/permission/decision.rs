//! Permission decisions, their causes, and how they are explained to people.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{Behavior, Mode, Rule, Source};

/// The merged decision of the hooks before a call (Agent SDK reference, `permissionDecision`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookVerdict {
    /// Deny overrides everything; ask forces a permission request; allow acts like an allow rule: deny rules, ask rules and plan
    /// mode override it.
    pub behavior: Behavior,
    /// The hook's reason.
    pub reason: Option<String>,
}

/// A decision and its cause. No call runs without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The outcome.
    pub verdict: Verdict,
    /// What decided.
    pub cause: Cause,
    /// How much of a command it covers.
    pub scope: Scope,
}

/// How much of a command a decision covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Its whole text, whatever it does.
    #[default]
    Whole,
    /// The commands parsed from it: they run instead of the text.
    Parts,
}

/// The outcome for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Permission is asked for.
    Ask,
    /// It does not run.
    Deny,
}

/// What led to a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Rules: a single one, or those that together allow the commands of a line.
    Rules(Vec<RuleName>),
    /// A hook, with its reason if it gave one.
    Hook(Option<String>),
    /// Only the whole text of the command can be approved, with the reason.
    UnreadCommand(String),
    /// The call may change a protected place, from which later sessions or programs take instructions.
    Authority(String),
    /// The command names a file that a deny rule excludes.
    ClosedFile(RuleName),
    /// The call reads or changes a file of the program itself that is closed to tools.
    OwnFile(String),
    /// A path outside the directories that the tool's plugin was granted.
    NotGranted(String),
    /// The mode.
    Mode(Mode),
    /// Reading inside the workspace needs no permission.
    WorkspaceRead,
    /// A path outside the workspace.
    OutsideWorkspace(String),
    /// The call changes nothing outside the session.
    OwnState,
    /// The operating system confines the command.
    Confined,
    /// The settings require all commands to run in the sandbox.
    StaysConfined,
    /// Only a person can answer.
    AsksThePerson,
    /// No rule covers the call.
    NoRule,
}

/// A rule as the cause of a decision: its text and its source.
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

    /// The kind of cause, for programs; none if it is a hook's reason.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Hook(_) => None,
            Self::Rules(_) | Self::ClosedFile(_) => Some("rule"),
            // The mode decides where no rule applies.
            Self::Mode(_) | Self::NoRule => Some("mode"),
            Self::OutsideWorkspace(_) | Self::NotGranted(_) => Some("workingDir"),
            _ => Some("other"),
        }
    }

    /// An explanation in one sentence.
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
            Self::NotGranted(path) => format!(
                "{path} is in no directory that the tool's plugin was granted, or not to be written"
            ),
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
