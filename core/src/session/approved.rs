//! Calls that were let run, with why: those of the core's own tools too, which no effect shows.

use alloc::{borrow::ToOwned, string::String};

use super::{Session, Shared, Thread};
use crate::effect::{EffectId, Stage};

/// A call that was let run ([`Session::approved_calls`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedCall {
    /// The effect that runs it. Calls of tools that the core runs itself have its name only: no effect of it goes out.
    pub effect: EffectId,
    /// The model's id of the call. Each thread has ids of its own: an agent's call may have the id of one of the conversation.
    pub tool_use_id: String,
    /// The call that the agent works on which makes this one, as messages have it; none on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// The tool, as the model called it.
    pub tool_name: String,
    /// Why it may run.
    pub cause: String,
}

impl Session {
    /// The calls that the last input let run, in the order in which they were: for whoever keeps account of what an agent did. A call that was lost and runs once more ([`RetryClass`](crate::tool::RetryClass))
    /// is there once more.
    #[must_use]
    pub fn approved_calls(&self) -> &[ApprovedCall] {
        &self.shared.approved_calls
    }
}

impl Thread {
    /// Records why a call may run. It runs from now on.
    pub(super) fn let_run(&mut self, shared: &mut Shared, index: usize, cause: String) {
        let effect = self.call_effect(shared, index, Stage::Run);
        let parent_tool_use_id = self.parent_tool_use_id();
        let call = &mut self.run.calls[index];
        shared.approved_calls.push(ApprovedCall {
            effect,
            tool_use_id: call.id().to_owned(),
            parent_tool_use_id,
            tool_name: call.tool_name().to_owned(),
            cause: cause.clone(),
        });
        call.let_run(cause, shared.now.mono);
    }
}
