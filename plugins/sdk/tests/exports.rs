//! A plugin with both kinds of hooks, as an author writes it.
#![allow(clippy::unwrap_used)]

use windlass_plugin::{HookError, HookEvent, Judgement, Narrowing};

#[derive(serde::Deserialize)]
struct Call {
    tool_name: String,
}

fn judge(event: &HookEvent) -> Result<Judgement, HookError> {
    let call: Call = event.input()?;
    Ok(match call.tool_name.as_str() {
        "Bash" => Judgement::deny("no shell"),
        "Read" => Narrowing::new().without("**/.env").into(),
        _ => Judgement::Pass,
    })
}

fn observe(event: &HookEvent) -> Result<(), String> {
    match event.event.as_str() {
        "Stop" => Ok(()),
        other => Err(format!("nobody asked for {other}")),
    }
}

windlass_plugin::export_declaration!("hooks.json");
windlass_plugin::export_judge!(judge);
windlass_plugin::export_observer!(observe);

#[test]
fn functions_become_hooks_and_answer_by_event() {
    let event = |name: &str, tool: &str| HookEvent {
        hook: "Policy".to_owned(),
        event: name.to_owned(),
        input: format!(r#"{{"tool_name":"{tool}"}}"#),
        tool_use_id: None,
    };
    let judged = judge(&event("PreToolUse", "Bash")).unwrap();
    assert!(matches!(judged, Judgement::Deny(reason) if reason == "no shell"));
    let judged = judge(&event("PreToolUse", "Read")).unwrap();
    assert!(matches!(judged, Judgement::Narrow(narrowing) if narrowing.deny_paths.len() == 1));
    assert!(observe(&event("PreToolUse", "Bash")).is_err());
}
