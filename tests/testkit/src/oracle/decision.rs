//! No tool runs without a recorded decision that names its cause.
//!
//! A call that the host runs goes out as an effect, and must be recorded by then. One of the core's own tools leaves no
//! effect: what shows that it ran is a result that is no error, or an agent that is at work on it.

use alloc::{collections::BTreeSet, string::String};

use windlass_core::{
    ApprovedCall,
    effect::{Effect, EffectId, Output, Stage},
    json::{RawJson, RawObject},
    message::{Message, UserMessage},
    output,
};

use super::{Check, Oracle, View, Violation, message_of};

/// A call as messages tell it: the call that the agent works on which makes it, if an agent does, and its id. Servers have
/// been seen to repeat ids, so that of an agent's call may be that of another's, or of the call that the agent works on.
type CallName = (Option<String>, String);

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Decisions {
    /// Calls that were let run and have no result yet.
    open: BTreeSet<CallName>,
    /// Calls that were let run.
    all: BTreeSet<CallName>,
    /// The effects that run them.
    effects: BTreeSet<EffectId>,
    /// Calls by which the model hands over its answer as a value: they run nothing, so nobody decides about them.
    handed_over: BTreeSet<CallName>,
}

impl Oracle for Decisions {
    fn name(&self) -> &'static str {
        "decision"
    }

    fn approved(&mut self, _view: &View<'_>, call: &ApprovedCall) -> Check {
        if call.cause.trim().is_empty() {
            return Err(Violation::NoDecision {
                effect: call.effect,
                tool: call.tool_name.clone(),
            });
        }
        self.effects.insert(call.effect);
        let call = (call.parent_tool_use_id.clone(), call.tool_use_id.clone());
        self.open.insert(call.clone());
        self.all.insert(call);
        Ok(())
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(id, Effect::CallTool(call)) = output {
            let cause = view.session.decision(*id);
            let is_recorded = id.stage != Stage::Run || self.effects.contains(id);
            return match cause {
                Some(cause) if !cause.trim().is_empty() && is_recorded => Ok(()),
                _ => Err(Violation::NoDecision {
                    effect: *id,
                    tool: call.name.clone(),
                }),
            };
        }
        match message_of(output) {
            Some(Message::User(said)) => {
                self.works(said.parent_tool_use_id.as_ref())?;
                self.results(said)
            }
            Some(Message::Assistant(said)) => {
                let parent = &said.parent_tool_use_id;
                let handed_over = said.message.content.iter().filter_map(handing_over);
                self.handed_over
                    .extend(handed_over.map(|id| (parent.clone(), id)));
                self.works(said.parent_tool_use_id.as_ref())
            }
            _ => Ok(()),
        }
    }
}

impl Decisions {
    /// An agent is at work on a call.
    fn works(&self, call: Option<&String>) -> Check {
        match call {
            // Only the conversation starts agents.
            Some(id) if !self.all.contains(&(None, id.clone())) => {
                Err(undecided(id, "has an agent"))
            }
            _ => Ok(()),
        }
    }

    fn results(&mut self, said: &UserMessage) -> Check {
        for block in &said.message.content {
            let block = RawObject::parse(block.get()).unwrap_or_default();
            let Some(id) = block.get_string("tool_use_id") else {
                continue;
            };
            let call = (said.parent_tool_use_id.clone(), id);
            let was_open = self.open.remove(&call);
            let failed = block.get("is_error").is_some_and(|it| it.get() == "true");
            if !was_open && !failed && !self.handed_over.contains(&call) {
                return Err(undecided(&call.1, "has a result"));
            }
        }
        Ok(())
    }
}

/// The id of a call by which the answer is handed over, if a block is one.
fn handing_over(block: &RawJson) -> Option<String> {
    let block = RawObject::parse(block.get()).ok()?;
    let is_it = block.get_string("name").as_deref() == Some(output::TOOL);
    block.get_string("id").filter(|_| is_it)
}

fn undecided(tool_use_id: &str, what: &'static str) -> Violation {
    Violation::Undecided {
        tool_use_id: tool_use_id.into(),
        what,
    }
}
