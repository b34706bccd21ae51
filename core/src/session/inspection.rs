//! What an embedder may look at besides the main conversation: decisions, and subagents.

use super::{ApprovedCall, Session};
use crate::{effect::EffectId, history::History};

impl Session {
    /// The reason for the permission decision on the tool call that this effect runs. It is recorded before the call runs and
    /// kept until the results of the response are in the history. None for every other effect.
    #[must_use]
    pub fn decision(&self, id: EffectId) -> Option<&str> {
        if let Some(task) = self.shared.task_of(id) {
            return task.decision.as_deref();
        }
        match id.agent {
            0 => self.main.decision(id),
            number => self.children.get(&number)?.thread.decision(id),
        }
    }

    /// The calls that the last input allowed to run, in that order, for audit logs. A call that was lost and is run again
    /// ([`RetryClass`](crate::tool::RetryClass)) is listed again.
    #[must_use]
    pub fn approved_calls(&self) -> &[ApprovedCall] {
        &self.shared.approved_calls
    }

    /// The conversation of a subagent so far, by its id.
    #[must_use]
    pub fn agent_history(&self, agent_id: &str) -> Option<&History> {
        let child = (self.children.values()).find(|child| child.facts.id == agent_id)?;
        Some(child.thread.context.history())
    }

    /// All subagents, including those that have ended: the number in their effects ([`EffectId::agent`]), and the id by which
    /// they are resumed and looked up.
    pub fn agents(&self) -> impl Iterator<Item = (u32, &str)> {
        let children = self.children.iter();
        children.map(|(number, child)| (*number, child.facts.id.as_str()))
    }
}
