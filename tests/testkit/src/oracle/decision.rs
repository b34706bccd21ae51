//! No tool runs without a recorded decision that names its cause.
//!
//! A call that the host runs is issued as an effect, and its decision must be recorded by then. Calls of the core's own tools
//! issue no effect: that they ran shows in a result that is not an error, or in an agent that works on the call.

use alloc::{collections::BTreeSet, string::String};

use windlass_core::{
    ApprovedCall,
    effect::{Effect, EffectId, Output, Stage},
    json::{RawJson, RawObject},
    message::{Message, UserMessage},
    output,
};

use super::{Check, Oracle, View, Violation, message_of};

/// A call as identified in messages: the call that the calling agent works on, if it is an agent's, and its id. Servers have
/// been observed to reuse ids, so two agents, or an agent and its caller, may have calls with the same id.
type CallName = (Option<String>, String);

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Decisions {
    /// Approved calls that have no result yet.
    open: BTreeSet<CallName>,
    /// Approved calls.
    all: BTreeSet<CallName>,
    /// The effects that run them.
    effects: BTreeSet<EffectId>,
    /// Calls by which the model returns its structured output: they run nothing, so there is no decision.
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
    /// Checks the call that an agent works on.
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

/// The id of a call that returns structured output, if the block is one.
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
