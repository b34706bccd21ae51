//! Which model answers, how it thinks and how hard it works.

use serde_json::{Value, json};
use windlass_core::{
    Input, Spec,
    effect::{Answer, HttpFailure, HttpFailureKind},
    message::ResultSubtype,
    spec::{Effort, Thinking},
};

use crate::harness::{Bench, MODEL, Reply, spec_with, tool};

const OTHER: &str = "claude-haiku-4-5";

fn spec() -> Spec {
    spec_with(vec![tool("Note")])
}

fn with_fallback() -> Spec {
    let mut spec = spec();
    spec.model.fallback = Some(OTHER.to_owned());
    spec.model.retry.jitter_percent = 0;
    spec
}

fn fallbacks(bench: &Bench) -> Vec<Value> {
    let mut system = bench.lines_of("system");
    system.retain(|line| line["subtype"] == "model_fallback");
    system
}

#[test]
fn loop_12_after_a_few_retries_the_fallback_takes_over_for_the_rest_of_the_answer() {
    let mut bench = Bench::new(with_fallback());
    bench.prompt("go");
    let overloaded = Reply::error(529, "overloaded_error", "full");
    for _ in 0..3 {
        bench.reply(&overloaded);
        bench.tick();
    }
    assert_eq!(bench.retries().len(), 3);
    assert!(bench.retries().iter().all(|retry| retry.max_retries == 3));
    bench.reply(&overloaded);
    let told = fallbacks(&bench);
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0]["from"].as_str(), told[0]["to"].as_str()),
        (Some(MODEL), Some(OTHER))
    );
    assert_eq!(bench.body()["model"], OTHER);
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.finish("a", "done");
    assert_eq!(bench.body()["model"], OTHER, "until the answer is complete");
    bench.says("Done.");
    assert_eq!(bench.result().subtype, ResultSubtype::Success);
    bench.prompt("again");
    assert_eq!(
        bench.body()["model"],
        MODEL,
        "the next prompt tries the first again"
    );
    bench.says("Done.");
}

#[test]
fn loop_12_the_fallback_has_retries_of_its_own_and_then_the_run_fails() {
    let mut spec = with_fallback();
    spec.model.retry.max_retries = 2;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let mut requests = Vec::new();
    while bench.results().is_empty() {
        requests.push(bench.body()["model"].as_str().unwrap().to_owned());
        let failure = HttpFailure::new(HttpFailureKind::Connect, "nobody there");
        bench.answer(bench.asked().0, Answer::HttpFailed(failure));
        if bench.session.deadline().is_some() {
            bench.tick();
        }
    }
    assert_eq!(requests, [MODEL, MODEL, MODEL, OTHER, OTHER, OTHER]);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
}

#[test]
fn loop_12_a_model_that_does_not_exist_is_replaced_at_once_and_a_bad_request_is_not() {
    let mut bench = Bench::new(with_fallback());
    bench.prompt("go");
    bench.reply(&Reply::error(404, "not_found_error", "no such model"));
    assert_eq!(bench.body()["model"], OTHER);
    bench.says("Here.");
    let mut bench = Bench::new(with_fallback());
    bench.prompt("go");
    bench.reply(&Reply::error(400, "invalid_request_error", "nonsense"));
    assert!(fallbacks(&bench).is_empty());
    assert!(bench.result().is_error);
}

#[test]
fn loop_12_the_model_can_be_changed_while_it_works() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.input(Input::SetModel(Some(OTHER.to_owned())));
    bench.finish("a", "done");
    assert_eq!(bench.body()["model"], OTHER);
    bench.says("Done.");
    bench.input(Input::SetModel(None));
    bench.prompt("go");
    assert_eq!(bench.body()["model"], MODEL);
    bench.says("Done.");
}

