//! What is denied does not run, whoever allows it.
//!
//! Judged without the judge: by the names of tools that are denied altogether, and by whatever the test
//! itself knows to be forbidden.

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

/// A call that must never run, in the words of the test: gets the call and the real paths it names, and gives
/// the reason.
pub type Forbidden = Box<dyn Fn(&ToolCall, &[String]) -> Option<String>>;

/// The oracle of this module. A test that knows more than names adds it with [`Deny::also`].
#[derive(Default)]
pub struct Deny {
    also: Option<Forbidden>,
    /// The real paths of calls, by agent, turn and call.
    resolved: BTreeMap<(u32, u32, u32), Vec<String>>,
}

impl core::fmt::Debug for Deny {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Deny").finish_non_exhaustive()
    }
}

impl Deny {
    /// Calls that must never run beside those of tools that are denied altogether.
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

/// The rule that denies a tool altogether, under the name it has or one it had.
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
