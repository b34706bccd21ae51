//! Changing the spec of a session.

use alloc::sync::Arc;

use super::{Session, Shared, Thread, agents::Child};
use crate::{
    permission::{SessionPermissions, UpdateError},
    spec::Spec,
};

impl Session {
    /// Replaces the spec, from the next prompt on. The conversation is kept, and so is what changed during the session:
    /// permissions, mode, model, thinking, effort, the directories of agents and the state of core tools. Background tasks
    /// continue.
    ///
    /// # Errors
    /// [`ConfigureError`]; the session is unchanged.
    pub fn configure(&mut self, spec: Arc<Spec>) -> Result<(), ConfigureError> {
        if self.awaits_resumed || !self.is_idle() {
            return Err(ConfigureError::Busy);
        }
        if !self.shared.out.is_empty() {
            return Err(ConfigureError::NotDrained);
        }
        let permissions = &self.shared.permissions;
        let (mode, updates) = (permissions.mode(), permissions.updates());
        let guarded = permissions.guarded().to_vec();
        self.shared.permissions = SessionPermissions::restore(
            &spec.policy.permissions,
            &spec.environment,
            mode,
            updates,
        )?
        .with_guarded(guarded);
        self.shared.spec = Arc::clone(&spec);
        self.main.begin_again(&self.shared, Thread::new(0, spec));
        for child in self.children.values_mut() {
            // The spec of an agent is derived from that of the main thread.
            let fresh = Child::with(&self.main, child.thread.number(), child.facts.clone());
            let parent_tool_use_id = child.thread.parent_tool_use_id();
            child.thread.begin_again(&self.shared, fresh.thread);
            child.thread.answer_call(parent_tool_use_id);
        }
        Ok(())
    }
}

impl Thread {
    /// Moves the state of this thread into a fresh one, which replaces it.
    fn begin_again(&mut self, shared: &Shared, fresh: Self) {
        let state = self.state();
        let history = self.context.take_history();
        *self = state.restored(shared, fresh, history);
    }
}

/// Why the spec cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigureError {
    /// A run is in progress, or the session was restored and has not been told what is still running.
    #[error("the session is busy: configure it when `Session::is_idle` says that it is not")]
    Busy,
    /// Outputs that follow from the previous spec have not been polled.
    #[error("poll the session until it returns nothing before configuring it")]
    NotDrained,
    /// Permission changes made during the session cannot be applied under the new spec.
    #[error("what was allowed in the session does not apply any more: {0}")]
    Permissions(#[from] UpdateError),
}
