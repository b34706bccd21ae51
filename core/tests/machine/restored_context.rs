//! What a session that was put away knows of the size of its context, and of what was done to make room in it.

use serde_json::{Value, json};
use windlass_core::{
    Phase, Spec,
    context::{ClearedBy, Clearing},
    effect::Stage,
    hook::HookEvent,
};

use crate::{
    compaction,
    harness::{Bench, Reply, spec_with, tool, tool_use},
    restored_state::{hook_says, the_same, watching},
};

fn overloaded() -> Reply {
    Reply::error(529, "overloaded_error", "full")
}

fn too_long() -> Reply {
    Reply::error(400, "invalid_request_error", "prompt is too long: 1 > 0")
}

fn clearing() -> Spec {
    let mut spec = spec_with(vec![tool("Look"), tool("memory")]);
    spec.prompt.context.clearing = Some(Clearing {
        trigger_tokens: 1_000,
        warn_before: 200,
        clear_at_least: 300,
        keep: 2,
        exclude_tools: vec!["memory".into()],
        by: ClearedBy::Core,
        ..Clearing::default()
    });
    spec
}

/// A call after whose response the context holds so many tokens; it runs.
fn looks(bench: &mut Bench, id: &str, tokens: u64) {
    bench.reply(&compaction::sized(
        &[tool_use(id, "Look", json!({}))],
        tokens,
    ));
}

fn sees(bench: &mut Bench, id: &str) {
    bench.finish(id, &format!("result {id} {}", "z".repeat(1_500)));
}

fn cleared(bench: &Bench) -> usize {
    let body = bench.body()["messages"].to_string();
    body.matches("was removed").count()
}

/// What is told of the first compaction.
fn metadata(bench: &Bench) -> Value {
    let lines = bench.lines_of("system");
    let mut boundaries = lines
        .iter()
        .filter(|line| line["subtype"] == "compact_boundary");
    boundaries.next().unwrap()["compact_metadata"].clone()
}

#[test]
fn ctx_5_a_model_that_was_warned_of_clearing_is_not_warned_again() {
    let before = |bench: &mut Bench| {
        bench.prompt("look around");
        for (id, tokens) in [("a", 100), ("b", 200), ("c", 300), ("d", 1_500)] {
            looks(bench, id, tokens);
            sees(bench, id);
        }
        let sent = bench.body()["messages"].to_string();
        assert!(sent.contains("save it now"), "{sent}");
        looks(bench, "e", 1_600);
    };
    let after = |bench: &mut Bench| {
        sees(bench, "e");
        assert_eq!(cleared(bench), 3);
        let sent = bench.body()["messages"].to_string();
        assert_eq!(sent.matches("save it now").count(), 1);
    };
    the_same(&clearing, &before, &after);
}

/// The same where the model has no tool to save anything with.
fn without_memory() -> Spec {
    let mut spec = clearing();
    spec.tools.definitions.pop();
    spec
}

/// Four calls, of whose results the first two are cleared.
fn looks_around(bench: &mut Bench) {
    bench.prompt("look around");
    for (id, tokens) in [("a", 100), ("b", 200), ("c", 300), ("d", 1_500)] {
        looks(bench, id, tokens);
        sees(bench, id);
    }
    assert_eq!(cleared(bench), 2);
}

#[test]
fn ctx_2_results_are_cleared_again_only_when_the_context_has_grown() {
    let before = |bench: &mut Bench| {
        looks_around(bench);
        looks(bench, "e", 950);
    };
    let after = |bench: &mut Bench| {
        sees(bench, "e");
        let first = cleared(bench);
        looks(bench, "f", 1_000);
        sees(bench, "f");
        assert_eq!((first, cleared(bench)), (2, 2));
        looks(bench, "g", 2_500);
        sees(bench, "g");
        assert!(cleared(bench) > 2);
    };
    the_same(&without_memory, &before, &after);
}

#[test]
fn ctx_2_what_was_cleared_counts_no_more_before_the_server_counts_anew() {
    let before = |bench: &mut Bench| {
        looks_around(bench);
        bench.reply(&overloaded());
    };
    let after = |bench: &mut Bench| {
        bench.interrupt();
        bench.prompt("/compact");
        compaction::answer_summary(bench, &Reply::text("Looked."));
        assert!(metadata(bench)["pre_tokens"].as_u64() < Some(1_500));
    };
    the_same(&without_memory, &before, &after);
}

