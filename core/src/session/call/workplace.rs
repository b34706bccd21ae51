//! Where the work of a thread is done.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use crate::tool::ShellState;

/// Where a thread has come to.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Workplace {
    /// Directories that it has left for another working directory.
    left: Vec<String>,
    /// What its commands left behind; none before the first.
    shell: Option<Box<ShellState>>,
}

impl Workplace {
    /// That of an agent as it begins: where its parent works, with a shell of its own.
    pub(in crate::session) fn of_agent(&self) -> Self {
        Self::restored(self.left.clone(), None)
    }

    /// The directories that were left.
    pub(super) fn left(&self) -> &[String] {
        &self.left
    }

    /// Whether it is another than where the session began.
    pub(in crate::session) fn has_moved(&self) -> bool {
        !self.left.is_empty()
    }

    /// Commands begin in this directory from now on, as everything else; the one before is left.
    pub(super) fn move_to(&mut self, directory: &str, left: String) {
        if !self.left.contains(&left) {
            self.left.push(left);
        }
        if let Some(shell) = &mut self.shell {
            shell.directory = directory.to_owned();
        }
    }

    /// What commands have left behind.
    pub(super) fn shell(&self) -> Option<&ShellState> {
        self.shell.as_deref()
    }

    /// The same, for a command that begins with it.
    pub(super) fn copy_of_shell(&self) -> Option<Box<ShellState>> {
        self.shell.clone()
    }

    /// A command has left that behind.
    pub(super) fn take_shell(&mut self, shell: Box<ShellState>) {
        self.shell = Some(shell);
    }

    /// What snapshots keep, in this order.
    pub(in crate::session) fn state(&self) -> (Vec<String>, Option<Box<ShellState>>) {
        let Self { left, shell } = self.clone();
        (left, shell)
    }

    /// The same again.
    pub(in crate::session) fn restored(left: Vec<String>, shell: Option<Box<ShellState>>) -> Self {
        Self { left, shell }
    }
}
