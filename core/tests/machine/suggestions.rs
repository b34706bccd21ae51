//! What the person might say next, for those who asked for it.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, Session, Spec,
    effect::{Answer, Effect, HttpFailure, HttpFailureKind, Notice, Stage},
};
use windlass_testkit::{Script, TestHost};

use crate::harness::{Bench, Reply, spec_with, sse, tool};

fn spec() -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.stream.prompt_suggestions = true;
    spec
}

/// A session that has answered and is asking for a suggestion.
fn answered(spec: Spec) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("write a test");
    bench.says("There it is.");
    bench
}

fn request(bench: &Bench) -> (EffectId, Value) {
    let (id, Effect::Http(request)) = bench.of(Stage::Suggestion) else {
        panic!("no request");
    };
    (id, serde_json::from_slice(&request.body_bytes()).unwrap())
}

fn reply(bench: &mut Bench, reply: &Reply) {
    let (id, _) = request(bench);
    for answer in reply.answers() {
        bench.answer(id, answer);
    }
}

fn kinds(bench: &Bench) -> Vec<String> {
    let kind = |line: Value| line["type"].as_str().unwrap().to_owned();
    bench.lines().into_iter().map(kind).collect()
}

#[test]
fn loop_35_a_suggestion_follows_the_result_for_those_who_asked_for_it() {
    let mut bench = answered(spec());
    let asked = bench.outputs.len();
    assert_eq!(
        kinds(&bench),
        ["system", "assistant", "result"],
        "the result waits for nothing"
    );
    assert!(bench.session.is_idle());
    let (id, body) = request(&bench);
    assert_eq!(id.to_string().split('/').nth(4), Some("suggestion"));
    // The conversation as it was, so that all of it is read from the cache.
    let before: Value = serde_json::from_slice(&bench.requests()[0].body_bytes()).unwrap();
    assert_eq!(body["tools"], before["tools"]);
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);
    reply(&mut bench, &Reply::text("run the test"));
    let said = bench.lines();
    assert_eq!(said.len(), 4);
    assert_eq!(said[3]["type"], "prompt_suggestion");
    assert_eq!(said[3]["suggestion"], "run the test");
    assert_eq!(said[3]["session_id"], said[2]["session_id"]);
    assert!(said[3]["uuid"].is_string());
    assert!(bench.outputs.len() > asked && bench.pending.is_empty());
    // Neither question nor answer is part of the conversation, and both are paid for.
    assert_eq!(bench.history().len(), 2);
    let cost = bench.result().total_cost_usd;
    bench.prompt("run the test");
    assert_eq!(bench.body()["messages"].as_array().unwrap().len(), 3);
    bench.says("It passes.");
    assert_eq!(bench.result().total_cost_usd.nanos, cost.nanos * 3);
    assert_eq!(bench.result().num_turns, 1);

    let mut nobody = spec_with(vec![]);
    nobody.stream.prompt_suggestions = false;
    let bench = answered(nobody);
    assert!(bench.pending.is_empty());
}

#[test]
fn loop_35_the_next_prompt_and_an_interrupt_end_the_wait_for_a_suggestion() {
    let mut bench = answered(spec());
    let (id, _) = request(&bench);
    bench.answer(id, Reply::text("x").head());
    bench.prompt("something else");
    assert_eq!(bench.cancelled(), [id]);
    // What still comes of it is heard by nobody.
    bench.answer(id, Answer::HttpEnd);
    bench.says("Done.");
    assert_eq!(bench.results().len(), 2);
    let (id, _) = request(&bench);
    bench.interrupt();
    assert!(bench.cancelled().contains(&id));
    bench.answer(id, Answer::Cancelled);
    assert!(bench.lines_of("prompt_suggestion").is_empty());
    assert!(bench.session.is_idle());
}

