//! What holds at the moment of a call.

use alloc::string::String;

use super::{CommandConfinement, Mode, Narrowing, Rule, Rules, path_pattern::is_under};
use crate::environment::Environment;

/// Everything but the call itself that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct PolicyContext<'a> {
    /// The rules in force.
    pub rules: &'a Rules,
    /// The mode in force.
    pub mode: Mode,
    /// Whether reading tools run unasked in the workspace.
    pub free_workspace_reads: bool,
    /// Facts about the host.
    pub environment: &'a Environment,
    /// The directories that belong to the workspace beside the working directory.
    pub directories: &'a [String],
    /// Directories from which the work has moved elsewhere. Rules that deny or ask hold there as well, rules that allow do not.
    pub left: &'a [String],
    /// Deny rules of the calling subagent beside those of the session.
    pub own_deny: &'a [Rule],
    /// What the calling subagent may less than the session.
    pub narrowing: Option<&'a Narrowing>,
    /// What the names of tools begin with that no mode lets run unasked ([`SessionPermissions::guarded`](super::SessionPermissions::guarded)).
    pub guarded: &'a [String],
    /// How the host confines commands, if it does.
    pub confinement: Option<&'a CommandConfinement>,
}

impl<'a> PolicyContext<'a> {
    /// Rules and a mode in an environment, nothing else said.
    #[must_use]
    pub fn new(rules: &'a Rules, mode: Mode, environment: &'a Environment) -> Self {
        Self {
            rules,
            mode,
            free_workspace_reads: false,
            environment,
            directories: &environment.additional_directories,
            left: &[],
            own_deny: &[],
            narrowing: None,
            guarded: &[],
            confinement: None,
        }
    }

    /// The mode in force for whoever calls.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.narrowing
            .map_or(self.mode, |narrowing| narrowing.mode_under(self.mode))
    }

    /// The mode as it decides about a tool that no rule covers.
    pub(super) fn mode_for(&self, tool: &str) -> Mode {
        let is_guarded = || self.guarded.iter().any(|begin| tool.starts_with(begin));
        match self.mode() {
            Mode::BypassPermissions | Mode::AcceptEdits if is_guarded() => Mode::Default,
            mode => mode,
        }
    }

    /// The workspace: the working directory and the additional ones.
    pub(crate) fn workspace_roots(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        core::iter::once(&self.environment.cwd)
            .chain(self.directories)
            .map(|root| root.as_str())
            .filter(|root| !root.is_empty())
    }

    pub(crate) fn in_workspace(&self, path: &str) -> bool {
        self.workspace_roots().any(|root| is_under(root, path))
    }

    /// The deny rules, those of the calling subagent included.
    pub(super) fn deny_rules(&self) -> impl Iterator<Item = &'a Rule> + Clone + use<'a> {
        let narrowed = self.narrowing.map_or(&[][..], |narrowing| &narrowing.deny);
        self.rules.deny.iter().chain(self.own_deny).chain(narrowed)
    }
}
