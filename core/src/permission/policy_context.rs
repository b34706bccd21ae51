//! The context of a permission decision.

use alloc::string::String;

use super::{CommandConfinement, Mode, Narrowing, Rule, Rules, path::is_under};
use crate::environment::Environment;

/// Everything except the call itself that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct PolicyContext<'a> {
    /// The current rules.
    pub rules: &'a Rules,
    /// The current mode.
    pub mode: Mode,
    /// Whether reading tools run without permission in the workspace.
    pub free_workspace_reads: bool,
    /// Facts about the host.
    pub environment: &'a Environment,
    /// The directories of the workspace besides the working directory.
    pub directories: &'a [String],
    /// Previous working directories. Deny and ask rules still apply there, allow rules do not.
    pub left: &'a [String],
    /// Deny rules of the calling subagent in addition to those of the session.
    pub own_deny: &'a [Rule],
    /// The restrictions of the calling subagent relative to the session.
    pub narrowing: Option<&'a Narrowing>,
    /// The name prefixes of tools that no mode allows without asking
    /// ([`SessionPermissions::guarded`](super::SessionPermissions::guarded)).
    pub guarded: &'a [String],
    /// How the host confines commands, if it does.
    pub confinement: Option<&'a CommandConfinement>,
}

impl<'a> PolicyContext<'a> {
    /// A context with these rules and this mode, and defaults for the rest.
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

    /// The mode of the caller: the main thread or a subagent.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.narrowing
            .map_or(self.mode, |narrowing| narrowing.mode_under(self.mode))
    }

    /// The mode that decides about a tool that no rule covers.
    pub(super) fn mode_for(&self, tool: &str) -> Mode {
        let is_guarded = || self.guarded.iter().any(|begin| tool.starts_with(begin));
        match self.mode() {
            mode if (mode.accepts_edits() || mode == Mode::BypassPermissions) && is_guarded() => {
                Mode::Default
            }
            mode => mode,
        }
    }

    /// The directories of the workspace: the working directory and the additional ones.
    pub(crate) fn workspace_roots(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        core::iter::once(&self.environment.cwd)
            .chain(self.directories)
            .map(|root| root.as_str())
            .filter(|root| !root.is_empty())
    }

    pub(crate) fn in_workspace(&self, path: &str) -> bool {
        self.workspace_roots().any(|root| is_under(root, path))
    }

    /// The deny rules, including those of the calling subagent.
    pub(super) fn deny_rules(&self) -> impl Iterator<Item = &'a Rule> + Clone + use<'a> {
        let narrowed = self.narrowing.map_or(&[][..], |narrowing| &narrowing.deny);
        self.rules.deny.iter().chain(self.own_deny).chain(narrowed)
    }
}
