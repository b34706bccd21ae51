//! A run that was put away while hooks look at it, or after they have: what they said still counts.

use serde_json::json;
use windlass_core::{Spec, effect::Stage, hook::HookEvent};

use crate::{
    harness::{Bench, Reply, spec_with, tool, tool_use},
    restored_state::{hook_says, the_same, watching},
};

/// A session with these hooks, and with a transcript where that is wanted.
fn watched(events: &[HookEvent], persist: bool) -> Spec {
    let mut spec = spec_with(vec![tool("Note"), tool("Look").read_only()]);
    spec.policy.persist = persist;
    spec.policy.hooks = events.iter().copied().map(watching).collect();
    spec
}

#[test]
fn hook_11_a_prompt_waits_for_the_hooks_with_what_they_add_to_it() {
    let spec = || {
        watched(
            &[HookEvent::SessionStart, HookEvent::UserPromptSubmit],
            false,
        )
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        let context = json!({"hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit", "additionalContext": "it is Sunday"}});
        hook_says(bench, HookEvent::UserPromptSubmit, &context);
    };
    let after = |bench: &mut Bench| {
        hook_says(bench, HookEvent::SessionStart, &json!({}));
        let sent = bench.body()["messages"].to_string();
        assert!(
            sent.contains("go") && sent.contains("it is Sunday"),
            "{sent}"
        );
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_14_a_run_that_a_hook_ended_ends_with_the_last_words_of_the_model() {
    let spec = || watched(&[HookEvent::PostToolUse], false);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::message(&[
            json!({"type": "text", "text": "I look."}),
            tool_use("a", "Look", json!({})),
            tool_use("b", "Look", json!({})),
        ]));
        bench.finish("a", "seen");
        let stop = json!({"continue": false, "stopReason": "enough"});
        hook_says(bench, HookEvent::PostToolUse, &stop);
    };
    let after = |bench: &mut Bench| {
        bench.finish("b", "seen");
        hook_says(bench, HookEvent::PostToolUse, &json!({}));
        assert!(bench.session.is_idle());
        assert_eq!(bench.result().result.as_deref(), Some("I look."));
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_10_a_call_that_was_deferred_is_in_the_result() {
    let spec = || watched(&[HookEvent::PreToolUse], true);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        bench.reply(&Reply::call("a", "Note", json!({})));
        bench.saved();
        let defer = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "defer"}});
        hook_says(bench, HookEvent::PreToolUse, &defer);
        assert_eq!(bench.pending_stages(), [Stage::SaveResults]);
    };
    let after = |bench: &mut Bench| {
        bench.saved();
        let result = bench.result();
        assert!(result.deferred_tool_use.is_some(), "{result:?}");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_6_a_hook_that_kept_the_run_from_ending_is_told_so() {
    let spec = || watched(&[HookEvent::Stop], true);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        bench.says("done");
        bench.saved();
        let block = json!({"decision": "block", "reason": "the tests fail"});
        hook_says(bench, HookEvent::Stop, &block);
        assert_eq!(bench.pending_stages(), [Stage::SavePrompt]);
    };
    let after = |bench: &mut Bench| {
        bench.saved();
        bench.says("done now");
        bench.saved();
        let (_, effect) = bench.of(Stage::Hook(HookEvent::Stop, 1));
        let told = format!("{effect:?}");
        assert!(told.contains(r#""stop_hook_active":true"#), "{told}");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_17_hooks_hear_of_a_failure_once() {
    let spec = || watched(&[HookEvent::StopFailure], false);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::error(400, "invalid_request_error", "no such thing"));
    };
    let after = |bench: &mut Bench| {
        hook_says(bench, HookEvent::StopFailure, &json!({}));
        assert!(bench.session.is_idle() && bench.result().is_error);
    };
    the_same(&spec, &before, &after);
}
