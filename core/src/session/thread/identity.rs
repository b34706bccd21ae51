//! Whose conversation a thread is.

use alloc::string::String;

use super::Thread;
use crate::{hook::input::AgentName, permission::Narrowing};

impl Thread {
    /// The same as the thread of a subagent.
    pub(in crate::session) fn of(mut self, agent: AgentName) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Its number in effect ids; 0 is the main thread.
    pub(in crate::session) fn number(&self) -> u32 {
        self.number
    }

    /// Whether it is the conversation with whoever embeds the session.
    pub(in crate::session) fn is_main(&self) -> bool {
        self.number == 0
    }

    /// The subagent; none on the main thread.
    pub(in crate::session) fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// The agent that a question is asked for; none on the main thread.
    pub(in crate::session) fn agent_id(&self) -> Option<String> {
        self.agent.as_ref().map(|agent| agent.agent_id.clone())
    }

    /// The call that it answers, as messages name it; none on the main thread.
    pub(in crate::session) fn parent_tool_use_id(&self) -> Option<String> {
        self.parent_tool_use_id.clone()
    }

    /// It works on the answer to this call from now on.
    pub(in crate::session) fn answer_call(&mut self, tool_use_id: Option<String>) {
        self.parent_tool_use_id = tool_use_id;
    }

    /// What it may less than the session; none for the main thread.
    pub(in crate::session) fn narrowing(&self) -> Option<&Narrowing> {
        self.narrowing.as_ref()
    }

    /// It may less than the session from now on, by this.
    pub(in crate::session) fn narrow(&mut self, narrowing: Option<Narrowing>) {
        self.narrowing = narrowing;
    }
}
