//! Limits, money and counts.

use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt, Spec, effect::Effect, message::ResultSubtype, money::Usd, price::Catalogue,
};

use crate::harness::{Bench, MODEL, Reply, spec_with, sse, tool, tool_use};

fn usage_reply(blocks: &[Value], start: Value, end: Value) -> Reply {
    let stop_reason = crate::harness::stop_reason_of(blocks);
    Reply::stream(sse(blocks, stop_reason, &start, &end))
}

fn limited(max_turns: u32) -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.limits.max_turns = Some(max_turns);
    spec
}

#[test]
fn loop_7_after_the_last_round_no_request_follows_and_the_session_goes_on_later() {
    let mut bench = Bench::new(limited(2));
    bench.prompt("go");
    for id in ["a", "b"] {
        bench.reply(&Reply::call(id, "Note", json!({})));
        bench.finish(id, "noted");
    }
    assert!(bench.pending.is_empty(), "no third request");
    assert_eq!(bench.requests().len(), 2);
    let result = bench.lines_of("result").remove(0);
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["is_error"], true);
    assert_eq!(result["num_turns"], 2);
    assert!(
        result["errors"][0].as_str().unwrap().contains('2'),
        "{result}"
    );

    bench.prompt("go on");
    let messages = bench.body()["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 5);
    assert_eq!(messages[4]["content"][0]["tool_use_id"], "b");
    assert_eq!(messages[4]["content"][1]["text"], "go on");
    bench.says("Done.");
    assert_eq!(bench.result().subtype, ResultSubtype::Success);
    assert_eq!(bench.result().num_turns, 1, "counted anew");
}

#[test]
fn loop_7_an_answer_without_calls_is_within_any_limit() {
    let mut bench = Bench::new(limited(1));
    bench.prompt("go");
    bench.says("Done.");
    assert_eq!(bench.result().subtype, ResultSubtype::Success);
}

#[test]
fn loop_8_a_budget_ends_the_run_and_every_call_has_its_result() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.limits.max_budget = Usd::parse("0.50");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    // 100,000 input tokens at 3 dollars a million: 0.3 dollars.
    let call = |id| [tool_use(id, "Note", json!({}))];
    bench.reply(&usage_reply(
        &call("a"),
        json!({"input_tokens": 100_000}),
        json!({"output_tokens": 0}),
    ));
    bench.finish("a", "noted");
    bench.reply(&usage_reply(
        &call("b"),
        json!({"input_tokens": 100_000}),
        json!({"output_tokens": 0}),
    ));
    assert!(bench.pending.is_empty(), "the call is not run");
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxBudgetUsd);
    assert_eq!(bench.result().total_cost_usd, Usd::parse("0.6").unwrap());
    assert_eq!(bench.history()[4]["content"][0]["tool_use_id"], "b");

    bench.prompt("more");
    assert!(bench.pending.is_empty(), "nothing more is spent");
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxBudgetUsd);
}

#[test]
fn loop_8_an_answer_that_uses_up_the_budget_is_told_as_such() {
    let mut spec = spec_with(vec![]);
    spec.policy.limits.max_budget = Usd::parse("0.01");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let said = [json!({"type": "text", "text": "Dear."})];
    bench.reply(&usage_reply(
        &said,
        json!({"input_tokens": 100_000}),
        json!({"output_tokens": 0}),
    ));
    // What was said has been shown; the result tells that nothing can follow.
    assert_eq!(bench.lines_of("assistant").len(), 1);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxBudgetUsd);
}

#[test]
fn loop_8_each_kind_of_token_has_its_price() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    let said = [json!({"type": "text", "text": "Hi."})];
    bench.reply(&usage_reply(
        &said,
        json!({"input_tokens": 1_000, "cache_creation_input_tokens": 2_000, "cache_read_input_tokens": 3_001}),
        json!({"output_tokens": 400}),
    ));
    // 1000 × 3 + 2000 × 3.75 + 3001 × 0.3 + 400 × 15 dollars a million.
    assert_eq!(
        bench.lines_of("result")[0]["total_cost_usd"].to_string(),
        "0.0174003"
    );
}

#[test]
fn loop_8_a_budget_with_a_model_of_unknown_price_is_an_error_not_zero_cost() {
    let mut spec = spec_with(vec![]);
    spec.model.name = "homemade-1".into();
    spec.policy.limits.max_budget = Usd::parse("1");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert!(bench.requests().is_empty(), "nothing is asked");
    let result = bench.result();
    assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
    let error = &result.errors.as_ref().unwrap()[0];
    assert!(
        error.contains("homemade-1") && error.contains("price"),
        "{error}"
    );
}

#[test]
fn loop_8_a_model_of_unknown_price_cannot_slip_in_while_the_run_goes_on() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.policy.limits.max_budget = Usd::parse("1");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.input(Input::SetModel(Some("homemade-1".into())));
    bench.finish("a", "ok");
    assert_eq!(bench.requests().len(), 1);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
    // The history is not harmed by it.
    bench.input(Input::SetModel(None));
    bench.prompt("go on");
    bench.says("Done.");
    assert!(!bench.result().is_error);
}