#[test]
fn loop_35_prompts_that_wait_come_first() {
    let mut bench = Bench::new(spec());
    bench.prompt("one");
    bench.prompt("two");
    bench.says("first");
    assert_eq!(
        bench.pending_stages(),
        [Stage::Model],
        "nobody needs a suggestion"
    );
    bench.says("second");
    assert_eq!(bench.pending_stages(), [Stage::Suggestion]);
}

#[test]
fn loop_35_what_is_no_suggestion_is_not_told() {
    let broken = HttpFailure::new(HttpFailureKind::Interrupted, "the connection broke");
    for answers in [
        Reply::text("NONE").answers(),
        Reply::text("").answers(),
        Reply::call("a", "Note", json!({})).answers(),
        Reply::error(529, "overloaded_error", "later").answers(),
        Reply::stream("event: nonsense\ndata: {\n\n".into()).answers(),
        vec![Answer::HttpFailed(broken)],
        vec![Answer::Cancelled],
    ] {
        let mut bench = answered(spec());
        let (id, _) = request(&bench);
        for answer in answers {
            if bench.pending.iter().any(|(running, _)| *running == id) {
                bench.answer(id, answer);
            }
        }
        assert_eq!(kinds(&bench), ["system", "assistant", "result"]);
        assert!(bench.calls().is_empty() && bench.session.is_idle());
        bench.prompt("next");
        bench.says("fine");
        assert!(!bench.result().is_error);
    }
}

#[test]
fn loop_35_after_errors_answers_by_schema_and_spent_budgets_nothing_is_suggested() {
    let mut bench = Bench::new(spec());
    bench.prompt("one");
    bench.reply(&Reply::error(401, "authentication_error", "no"));
    assert!(bench.pending.is_empty());

    let mut limited = spec();
    limited.policy.limits.max_budget = windlass_core::money::Usd::parse("0.01");
    let mut bench = Bench::new(limited);
    bench.prompt("one");
    let usage = json!({"input_tokens": 1_000_000});
    let text = [json!({"type": "text", "text": "dear"})];
    bench.reply(&Reply::stream(sse(
        &text,
        "end_turn",
        &usage,
        &json!({"output_tokens": 1}),
    )));
    assert!(bench.pending.is_empty());

    let mut bench = Bench::new(spec());
    bench.prompt("/compact");
    assert!(bench.pending.is_empty(), "no response, no idea");
}

#[test]
fn loop_35_a_session_put_away_forgets_the_suggestion() {
    let mut bench = answered(spec());
    let (id, _) = request(&bench);
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(spec()), &snapshot).unwrap();
    bench.input(Input::Resumed { live: vec![id] });
    assert!(bench.pending.is_empty(), "what is still alive is dropped");
    bench.prompt("next");
    bench.says("fine");
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn loop_35_the_driver_waits_for_it() {
    let host = TestHost::new(Script::says(["There it is.", "run it"]));
    let mut session = host.session(spec());
    let messages = host.prompt(&mut session, "write a test").unwrap();
    let last = messages.last().unwrap().to_line();
    assert!(
        last.contains("prompt_suggestion") && last.contains("run it"),
        "{last}"
    );
    host.verify().unwrap();
}

#[test]
fn loop_35_sign_in_and_persisted_files_are_told_as_the_host_reports_them() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.input(Input::Notice(Notice::AuthStatus {
        is_authenticating: true,
        output: vec!["open the page".into()],
        error: None,
    }));
    let told = bench.lines_of("auth_status").pop().unwrap();
    assert_eq!(told["isAuthenticating"], true);
    assert_eq!(told["output"], json!(["open the page"]));
    bench.input(Input::Notice(Notice::FilesPersisted {
        files: vec![],
        failed: vec![],
        processed_at: "2026-01-31T08:30:00Z".into(),
    }));
    let told = bench.lines_of("system").pop().unwrap();
    assert_eq!(told["subtype"], "files_persisted");
    assert_eq!(told["processed_at"], "2026-01-31T08:30:00Z");
}
