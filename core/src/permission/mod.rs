//! Permissions: rules, modes, decisions and their causes.
//!
//! - [`Rule`] is one rule, [`Rules`] the current ones, [`Layered`] combines those of several sources.
//! - [`CommandLine`] is a parsed command line.
//! - [`judge()`] decides about a call, [`explain()`] explains the decision, [`lint()`] finds rules without effect.
//! - [`PermissionUpdate`] changes the permissions of a session, [`SessionPermissions`]; [`suggestions`] are updates that would
//!   let a call run.
//! - [`Narrowing`] holds the restrictions of a subagent, [`ToolSet`] selects the tools that are offered.

mod authority;
mod command;
mod command_place;
mod confinement;
mod consent;
mod decision;
mod domain;
mod entry;
mod example;
mod explain;
mod facts;
mod glob;
mod grant;
mod judge;
mod layer;
mod lint;
mod narrowing;
mod path;
mod path_pattern;
mod policy;
mod policy_context;
mod protected_place;
mod reach;
mod resolved;
mod rule;
mod source;
mod suggest;
mod tool_name;
mod tool_set;
mod update;
mod visible;

pub use command::{
    Argument, CommandLine, CommandPattern, Invocation, RefusedFile, made_names, may_be_refused,
    refused_file,
};
pub(crate) use command_place::runs_outside;
pub use confinement::CommandConfinement;
pub use consent::Consent;
pub use decision::{Cause, Decision, HookVerdict, RuleName, Scope, Verdict};
pub use domain::DomainPattern;
pub use entry::RuleEntry;
pub use example::ExampleError;
pub use explain::{Considered, Explanation, Fit, explain};
pub(crate) use facts::named_paths;
pub use facts::{CallFacts, CallSubject, PathFact};
pub(crate) use grant::granted_root;
pub use judge::judge;
pub use layer::{Layer, LayerError, Layered, PermissionSettings, all_faults};
pub(crate) use lint::misspelt_tool;
pub use lint::{Fault, Finding, Misnamed, lint, misnamed, nearest_name};
pub use narrowing::Narrowing;
pub use policy::PermissionPolicy;
pub use policy_context::PolicyContext;
pub use resolved::{ResolvePath, ResolvedPath};
pub use rule::{NamePattern, Rule, RuleError, RuleValue, Rules, Specifier};
pub use source::{Behavior, Source};
pub use suggest::{first_rule, suggestions};
pub use tool_name::{
    is_reserved_tool_name, names_servers_tool, resembles_reserved_tool_name, server_tool_name,
};
pub(crate) use tool_name::{other as other_tool_name, present as present_tool_name, server_name};
pub use tool_set::ToolSet;
pub use update::{
    Destination, DirectoryChange, PermissionUpdate, RuleChange, SessionPermissions, UpdateError,
};

pub(crate) use path::{is_under, lexical};
pub(crate) use path_pattern::{closed_patterns, deny_patterns_for};
pub use path_pattern::{
    closed_to, denied_altogether, denied_to_components, deny_patterns, literal_pattern,
    look_for_closed, normal_patterns,
};
pub use protected_place::{
    CONFIGURATION_FOLDERS, PROGRAM_SETTINGS, SHELL_PROFILES, is_protected_by_name,
};
pub use visible::{visible, visible_line};

use serde::{Deserialize, Serialize};

/// How calls that no rule covers are treated (Agent SDK reference, `PermissionMode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Ask.
    #[default]
    Default,
    /// Edits inside the workspace run; other calls need permission.
    AcceptEdits,
    /// Calls that change anything do not run.
    Plan,
    /// Never ask: calls that no allow rule covers are denied.
    DontAsk,
    /// Everything runs unless a deny or ask rule applies.
    BypassPermissions,
    /// Like [`AcceptEdits`](Self::AcceptEdits), under the name in which editors start sessions. No model judges calls.
    Auto,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 6] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::DontAsk,
        Self::BypassPermissions,
        Self::Auto,
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
            Self::Auto => "auto",
        }
    }

    /// Whether edits inside the workspace run unasked.
    #[must_use]
    pub fn accepts_edits(self) -> bool {
        matches!(self, Self::AcceptEdits | Self::Auto)
    }

    /// The mode with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
