//! A denied call does not run, even if something else allows it.
//!
//! Checked without the permission code: by the names of tools that are denied completely, and by a predicate that a test
//! provides.

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use windlass_core::{
    ApprovedCall,
    effect::{Answer, Effect, EffectId, Input, Output, Stage},
    spec::Spec,
    tool::ToolCall,
};

use super::{Check, Oracle, View, Violation};

/// A predicate for calls that must never run: gets the call and the real paths that it names, and returns the reason if the
/// call is forbidden.
pub type Forbidden = Box<dyn Fn(&ToolCall, &[String]) -> Option<String>>;

/// The oracle of this module. A test adds its own predicate with [`Deny::also`].
#[derive(Default)]
pub struct Deny {
    also: Option<Forbidden>,
    /// The real paths named by calls, by agent, turn and call.
    resolved: BTreeMap<(u32, u32, u32), Vec<String>>,
}

impl core::fmt::Debug for Deny {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deny").finish_non_exhaustive()
    }
}

impl Deny {
    /// Adds a predicate to the check of tools that are denied completely.
    #[must_use]
    pub fn also(forbidden: Forbidden) -> Self {
        Self {
            also: Some(forbidden),
            ..Self::default()
        }
    }
}

impl Oracle for Deny {
    fn name(&self) -> &'static str {
        "deny"
    }

    fn input(&mut self, _view: &View<'_>, input: &Input) -> Check {
        if let Input::Answer(id, Answer::Resolved(paths)) = input
            && id.stage == Stage::Resolve
        {
            let real = paths.iter().flatten().map(|real| real.path.clone());
            self.resolved.insert(call_of(*id), real.collect());
        }
        Ok(())
    }

    fn approved(&mut self, view: &View<'_>, call: &ApprovedCall) -> Check {
        match by_name(view.spec, &call.tool_name) {
            None => Ok(()),
            Some(why) => Err(denied(call.effect, &call.tool_name, why)),
        }
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        let Output::Effect(id, Effect::CallTool(call)) = output else {
            return Ok(());
        };
        let none = Vec::new();
        let paths = self.resolved.get(&call_of(*id)).unwrap_or(&none);
        let also = || self.also.as_ref().and_then(|also| also(call, paths));
        match by_name(view.spec, &call.name).or_else(also) {
            None => Ok(()),
            Some(why) => Err(denied(*id, &call.name, why)),
        }
    }
}

/// The rule that denies a tool completely, under its current or a former name.
fn by_name(spec: &Spec, name: &str) -> Option<String> {
    let rules = &spec.policy.permissions.rules.deny;
    let present = spec.tool(name).map_or(name, |tool| tool.name.as_str());
    let is_it = |rule: &String| [name, present].contains(&rule.trim());
    let rule = rules.iter().map(ToString::to_string).find(is_it)?;
    Some(format!("the deny rule {rule}"))
}

fn denied(effect: EffectId, tool: &str, why: String) -> Violation {
    Violation::Denied {
        effect,
        tool: tool.to_string(),
        why,
    }
}

fn call_of(id: EffectId) -> (u32, u32, u32) {
    (id.agent, id.turn, id.call)
}
