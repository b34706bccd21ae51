//! A call that requires the consent of a person does not run before a person, or a hook in their place, has allowed it.

use alloc::collections::BTreeSet;

use serde_json::Value;
use windlass_core::{
    ApprovedCall,
    effect::{Answer, Effect, EffectId, Input, Output, PermissionResponse, Stage},
    hook::{HookAnswer, HookEvent, HookKind},
    tool::CoreTool,
};

use super::{Check, Oracle, View, Violation};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Consents {
    /// Trusted hooks that may answer in place of a person.
    hooks: BTreeSet<EffectId>,
    /// Calls that have been allowed, by agent, turn and call.
    given: BTreeSet<(u32, u32, u32)>,
}

impl Oracle for Consents {
    fn name(&self) -> &'static str {
        "consent"
    }

    fn input(&mut self, _view: &View<'_>, input: &Input) -> Check {
        let Input::Answer(id, answer) = input else {
            return Ok(());
        };
        let agrees = match answer {
            Answer::Permission(PermissionResponse::Allow { .. }) => true,
            Answer::Tool(_) => id.stage == Stage::Ask,
            Answer::Hook(said) => self.hooks.contains(id) && allows(said),
            _ => false,
        };
        if agrees {
            self.given.insert((id.agent, id.turn, id.call));
        }
        Ok(())
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(id, Effect::RunHook(call)) = output
            && call.kind == HookKind::Trusted
            && matches!(
                call.event,
                HookEvent::PreToolUse | HookEvent::PermissionRequest
            )
        {
            self.hooks.insert(*id);
        }
        Ok(())
    }

    fn approved(&mut self, _view: &View<'_>, call: &ApprovedCall) -> Check {
        let is_persons = [CoreTool::AskUserQuestion, CoreTool::ExitPlanMode]
            .map(CoreTool::name)
            .contains(&call.tool_name.as_str());
        let id = call.effect;
        if !is_persons || self.given.contains(&(id.agent, id.turn, id.call)) {
            return Ok(());
        }
        Err(Violation::NoConsent {
            effect: id,
            tool: call.tool_name.clone(),
        })
    }
}

/// Whether a hook's answer allows the call. Parsed independently of the core, field by field.
fn allows(answer: &HookAnswer) -> bool {
    let text = match answer {
        HookAnswer::Output(json) => json.get(),
        HookAnswer::Exited { stdout, .. } => stdout.as_str(),
        HookAnswer::Failed(_) => return false,
        new => unreachable!("a new kind of answer is read here: {new:?}"),
    };
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let specific = &said["hookSpecificOutput"];
    said["decision"] == "approve"
        || specific["permissionDecision"] == "allow"
        || specific["decision"]["behavior"] == "allow"
}
