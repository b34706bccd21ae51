//! Calls that were allowed to run, with the reason. Includes calls of core tools, which produce no effect.

use alloc::string::String;
use core::fmt;

use crate::effect::EffectId;

/// A call that was allowed to run ([`Session::approved_calls`](super::Session::approved_calls)).
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

impl fmt::Display for ApprovedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, id, cause) = (&self.tool_name, &self.tool_use_id, &self.cause);
        write!(f, "{tool} ({id}) may run: {cause}")
    }
}
