//! Requests of calls for an agent.

use crate::tools::{enter_worktree::EnterWorktreeOutput, task::TaskInput};

/// A call of the Task tool that the session has to carry out.
#[derive(Debug)]
pub(in crate::session) struct AgentRequest {
    pub(in crate::session) index: usize,
    pub(in crate::session) number: u32,
    pub(in crate::session) input: TaskInput,
    /// The worktree to work in, if not the parent's directory.
    pub(in crate::session) worktree: Option<EnterWorktreeOutput>,
}
