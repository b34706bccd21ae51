//! Interrupts: at which point, what is left behind, and what comes after.

use serde_json::json;
use windlass_core::{
    Input, Output, Phase, Prompt, Spec,
    effect::{Answer, Effect, PermissionResponse, Stage},
    message::ResultSubtype,
    tool::{Access, ToolResult},
};

use crate::harness::{Bench, Reply, asking_spec, file_tool, spec_with, tool, tool_use};

fn spec() -> Spec {
    let mut spec = asking_spec(vec![tool("Note"), file_tool("Read", Access::Read)]);
    spec.policy.persist = true;
    spec
}

/// The session after the interrupt answers the next prompt as ever.
fn goes_on(mut bench: Bench) {
    while let Some((id, effect)) = bench.pending.front().cloned() {
        let answer = match effect {
            Effect::Persist(_) => Answer::Persisted,
            _ => Answer::Cancelled,
        };
        bench.answer(id, answer);
    }
    assert!(bench.session.is_idle());
    let result = bench.result();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    assert_eq!(result.errors.as_ref().unwrap()[0], "interrupted");
    bench.prompt("What now?");
    bench.saved();
    bench.says("Here I am.");
    bench.saved();
    assert_eq!(bench.result().subtype, ResultSubtype::Success);
}

#[test]
fn loop_13_while_the_prompt_is_saved() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    assert_eq!(bench.session.phase(), Phase::SavingPrompt);
    bench.interrupt();
    assert!(bench.cancelled().is_empty(), "writing is never cancelled");
    assert!(bench.results().is_empty(), "and waited for");
    goes_on(bench);
}

#[test]
fn loop_13_while_the_model_answers() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    let (id, _) = bench.asked();
    let reply = Reply::call("a", "Note", json!({}));
    bench.answer(id, reply.head());
    bench.answer(id, Answer::HttpBody(reply.body[..200].to_vec().into()));
    bench.interrupt();
    assert_eq!(bench.cancelled(), [id]);
    // The rest may come all the same.
    bench.answer(id, Answer::HttpBody(reply.body[200..].to_vec().into()));
    assert_eq!(bench.history().len(), 1, "nothing of the response is kept");
    goes_on(bench);
}

#[test]
fn loop_13_while_a_retry_is_awaited() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::error(529, "overloaded_error", "full"));
    assert_eq!(bench.session.phase(), Phase::Backoff);
    bench.interrupt();
    assert_eq!(bench.session.deadline(), None, "the retry is off");
    goes_on(bench);
}

#[test]
fn loop_13_while_the_response_is_saved() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    assert_eq!(bench.session.phase(), Phase::SavingResponse);
    bench.interrupt();
    goes_on(bench);
}

#[test]
fn loop_13_while_calls_wait_are_resolved_are_asked_about_and_run() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::message(&[
        tool_use("resolved", "Read", json!({"file_path": "a"})),
        tool_use("asked", "Read", json!({"file_path": "b"})),
        tool_use("runs", "Read", json!({"file_path": "c"})),
        tool_use("waits", "Note", json!({})),
    ]));
    bench.saved();
    let (first, second) = (bench.pending.pop_front(), bench.pending.pop_front());
    bench.resolve();
    bench.decide(PermissionResponse::allow());
    bench.pending.extend(second);
    bench.resolve();
    bench.pending.extend(first);
    let mut stages = bench.pending_stages();
    stages.sort();
    assert_eq!(stages, [Stage::Resolve, Stage::Ask, Stage::Run]);

    bench.interrupt();
    assert_eq!(bench.cancelled().len(), 3);
    // Late answers change nothing: nothing is judged, asked or run any more.
    let (id, _) = bench.question();
    bench.answer(id, Answer::Permission(PermissionResponse::allow()));
    bench.resolve();
    assert_eq!(bench.pending_stages(), [Stage::Run]);
    // A tool may still say what it did.
    bench.finish("runs", "it was done already");
    let entries = bench.saved_all();
    assert_eq!(entries.len(), 4, "each result by itself");
    assert!(entries[2].message.get().contains("it was done already"));
    let results = &bench.history()[2]["content"];
    assert_eq!(results.as_array().unwrap().len(), 4);
    assert_eq!(results[2].get("is_error"), None);
    for index in [0, 1, 3] {
        assert_eq!(results[index]["is_error"], true);
        assert!(
            results[index]["content"]
                .as_str()
                .unwrap()
                .contains("not run")
        );
    }
    goes_on(bench);
}

#[test]
fn loop_13_while_results_are_saved() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.saved();
    bench.decide(PermissionResponse::allow());
    bench.finish("a", "ok");
    assert_eq!(bench.session.phase(), Phase::SavingResults);
    bench.interrupt();
    bench.interrupt();
    goes_on(bench);
}

#[test]
fn loop_13_an_idle_session_does_not_mind() {
    let mut bench = Bench::new(spec());
    bench.interrupt();
    assert!(bench.outputs.is_empty());
    bench.prompt("go");
    bench.saved();
    bench.says("Hi.");
    bench.saved();
    assert!(!bench.result().is_error);
}