/// A conversation whose compaction hooks are looking at.
fn compacts(bench: &mut Bench) {
    for n in 1..4 {
        bench.prompt(&format!("question {n} {}", "x".repeat(300)));
        bench.reply(&Reply::text(&format!("answer {n} {}", "y".repeat(300))));
    }
    bench.wait(500);
    bench.prompt("/compact keep the names");
}

#[test]
fn ctx_4_a_compaction_that_hooks_look_at_is_the_one_that_was_asked_for() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Note")]);
        spec.policy.hooks = vec![watching(HookEvent::PreCompact)];
        spec
    };
    let after = |bench: &mut Bench| {
        bench.wait(1_000);
        hook_says(bench, HookEvent::PreCompact, &json!({}));
        let asked = compaction::summary_request(bench).to_string();
        assert!(asked.contains("keep the names"), "{asked}");
        compaction::answer_summary(bench, &Reply::text("Names: a.rs."));
        assert_eq!(metadata(bench)["duration_ms"], 1_000);
        assert_ne!(metadata(bench)["pre_tokens"], 0);
    };
    the_same(&spec, &compacts, &after);
}

#[test]
fn ctx_1_what_was_tried_for_a_summary_is_not_tried_again() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Note")]);
        spec.model.retry.max_retries = 2;
        spec
    };
    // Cut to about half, then without tools; then the server is busy.
    let before = |bench: &mut Bench| {
        compacts(bench);
        compaction::answer_summary(bench, &too_long());
        compaction::answer_summary(bench, &Reply::call("t", "Note", json!({})));
        compaction::answer_summary(bench, &overloaded());
        assert_eq!(bench.session.phase(), Phase::CompactingBackoff);
    };
    let after = |bench: &mut Bench| {
        bench.tick();
        let asked = compaction::summary_request(bench);
        assert_eq!(asked["tool_choice"], json!({"type": "none"}));
        assert!(asked.to_string().contains("had to be left out"));
        compaction::answer_summary(bench, &overloaded());
        bench.tick();
        compaction::answer_summary(bench, &overloaded());
        assert!(bench.session.is_idle() && bench.result().is_error);
        assert_eq!(bench.retries().len(), 2);
    };
    the_same(&spec, &before, &after);
}

#[test]
fn ctx_1_the_error_for_which_a_conversation_is_compacted_holds_if_that_fails() {
    let spec = || {
        let mut spec = compaction::full_spec_without_threshold();
        spec.policy.hooks = vec![watching(HookEvent::PreCompact)];
        spec
    };
    let before = |bench: &mut Bench| {
        for n in 1..4 {
            bench.prompt(&format!("question {n}"));
            bench.says(&format!("answer {n}"));
        }
        bench.prompt("next");
        bench.reply(&too_long());
        assert_eq!(bench.session.phase(), Phase::Compacting);
    };
    let after = |bench: &mut Bench| {
        let refusal = json!({"decision": "block", "reason": "not now"});
        hook_says(bench, HookEvent::PreCompact, &refusal);
        assert!(bench.session.is_idle());
        let errors = bench.result().errors.clone().unwrap();
        assert!(errors[0].contains("prompt is too long"), "{errors:?}");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn ctx_4_each_summary_of_a_run_is_written_under_a_name_of_its_own() {
    let spec = || {
        let mut spec = compaction::spec();
        spec.policy.persist = true;
        spec
    };
    let before = |bench: &mut Bench| {
        for tokens in [500, 2_000] {
            bench.prompt(&"x".repeat(400));
            bench.saved();
            bench.reply(&compaction::says(&"y".repeat(400), tokens));
            bench.saved();
        }
        bench.prompt("next");
        bench.saved();
        compaction::answer_summary(bench, &compaction::says("Short.", 2_100));
        bench.saved();
        looks(bench, "a", 100);
        bench.saved();
        bench.call("a");
    };
    let after = |bench: &mut Bench| {
        bench.finish("a", "seen");
        bench.saved();
        bench.reply(&too_long());
        compaction::answer_summary(bench, &compaction::says("Shorter.", 100));
        let (id, _) = bench.of(Stage::SaveSummary);
        assert_eq!(id.attempt, 2);
        bench.saved();
        bench.says("done");
    };
    the_same(&spec, &before, &after);
}