#[test]
fn loop_10_thinking_and_effort_are_in_the_request_as_they_are_set() {
    let budget = |budget_tokens| Thinking::Enabled { budget_tokens };
    for (thinking, expected) in [
        (Thinking::Default, json!({"type": "adaptive"})),
        (Thinking::Adaptive, json!({"type": "adaptive"})),
        (
            budget(Some(2048)),
            json!({"type": "enabled", "budget_tokens": 2048}),
        ),
        (
            budget(None),
            json!({"type": "enabled", "budget_tokens": 10_000}),
        ),
        (Thinking::Disabled, json!({"type": "disabled"})),
    ] {
        let mut spec = spec();
        spec.model.thinking = thinking;
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        assert_eq!(bench.body()["thinking"], expected, "{thinking:?}");
    }
    for (effort, name) in [
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Max, "max"),
    ] {
        let mut spec = spec();
        spec.model.effort = Some(effort);
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        assert_eq!(bench.body()["output_config"], json!({"effort": name}));
    }
}

#[test]
fn loop_10_the_older_option_is_a_number_of_tokens() {
    let enabled = |tokens| Thinking::Enabled {
        budget_tokens: Some(tokens),
    };
    assert_eq!(Thinking::from_options(None, None), Thinking::Default);
    assert_eq!(Thinking::from_options(None, Some(0)), Thinking::Disabled);
    assert_eq!(Thinking::from_options(None, Some(4000)), enabled(4000));
}

#[test]
fn loop_28_an_explicit_setting_beats_the_older_one() {
    let both = Thinking::from_options(Some(Thinking::Disabled), Some(4000));
    assert_eq!(both, Thinking::Disabled);
}

#[test]
fn loop_10_both_can_be_changed_while_it_works_and_changed_back() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.input(Input::SetThinking(Some(Thinking::from_options(
        None,
        Some(3000),
    ))));
    bench.input(Input::SetEffort(Some(Effort::Low)));
    bench.finish("a", "done");
    let body = bench.body();
    assert_eq!(body["thinking"]["budget_tokens"], 3000);
    assert_eq!(body["output_config"]["effort"], "low");
    bench.says("Done.");
    bench.input(Input::SetThinking(None));
    bench.input(Input::SetEffort(None));
    bench.prompt("go");
    let body = bench.body();
    assert_eq!(body["thinking"], json!({"type": "adaptive"}));
    assert!(body.get("output_config").is_none());
    bench.says("Done.");
}

#[test]
fn loop_27_effort_holds_for_the_query_and_only_where_it_is_known() {
    let mut spec = spec();
    spec.model.effort = Some(Effort::High);
    spec.model.thinking = Thinking::Disabled;
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    assert_eq!(bench.body()["output_config"]["effort"], "high");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.finish("a", "done");
    assert_eq!(bench.body()["output_config"]["effort"], "high");
    bench.says("Done.");
    spec.model.name = OTHER.to_owned();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert!(bench.body().get("output_config").is_none());
    let mut bench = Bench::new(self::spec());
    bench.prompt("go");
    assert!(
        bench.body().get("output_config").is_none(),
        "unset is not sent"
    );
}

#[test]
fn loop_28_by_default_the_model_thinks_as_it_likes_where_it_can() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    assert_eq!(bench.body()["thinking"]["type"], "adaptive");
    let mut older = spec();
    older.model.name = OTHER.to_owned();
    let mut bench = Bench::new(older);
    bench.prompt("go");
    assert!(bench.body().get("thinking").is_none());
}

#[test]
fn loop_28_thinking_keeps_text_and_signature_in_the_stream_and_in_the_history() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    bench.reply(&Reply::message(&[
        thought.clone(),
        crate::harness::tool_use("a", "Note", json!({})),
    ]));
    let said = &bench.lines_of("assistant")[0];
    assert_eq!(said["message"]["content"][0], thought);
    bench.finish("a", "done");
    assert_eq!(bench.body()["messages"][1]["content"][0], thought);
    bench.says("Done.");
}

#[test]
fn loop_20_betas_are_named_in_every_request_and_in_the_first_message() {
    let mut spec = spec();
    spec.model.betas = vec!["context-1m-2025-08-07".to_owned(), "another".to_owned()];
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let request = bench.asked().1;
    let beta = request
        .headers
        .iter()
        .find(|(name, _)| name == "anthropic-beta");
    assert_eq!(beta.unwrap().1, "context-1m-2025-08-07,another");
    let init = &bench.lines_of("system")[0];
    assert_eq!(init["betas"], json!(["context-1m-2025-08-07", "another"]));
}
