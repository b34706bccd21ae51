//! Interrupts of a session that is ending already: nothing of how it ends changes, but for hooks that are waited for no longer.

use serde_json::json;
use windlass_core::{
    Input, Phase, Spec,
    effect::{Answer, Stage},
    hook::{HookEvent, HookMatcher, Occurrence, input::Notification},
    message::ResultSubtype,
    money::Usd,
};

use crate::harness::{Bench, Reply, asking_spec, spec_with, sse, tool, tool_use};

fn watched(event: HookEvent) -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.persist = true;
    spec.policy.hooks = vec![HookMatcher::new(event, ["watch".to_owned()])];
    spec
}

fn errors(bench: &Bench) -> String {
    bench.result().errors.clone().unwrap_or_default().join("\n")
}

/// A run that is over, with one result.
fn is_over(bench: &Bench) {
    assert!(bench.session.is_idle() && bench.pending.is_empty());
    assert_eq!(bench.results().len(), 1);
}

#[test]
fn loop_13_a_run_that_is_being_stopped_still_says_why_after_an_interrupt() {
    let mut bench = Bench::new(watched(HookEvent::Notification));
    bench.prompt("go");
    // A hook is still looking at something else.
    bench.input(Input::Occurred(Occurrence::Notification(Notification {
        message: "look here".into(),
        title: None,
        notification_type: "idle_prompt".into(),
    })));
    let (id, _) = bench.of(Stage::SavePrompt);
    bench.answer(id, Answer::PersistFailed("the disk is full".into()));
    assert_eq!(bench.session.phase(), Phase::Stopping);
    bench.interrupt();
    assert!(bench.results().is_empty());
    let (hook, _) = bench.of(Stage::Hook(HookEvent::Notification, 1));
    assert_eq!(bench.cancelled(), [hook], "once");
    bench.answer(hook, Answer::Cancelled);
    is_over(&bench);
    assert!(errors(&bench).contains("the disk is full"));
}

#[test]
fn loop_13_an_interrupt_of_a_run_that_is_being_stopped_stops_the_hooks_that_began_since() {
    let mut bench = Bench::new(watched(HookEvent::PostToolUseFailure));
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.saved();
    bench.interrupt();
    let (call, _) = bench.call("a");
    bench.answer(call, Answer::Cancelled);
    let (hook, _) = bench.of(Stage::Hook(HookEvent::PostToolUseFailure, 1));
    assert_eq!(bench.session.phase(), Phase::Stopping);
    assert_eq!(bench.cancelled(), [call]);
    bench.interrupt();
    bench.interrupt();
    assert_eq!(bench.cancelled(), [call, hook]);
    bench.answer(hook, Answer::Cancelled);
    assert_eq!(bench.session.phase(), Phase::SavingEnd);
    bench.saved();
    is_over(&bench);
    assert_eq!(errors(&bench), "interrupted");
}

#[test]
fn loop_13_an_interrupt_while_the_end_is_written_waits_for_it() {
    let mut spec = asking_spec(vec![tool("Note")]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.saved();
    bench.interrupt();
    let (id, _) = bench.question();
    bench.answer(id, Answer::Cancelled);
    for _ in 0..2 {
        assert_eq!(bench.session.phase(), Phase::SavingEnd);
        assert_eq!(bench.pending_stages(), [Stage::SaveResults]);
        assert!(bench.results().is_empty());
        bench.interrupt();
    }
    assert_eq!(bench.cancelled(), [id], "writing is never cancelled");
    let last = bench.saved();
    is_over(&bench);
    bench.prompt("go on");
    assert_eq!(bench.saved().parent, Some(last.uuid), "it was written");
}

/// A run that a budget ends while a call waits, at the point where the call's result is being written.
fn out_of_budget() -> Bench {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.persist = true;
    spec.policy.limits.max_budget = Usd::parse("0.01");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::stream(sse(
        &[tool_use("a", "Note", json!({}))],
        "tool_use",
        &json!({"input_tokens": 100_000}),
        &json!({"output_tokens": 0}),
    )));
    bench.saved();
    assert_eq!(bench.session.phase(), Phase::SavingEnd);
    bench
}

#[test]
fn loop_13_a_run_that_a_limit_ended_was_not_interrupted() {
    let mut bench = out_of_budget();
    bench.interrupt();
    assert!(bench.results().is_empty());
    bench.saved();
    is_over(&bench);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxBudgetUsd);
}

#[test]
fn loop_13_an_end_that_cannot_be_written_is_an_end_all_the_same() {
    let mut bench = out_of_budget();
    let (id, _) = bench.of(Stage::SaveResults);
    bench.answer(id, Answer::PersistFailed("the disk is full".into()));
    is_over(&bench);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
    assert!(errors(&bench).contains("the disk is full"));
}

#[test]
fn loop_13_an_interrupt_while_hooks_look_at_a_failure_only_stops_the_hooks() {
    let mut bench = Bench::new(watched(HookEvent::StopFailure));
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::error(400, "invalid_request_error", "no such thing"));
    assert_eq!(bench.session.phase(), Phase::Finishing);
    let (hook, _) = bench.of(Stage::Hook(HookEvent::StopFailure, 1));
    bench.interrupt();
    assert_eq!(bench.cancelled(), [hook]);
    assert!(bench.results().is_empty());
    bench.answer(hook, Answer::Cancelled);
    is_over(&bench);
    assert!(errors(&bench).contains("no such thing"));
}