#[test]
fn loop_13_a_tool_that_does_not_stop_is_dropped_after_a_grace_period() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.cancel_grace_ms = 2_000;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    let (id, _) = bench.call("a");
    bench.interrupt();
    bench.wait(1_999);
    bench.input(Input::Tick);
    assert!(bench.results().is_empty());
    bench.tick();
    assert!(bench.outputs.contains(&Output::Abandon(id)));
    let text = bench.history()[2]["content"][0]["content"].to_string();
    assert!(text.contains("unknown"), "{text}");
    assert!(bench.session.is_idle());
    // The host is told that nobody listens, and the session is none the worse for it.
    let late = Input::Answer(id, Answer::Tool(ToolResult::text("at last")));
    assert!(bench.session.handle(bench.now, late).is_err());
    bench.prompt("next");
    bench.says("Fine.");
    assert!(!bench.result().is_error);
}

#[test]
fn loop_13_a_queued_prompt_is_answered_after_the_interrupted_one() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("one");
    bench.prompt("two");
    assert_eq!(bench.requests().len(), 1);
    let (id, _) = bench.asked();
    bench.interrupt();
    assert_eq!(bench.requests().len(), 1);
    bench.answer(id, Answer::Cancelled);
    assert_eq!(bench.results().len(), 1);
    let body = bench.body();
    assert_eq!(body["messages"][0]["content"][0]["text"], "one");
    assert_eq!(body["messages"][0]["content"][1]["text"], "two");
    bench.says("Both.");
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn loop_13_a_denial_may_stop_the_run_before_anything_else_begins() {
    let mut spec = asking_spec(vec![tool("Note")]);
    spec.policy.permissions.rules.allow = crate::harness::rules(&["Other"]);
    spec.tools.definitions.push(tool("Other"));
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({})),
        tool_use("b", "Other", json!({})),
    ]));
    bench.decide(PermissionResponse::Deny {
        message: "Stop right there.".into(),
        interrupt: true,
    });
    assert!(bench.calls().is_empty());
    assert!(
        !bench
            .outputs
            .iter()
            .any(|o| matches!(o, Output::Effect(id, _) if id.call == 2))
    );
    assert_eq!(bench.requests().len(), 1);
    let results = &bench.history()[2]["content"];
    assert_eq!(results[0]["content"], "Stop right there.");
    assert_eq!(bench.result().permission_denials.len(), 1);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
}

#[test]
fn effects_of_different_prompts_never_share_a_name() {
    let mut spec = spec_with(vec![]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    let mut names = std::collections::BTreeSet::new();
    for round in 0..4 {
        bench.prompt("go");
        bench.saved();
        if round % 2 == 0 {
            bench.reply(&Reply::error(400, "invalid_request_error", "no"));
        } else {
            let (id, _) = bench.asked();
            bench.interrupt();
            bench.answer(id, Answer::Cancelled);
        }
    }
    for output in &bench.outputs {
        if let Output::Effect(id, _) = output {
            assert!(names.insert(*id), "{id} twice");
        }
    }
    assert_eq!(names.len(), 8);
}

#[test]
fn an_empty_prompt_is_an_error_and_leaves_no_trace() {
    let mut bench = Bench::new(spec_with(vec![]));
    let odd = crate::harness::raw(&json!([1]));
    for prompt in [
        Prompt::text(""),
        Prompt::text(" \n"),
        Prompt::blocks(vec![]),
        Prompt::blocks(vec![odd]),
    ] {
        bench.input(Input::Prompt(prompt));
        let result = bench.result();
        assert!(result.errors.as_ref().unwrap()[0].contains("empty"));
        assert!(bench.session.is_idle());
    }
    assert!(bench.requests().is_empty());
    bench.prompt("words");
    bench.says("Yes?");
    assert!(!bench.result().is_error);
}

#[test]
fn a_transcript_that_cannot_be_written_ends_the_run_with_the_reason() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let first = bench.saved();
    bench.reply(&Reply::call("a", "Note", json!({})));
    let (id, _) = bench.of(Stage::SaveResponse);
    bench.answer(id, Answer::PersistFailed("the disk is full".into()));
    assert!(bench.calls().is_empty());
    let errors = bench.result().errors.as_ref().unwrap();
    assert!(errors[0].contains("the disk is full"), "{errors:?}");
    // The next entry follows the last one that was written.
    bench.prompt("again");
    let next = bench.saved();
    assert_eq!(next.parent, Some(first.uuid));
}

#[test]
fn a_write_that_the_host_drops_does_not_count_as_written() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let (id, _) = bench.of(Stage::SavePrompt);
    bench.answer(id, Answer::Cancelled);
    assert!(bench.requests().is_empty());
    assert!(bench.result().is_error);
}

#[test]
fn a_transcript_that_breaks_while_the_run_is_stopped_is_not_passed_over() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.interrupt();
    let (id, _) = bench.of(Stage::SavePrompt);
    bench.answer(id, Answer::PersistFailed("the disk is full".into()));
    let errors = bench.result().errors.as_ref().unwrap();
    assert!(errors[0].contains("the disk is full"), "{errors:?}");
}
