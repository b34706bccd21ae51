//! Calls that were allowed to run, with the reason. Includes calls of core tools, which produce no effect.

use alloc::{borrow::ToOwned, string::String};

use super::{Session, Shared, Thread};
use crate::effect::{EffectId, Stage};

/// A call that was allowed to run ([`Session::approved_calls`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedCall {
    /// The effect that runs it. For a core tool it is only a name: no such effect is emitted.
    pub effect: EffectId,
    /// The model's id of the call. Ids are unique only within a thread: a subagent's call may have the same id as one of the main
    /// thread.
    pub tool_use_id: String,
    /// The call that started the subagent making this call, as in messages; none on the main thread.
    pub parent_tool_use_id: Option<String>,
    /// The tool, by the name the model used.
    pub tool_name: String,
    /// Why it was allowed to run.
    pub cause: String,
}

impl Session {
    /// The calls that the last input allowed to run, in that order, for audit logs. A call that was lost and is run again
    /// ([`RetryClass`](crate::tool::RetryClass)) is listed again.
    #[must_use]
    pub fn approved_calls(&self) -> &[ApprovedCall] {
        &self.shared.approved_calls
    }
}

impl Thread {
    /// Records why a call may run, and marks it as running.
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
