//! The identity of a thread.

use alloc::string::String;

use super::Thread;
use crate::{hook::input::AgentName, permission::Narrowing};

impl Thread {
    /// Makes it the thread of a subagent.
    pub(in crate::session) fn of(mut self, agent: AgentName) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Its number in effect ids; 0 is the main thread.
    pub(in crate::session) fn number(&self) -> u32 {
        self.number
    }

    /// Whether it is the conversation with the application.
    pub(in crate::session) fn is_main(&self) -> bool {
        self.number == 0
    }

    /// The subagent; none on the main thread.
    pub(in crate::session) fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// The agent in a permission request; none on the main thread.
    pub(in crate::session) fn agent_id(&self) -> Option<String> {
        self.agent.as_ref().map(|agent| agent.agent_id.clone())
    }

    /// The call that it answers, as in messages; none on the main thread.
    pub(in crate::session) fn parent_tool_use_id(&self) -> Option<String> {
        self.parent_tool_use_id.clone()
    }

    /// Sets the call that it answers.
    pub(in crate::session) fn answer_call(&mut self, tool_use_id: Option<String>) {
        self.parent_tool_use_id = tool_use_id;
    }

    /// Its restrictions relative to the session; none for the main thread.
    pub(in crate::session) fn narrowing(&self) -> Option<&Narrowing> {
        self.narrowing.as_ref()
    }

    /// Sets its restrictions relative to the session.
    pub(in crate::session) fn narrow(&mut self, narrowing: Option<Narrowing>) {
        self.narrowing = narrowing;
    }
}
