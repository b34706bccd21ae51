//! Hooks of a generated world.

use alloc::vec::Vec;

use serde_json::{Value, json};
use windlass_core::{
    effect::Answer,
    hook::{FailurePolicy, HookAnswer, HookCall, HookEvent, HookKind, HookMatcher},
    id::Seeded,
    json::RawJson,
};

use super::message;
use crate::sim::exchange::pick;

/// Two hooks for about half of the events.
pub(super) fn registered(dice: &mut Seeded) -> Vec<HookMatcher> {
    let policies = [
        None,
        Some(FailurePolicy::Continue),
        Some(FailurePolicy::Ask),
        Some(FailurePolicy::Block),
    ];
    let mut hooks = Vec::new();
    for event in HookEvent::ALL {
        if dice.below(2) == 0 {
            let mut matcher = HookMatcher::new(event, ["one", "two"]);
            matcher.timeout_ms = dice.below(20_000);
            matcher.on_failure = policies[pick(dice, 4)];
            if dice.below(4) == 0 {
                matcher.kind = HookKind::Narrowing;
            }
            hooks.push(matcher);
        }
    }
    hooks
}

/// A random answer of a hook.
pub(super) fn generate(dice: &mut Seeded, call: &HookCall, foreground: bool) -> Vec<Answer> {
    let mut answers = Vec::new();
    if dice.below(4) == 0 {
        answers.push(Answer::HookProgress {
            stdout: "looking".into(),
            stderr: "".into(),
        });
    }
    answers.push(Answer::Hook(answer(dice, call, foreground)));
    answers
}

fn answer(dice: &mut Seeded, call: &HookCall, foreground: bool) -> HookAnswer {
    let event = call.event;
    let specific = |mut fields: Value| {
        fields["hookEventName"] = json!(event.name());
        output(&json!({"hookSpecificOutput": fields}))
    };
    let said = dice.below(10);
    match (said, event) {
        (0, _) => HookAnswer::Exited {
            code: Some(2),
            stdout: "".into(),
            stderr: "not like this".into(),
        },
        (1, _) => output(&json!({"async": true})),
        (2, _) => output(&json!({"verdict": "deny", "reason": "no"})),
        (3 | 4, HookEvent::PreToolUse) => {
            let decision = ["allow", "ask", "deny"][pick(dice, 3)];
            specific(json!({"permissionDecision": decision, "additionalContext": "note this"}))
        }
        (5 | 6, HookEvent::PreToolUse) => {
            let input: Value = message::input(dice, foreground)
                .decode()
                .unwrap_or_default();
            specific(json!({"permissionDecision": "allow", "updatedInput": input}))
        }
        (3..7, HookEvent::PermissionRequest) => {
            let decision = match dice.below(3) {
                0 => json!({"behavior": "deny"}),
                1 => json!({"behavior": "allow"}),
                _ => {
                    let input: Value = message::input(dice, foreground)
                        .decode()
                        .unwrap_or_default();
                    json!({"behavior": "allow", "updatedInput": input})
                }
            };
            specific(json!({"decision": decision}))
        }
        (3..6, HookEvent::PostToolUse) => {
            specific(json!({"updatedMCPToolOutput": "less", "additionalContext": "note this"}))
        }
        (3..6, event) if event.takes_context() => {
            specific(json!({"additionalContext": "note this"}))
        }
        (7, _) => output(&json!({"systemMessage": "seen", "suppressOutput": true})),
        _ => output(&json!({})),
    }
}

fn output(value: &Value) -> HookAnswer {
    match RawJson::encode(value) {
        Ok(json) => HookAnswer::Output(json),
        Err(error) => HookAnswer::Failed(error.reason),
    }
}
