//! A session that goes on with another spec.

use alloc::sync::Arc;

use super::{Session, Shared, Thread, agents::Child};
use crate::{
    permission::{SessionPermissions, UpdateError},
    spec::Spec,
};

impl Session {
    /// Goes on with another spec, from the next prompt on. The conversation stays, and so does what was chosen while it went on:
    /// permissions, mode, model, thinking, effort, where the agents work and what they have noted. What runs in the background
    /// runs on.
    ///
    /// # Errors
    /// [`ConfigureError`]; the session is as before.
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
            // What an agent is told follows from what the main thread is told.
            let fresh = Child::with(&self.main, child.thread.number(), child.facts.clone());
            let parent_tool_use_id = child.thread.parent_tool_use_id();
            child.thread.begin_again(&self.shared, fresh.thread);
            child.thread.answer_call(parent_tool_use_id);
        }
        Ok(())
    }
}

impl Thread {
    /// Takes the place of a fresh thread, with all that decides in this one.
    fn begin_again(&mut self, shared: &Shared, fresh: Self) {
        let state = self.state();
        let history = self.context.take_history();
        *self = state.restored(shared, fresh, history);
    }
}

/// A spec that a session does not go on with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigureError {
    /// A conversation goes on, or the session was restored and not told what is still running.
    #[error("the session is busy: configure it when `Session::is_idle` says that it is not")]
    Busy,
    /// Outputs wait to be polled, which follow from the spec before.
    #[error("poll the session until it returns nothing before configuring it")]
    NotDrained,
    /// What was allowed while the session ran does not apply under the spec.
    #[error("what was allowed in the session does not apply any more: {0}")]
    Permissions(#[from] UpdateError),
}
