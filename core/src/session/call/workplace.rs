//! The directories and shell state of a thread.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use crate::tool::ShellState;

/// Where a thread currently works.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Workplace {
    /// Directories that were the working directory before.
    left: Vec<String>,
    /// The shell state that commands left; none before the first command.
    shell: Option<Box<ShellState>>,
}

impl Workplace {
    /// The workplace of a new subagent: in its parent's directory, with a shell state of its own.
    pub(in crate::session) fn of_agent(&self) -> Self {
        Self::restored(self.left.clone(), None)
    }

    /// The previous working directories.
    pub(super) fn left(&self) -> &[String] {
        &self.left
    }

    /// Whether the working directory differs from the one the session began in.
    pub(in crate::session) fn has_moved(&self) -> bool {
        !self.left.is_empty()
    }

    /// Commands start in this directory from now on, like everything else; the previous one is recorded.
    pub(super) fn move_to(&mut self, directory: &str, left: String) {
        if !self.left.contains(&left) {
            self.left.push(left);
        }
        if let Some(shell) = &mut self.shell {
            shell.directory = directory.to_owned();
        }
    }

    /// The shell state that commands left.
    pub(super) fn shell(&self) -> Option<&ShellState> {
        self.shell.as_deref()
    }

    /// A copy of it, for the next command.
    pub(super) fn copy_of_shell(&self) -> Option<Box<ShellState>> {
        self.shell.clone()
    }

    /// Stores the shell state after a command.
    pub(super) fn take_shell(&mut self, shell: Box<ShellState>) {
        self.shell = Some(shell);
    }

    /// The state for snapshots, in this order.
    pub(in crate::session) fn state(&self) -> (Vec<String>, Option<Box<ShellState>>) {
        let Self { left, shell } = self.clone();
        (left, shell)
    }

    /// Restores it from that state.
    pub(in crate::session) fn restored(left: Vec<String>, shell: Option<Box<ShellState>>) -> Self {
        Self { left, shell }
    }
}
