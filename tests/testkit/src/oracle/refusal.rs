//! A call that a person or a hook has refused does not run, whatever else allows it.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
};

use serde_json::Value;
use windlass_core::{
    ApprovedCall,
    effect::{Answer, Effect, EffectId, Input, Output, PermissionResponse, Stage},
    hook::{HookAnswer, HookCall, HookEvent, HookKind, InterpretedAnswer},
};

use super::{Check, Oracle, View, Violation};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Refusal {
    /// Hooks that run before a call, or answer its permission question.
    hooks: BTreeMap<EffectId, HookCall>,
    /// Refused calls, by agent, turn and call, with the origin of the refusal.
    refused: BTreeMap<(u32, u32, u32), String>,
}

impl Oracle for Refusal {
    fn name(&self) -> &'static str {
        "refusal"
    }

    fn input(&mut self, view: &View<'_>, input: &Input) -> Check {
        let Input::Answer(id, answer) = input else {
            return Ok(());
        };
        // The answer of a cancelled hook is ignored.
        if !view.running.contains(id) {
            return Ok(());
        }
        let by = match answer {
            Answer::Permission(PermissionResponse::Deny { .. }) => Some("a person".to_string()),
            Answer::Hook(said) => (self.hooks.get(id))
                .filter(|hook| refuses(said, hook.event, hook.kind))
                .map(|hook| format!("the hook {}", hook.hook)),
            _ => None,
        };
        if let Some(by) = by {
            self.refused.insert((id.agent, id.turn, id.call), by);
        }
        Ok(())
    }

    fn approved(&mut self, _view: &View<'_>, call: &ApprovedCall) -> Check {
        self.runs(call.effect, &call.tool_name)
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        let Output::Effect(id, effect) = output else {
            return Ok(());
        };
        match effect {
            Effect::RunHook(call)
                if matches!(
                    call.event,
                    HookEvent::PreToolUse | HookEvent::PermissionRequest
                ) =>
            {
                self.hooks.insert(*id, call.clone());
            }
            // Calls of the permission prompt tool are not calls of the model.
            Effect::CallTool(call) if id.stage == Stage::Run => return self.runs(*id, &call.name),
            _ => {}
        }
        Ok(())
    }
}

impl Refusal {
    fn runs(&self, id: EffectId, tool: &str) -> Check {
        match self.refused.get(&(id.agent, id.turn, id.call)) {
            None => Ok(()),
            Some(by) => Err(Violation::Refused {
                effect: id,
                tool: tool.to_string(),
                by: by.clone(),
            }),
        }
    }
}

/// Whether a valid answer refuses the call. Parsed independently of the core, field by field.
fn refuses(answer: &HookAnswer, event: HookEvent, kind: HookKind) -> bool {
    if matches!(answer.interpret(event, kind), InterpretedAnswer::Failed(_)) {
        return false; // what a failure means is the spec's choice
    }
    let text = match answer {
        HookAnswer::Exited { code: Some(2), .. } => return true,
        HookAnswer::Output(json) => json.get(),
        HookAnswer::Exited { stdout, .. } => stdout.as_str(),
        HookAnswer::Failed(_) => return false,
        new => unreachable!("a new kind of answer is read here: {new:?}"),
    };
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    match kind {
        HookKind::Narrowing => said["verdict"] == "deny",
        HookKind::Trusted => {
            said["decision"] == "block"
                || said["hookSpecificOutput"]["permissionDecision"] == "deny"
                || said["hookSpecificOutput"]["decision"]["behavior"] == "deny"
        }
    }
}