#[test]
fn loop_8_prices_can_be_overridden() {
    let mut spec = spec_with(vec![]);
    spec.model.name = "homemade-1".into();
    spec.policy.limits.max_budget = Usd::parse("1");
    spec.model.catalogue = Catalogue::default()
        .with_file(r#"{"models":[{"prefix":"homemade","input":2,"output":"4","cache_read":0,"cache_write":0}]}"#)
        .unwrap();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let body = json!({
        "id": "m", "model": "homemade-1", "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 500_000, "output_tokens": 250_000},
    });
    bench.reply(&Reply::json(&body));
    assert_eq!(bench.result().total_cost_usd, Usd::parse("2").unwrap());
}

#[test]
fn loop_8_enormous_counts_saturate() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    for id in ["a", "b"] {
        bench.reply(&usage_reply(
            &[tool_use(id, "Note", json!({}))],
            json!({"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX}),
            json!({"output_tokens": u64::MAX}),
        ));
        bench.wait(u64::MAX / 2 + 10);
        bench.finish(id, "ok");
    }
    bench.says("Done.");
    let result = bench.result();
    assert_eq!(result.usage.output_tokens, u64::MAX);
    assert_eq!(result.total_cost_usd, Usd::from_nanos(u64::MAX));
}

#[test]
fn loop_19_usage_is_of_the_prompt_and_model_usage_of_the_session() {
    let mut bench = Bench::new(spec_with(vec![]));
    let said = [json!({"type": "text", "text": "Hi."})];
    for (prompt, input) in [("one", 100), ("two", 30)] {
        bench.prompt(prompt);
        bench.reply(&usage_reply(
            &said,
            json!({"input_tokens": input}),
            json!({"output_tokens": 1}),
        ));
    }
    let results = bench.lines_of("result");
    assert_eq!(results[0]["usage"]["input_tokens"], 100);
    assert_eq!(results[1]["usage"]["input_tokens"], 30);
    assert_eq!(results[1]["modelUsage"][MODEL]["inputTokens"], 130);
    assert_eq!(results[1]["modelUsage"][MODEL]["outputTokens"], 2);
    assert_eq!(
        results[1]["total_cost_usd"],
        results[1]["modelUsage"][MODEL]["costUSD"]
    );
}

#[test]
fn loop_19_each_model_has_its_own_account() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("one");
    bench.says("Hi.");
    bench.input(Input::SetModel(Some("claude-haiku-4-5".into())));
    bench.prompt("two");
    let body = json!({
        "id": "m", "model": "claude-haiku-4-5-20251001", "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 9},
    });
    bench.reply(&Reply::json(&body));
    let usage = &bench.result().model_usage;
    assert_eq!(usage.len(), 2);
    assert_eq!(usage["claude-haiku-4-5-20251001"].output_tokens, 9);
    let total: Usd = usage.values().map(|u| u.cost_usd).sum();
    assert_eq!(bench.result().total_cost_usd, total);
}

#[test]
fn loop_26_model_usage_lists_every_counter_and_what_the_model_can_do() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    let said = [json!({"type": "text", "text": "Hi."})];
    bench.reply(&usage_reply(
        &said,
        json!({
            "input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 3,
            "server_tool_use": {"web_search_requests": 4},
        }),
        json!({"output_tokens": 5}),
    ));
    let result = bench.lines_of("result").remove(0);
    let usage = &result["modelUsage"][MODEL];
    assert_eq!(
        *usage,
        json!({
            "inputTokens": 1,
            "outputTokens": 5,
            "cacheReadInputTokens": 2,
            "cacheCreationInputTokens": 3,
            "webSearchRequests": 4,
            "costUSD": usage["costUSD"],
            "contextWindow": 200_000,
            "maxOutputTokens": 32_768,
        })
    );
    assert!(usage["costUSD"].is_number());
}

#[test]
fn a_thousand_calls_in_one_response_are_run_and_answered_in_order() {
    let mut bench = Bench::new(spec_with(vec![tool("Look").read_only()]));
    bench.prompt("go");
    let blocks: Vec<Value> = (0..1_000)
        .map(|i| tool_use(&format!("t{i}"), "Look", json!({"n": i})))
        .collect();
    bench.reply(&Reply::message(&blocks));
    let mut calls = bench.calls();
    assert_eq!(calls.len(), 1_000);
    calls.reverse();
    for (_, call) in &calls {
        bench.finish(&call.tool_use_id, &call.tool_use_id);
    }
    let results = bench.body()["messages"][2]["content"].clone();
    for (i, result) in results.as_array().unwrap().iter().enumerate() {
        assert_eq!(result["tool_use_id"], format!("t{i}"));
    }
}

#[test]
fn many_calls_that_end_at_once_and_many_prompts_do_not_grow_the_stack() {
    let mut spec = spec_with(vec![]);
    spec.prompt.context.compaction.automatic = false;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let blocks: Vec<Value> = (0..20_000)
        .map(|i| tool_use(&format!("t{i}"), "Nobody", json!({})))
        .collect();
    bench.reply(&Reply::message(&blocks));
    assert_eq!(bench.lines_of("user").len(), 20_000);
    for _ in 0..20_000 {
        bench.input(Input::Prompt(Prompt::blocks(vec![])));
    }
    bench.says("Done.");
    assert_eq!(bench.results().len(), 20_001);
    assert!(
        !bench
            .pending
            .iter()
            .any(|(_, e)| matches!(e, Effect::Http(_)))
    );
}
