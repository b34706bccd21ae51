//! Failures of the model server, and what is done about them.

use bytes::Bytes;
use serde_json::json;
use windlass_core::{
    Input, Spec,
    effect::{ADDRESS_HEADER, Answer, HttpFailure, HttpFailureKind},
    message::{ErrorClass, Message, ResultSubtype},
    spec::RetryPolicy,
};

use crate::harness::{Bench, Reply, event, message_start, spec_with, tool, tool_use};

fn spec() -> Spec {
    spec_with(vec![tool("Note")])
}

/// The delay announced for the first retry after this reply; none if there is no retry.
fn delay_after(spec: Spec, reply: &Reply) -> Option<u64> {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(reply);
    let announced = bench.retries().first().map(|retry| retry.retry_delay_ms);
    let due = (bench.session.deadline()).map(|at| at.since(bench.now.mono));
    assert_eq!(announced, due, "what is announced is what is done");
    announced
}

fn failed(kind: HttpFailureKind) -> Answer {
    Answer::HttpFailed(HttpFailure::new(kind, "it broke"))
}

#[test]
fn loop_9_an_api_failure_is_an_execution_error_with_the_class_of_the_failure() {
    let cases = [
        (401, ErrorClass::AuthenticationFailed),
        (403, ErrorClass::AuthenticationFailed),
        (402, ErrorClass::BillingError),
        (400, ErrorClass::InvalidRequest),
        (404, ErrorClass::InvalidRequest),
        (413, ErrorClass::InvalidRequest),
        (429, ErrorClass::RateLimit),
        (500, ErrorClass::ServerError),
        (529, ErrorClass::ServerError),
        (304, ErrorClass::Unknown),
    ];
    for (status, class) in cases {
        let mut spec = spec();
        spec.model.retry.max_retries = 0;
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        bench.reply(&Reply::error(status, "some_error", "these were its words"));
        let said = bench.messages();
        let assistant = said.iter().find_map(|message| match message {
            Message::Assistant(assistant) => Some(assistant),
            _ => None,
        });
        let assistant = assistant.unwrap_or_else(|| panic!("{status}: no assistant message"));
        assert_eq!(assistant.error, Some(class), "{status}");
        let result = bench.result();
        assert_eq!(result.subtype, ResultSubtype::ErrorDuringExecution);
        let error = &result.errors.as_ref().unwrap()[0];
        assert!(error.contains(&status.to_string()), "{error}");
        assert!(error.contains("these were its words"), "{error}");
        assert_eq!(result.num_turns, 0);
        // A prompt that was refused itself is taken back, else it stays.
        let refused = matches!(status, 400 | 413 | 422);
        assert_eq!(bench.history().len(), usize::from(!refused), "{status}");
    }
}

#[test]
fn loop_9_what_is_not_found_is_named_with_its_address() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let mut reply = Reply::error(404, "not_found_error", "no such page");
    let address = "http://127.0.0.1:8080/v1/messages";
    reply.headers.push((ADDRESS_HEADER.into(), address.into()));
    bench.reply(&reply);
    let errors = bench.result().errors.clone().unwrap();
    assert!(errors[0].contains("no such page"), "{errors:?}");
    assert!(errors[0].contains(address), "{errors:?}");
    assert!(errors[0].contains("check the base URL"), "{errors:?}");
}

#[test]
fn loop_9_a_wrong_key_is_not_tried_again_even_if_the_refusal_breaks_off() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let reply = Reply::error(401, "authentication_error", "invalid x-api-key");
    bench.reply(&reply.clone().cut_at(20));
    assert_eq!(bench.retries().len(), 0);
    assert!(bench.session.is_idle());
    assert_eq!(delay_after(spec(), &reply), None);
}

#[test]
fn loop_9_a_cancelled_run_is_an_execution_error_without_a_failed_response() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let (id, _) = bench.asked();
    bench.interrupt();
    bench.answer(id, Answer::Cancelled);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
    assert_eq!(bench.lines_of("assistant").len(), 0);
}

#[test]
fn loop_9_refusals_and_cut_answers_show_in_the_stop_reason() {
    for reason in ["refusal", "max_tokens", "model_context_window_exceeded"] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let said = [json!({"type": "text", "text": "I"})];
        bench.reply(&Reply::stopped(&said, reason));
        assert_eq!(bench.lines_of("result")[0]["stop_reason"], reason);
        assert_eq!(
            bench.lines_of("assistant")[0]["message"]["stop_reason"],
            reason
        );
    }
}

#[test]
fn loop_9_a_200_that_is_no_response_says_what_it_was() {
    let cases = [
        (
            "text/html; charset=utf-8",
            "<html>\n  <b>Login</b>",
            "<html> <b>Login</b>",
        ),
        ("", "", "the body is empty"),
        ("application/json", "{\"ok\":true}", "{\"ok\":true}"),
    ];
    for (content_type, body, excerpt) in cases {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let mut reply = Reply::stream(body.into());
        reply.headers[0].1 = content_type.into();
        bench.reply(&reply);
        assert_eq!(bench.retries().len(), 0, "another try changes nothing");
        let error = bench.result().errors.as_ref().unwrap()[0].clone();
        assert!(error.contains(excerpt), "{error}");
        assert!(error.contains("base URL"), "{error}");
    }
}

#[test]
fn loop_11_delays_double_up_to_the_longest_and_end() {
    let mut spec = spec();
    spec.model.retry = RetryPolicy {
        max_retries: 5,
        base_ms: 1_000,
        max_ms: 5_000,
        jitter_percent: 0,
        ..RetryPolicy::default()
    };
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    for _ in 0..5 {
        bench.reply(&Reply::error(529, "overloaded_error", "full"));
        bench.tick();
    }
    bench.reply(&Reply::error(529, "overloaded_error", "full"));
    let announced: Vec<(u32, u64)> = (bench.retries().iter())
        .map(|retry| (retry.attempt, retry.retry_delay_ms))
        .collect();
    assert_eq!(
        announced,
        [(1, 1_000), (2, 2_000), (3, 4_000), (4, 5_000), (5, 5_000)]
    );
    assert!(bench.retries().iter().all(|r| r.max_retries == 5));
    assert!(bench.retries().iter().all(|r| r.error_status == Some(529)));
    assert_eq!(bench.requests().len(), 6);
    assert!(bench.result().is_error);
}

#[test]
fn loop_11_rate_limits_overload_and_server_errors_are_tried_again_and_nothing_else() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let reply = Reply::error(status, "e", "m");
        assert!(delay_after(spec(), &reply).is_some(), "{status}");
    }
    for status in [400, 401, 402, 403, 404, 413, 422] {
        let reply = Reply::error(status, "e", "m");
        assert_eq!(delay_after(spec(), &reply), None, "{status}");
    }
}

#[test]
fn loop_11_retry_after_is_honoured_within_reason() {
    let after = |value: &str| {
        let reply = Reply::error(429, "rate_limit_error", "slow down");
        delay_after(spec(), &reply.with_header("Retry-After", value))
    };
    assert_eq!(after("7"), Some(7_000));
    assert_eq!(after("0.25"), Some(250));
    assert_eq!(after("999999"), Some(300_000));
    // No number of seconds: the backoff holds.
    assert_eq!(after("0"), Some(500));
    assert_eq!(after("Wed, 21 Oct 2026 07:28:00 GMT"), Some(500));
    assert_eq!(after("-1"), Some(500));
    let mut spec = spec();
    spec.model.retry.honour_retry_after = false;
    let reply = Reply::error(429, "rate_limit_error", "slow down");
    assert_eq!(
        delay_after(spec, &reply.with_header("retry-after", "7")),
        Some(500)
    );
}

#[test]
fn loop_11_the_policy_is_a_value() {
    let mut spec = spec();
    spec.model.retry = RetryPolicy {
        max_retries: 3,
        base_ms: 2_000,
        max_ms: 8_000,
        jitter_percent: 0,
        only_rate_limits: true,
        honour_retry_after: true,
        ..RetryPolicy::default()
    };
    let overloaded = Reply::error(529, "overloaded_error", "full");
    assert_eq!(delay_after(spec.clone(), &overloaded), None);
    let limited = Reply::error(429, "rate_limit_error", "slow down");
    assert_eq!(delay_after(spec, &limited), Some(2_000));
}

#[test]
fn loop_11_jitter_comes_from_the_seed_and_stays_in_its_bounds() {
    let mut delays = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let mut spec = spec();
        spec.model.retry.jitter_percent = 25;
        let mut bench = Bench::seeded(spec, [seed; 32]);
        bench.prompt("go");
        bench.reply(&Reply::error(500, "api_error", "oops"));
        let delay = bench.retries()[0].retry_delay_ms;
        assert!((500..=625).contains(&delay), "{delay}");
        delays.insert(delay);
    }
    assert!(delays.len() > 10, "{delays:?}");
}

#[test]
fn loop_11_a_cut_stream_leaves_no_trace_but_the_announcement() {
    let whole = Reply::message(&[
        json!({"type": "text", "text": "Let me."}),
        tool_use("a", "Note", json!({"text": "x"})),
    ]);
    // After `message_delta` with its stop reason nothing can be missing any more.
    let text = String::from_utf8(whole.body.clone()).unwrap();
    let told = text.find("event: message_stop").unwrap() - 1;
    for at in 0..told {
        let mut spec = spec();
        spec.policy.persist = true;
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        bench.saved();
        bench.reply(&whole.clone().cut_at(at));
        assert_eq!(bench.retries().len(), 1, "cut at {at}");
        assert_eq!(bench.lines_of("assistant").len(), 0);
        assert_eq!(bench.history().len(), 1);
        assert!(bench.pending.is_empty(), "nothing of it is saved");
        let before = bench.requests()[0].body_bytes();
        bench.tick();
        assert_eq!(bench.requests()[1].body_bytes(), before, "the same request");
        bench.says("Done.");
        bench.saved();
        assert_eq!(bench.result().num_turns, 1);
        assert_eq!(bench.result().usage.output_tokens, 5, "counted once");
    }
}

#[test]
fn loop_11_failures_of_the_connection_are_tried_again_and_refusals_of_the_host_are_not() {
    for (kind, again) in [
        (HttpFailureKind::Connect, true),
        (HttpFailureKind::Interrupted, true),
        (HttpFailureKind::Refused, false),
        (HttpFailureKind::TooLarge, false),
    ] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let (id, _) = bench.asked();
        bench.answer(id, failed(kind));
        assert_eq!(bench.retries().len(), usize::from(again), "{kind:?}");
        assert_eq!(bench.session.is_idle(), !again);
    }
}

#[test]
fn loop_11_an_error_inside_the_stream_is_treated_by_its_type() {
    for (kind, again, class) in [
        ("overloaded_error", true, ErrorClass::ServerError),
        ("api_error", true, ErrorClass::ServerError),
        ("rate_limit_error", true, ErrorClass::RateLimit),
        ("invalid_request_error", false, ErrorClass::InvalidRequest),
        (
            "authentication_error",
            false,
            ErrorClass::AuthenticationFailed,
        ),
    ] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let body = event(&message_start(&json!({"input_tokens": 9})))
            + &event(&json!({"type": "error", "error": {"type": kind, "message": "in short"}}));
        bench.reply(&Reply::stream(body));
        assert_eq!(bench.retries().len(), usize::from(again), "{kind}");
        if again {
            assert_eq!(bench.retries()[0].error, class);
            assert_eq!(bench.retries()[0].error_status, None);
        }
    }
}

#[test]
fn loop_11_an_exchange_that_ends_without_a_word_is_tried_again() {
    for answer in [Answer::HttpEnd, Answer::Cancelled] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let (id, _) = bench.asked();
        bench.answer(id, answer);
        assert_eq!(bench.retries().len(), 1);
        bench.tick();
        bench.says("Back again.");
        assert_eq!(bench.result().result.as_deref(), Some("Back again."));
    }
}

#[test]
fn loop_11_a_tick_before_its_time_changes_nothing() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.input(Input::Tick);
    bench.reply(&Reply::error(500, "api_error", "oops"));
    bench.input(Input::Tick);
    bench.wait(499);
    bench.input(Input::Tick);
    assert_eq!(bench.requests().len(), 1);
    bench.wait(1);
    bench.input(Input::Tick);
    assert_eq!(bench.requests().len(), 2);
    bench.says("Done.");
    bench.input(Input::Tick);
    assert_eq!(bench.results().len(), 1);
}

#[test]
fn a_complete_response_waits_a_second_for_the_server_to_close_and_no_longer() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let (id, _) = bench.asked();
    let reply = Reply::text("Hi.");
    bench.answer(id, reply.head());
    bench.answer(id, Answer::HttpBody(Bytes::from(reply.body.clone())));
    assert!(bench.results().is_empty());
    bench.tick();
    assert_eq!(bench.cancelled(), [id]);
    assert_eq!(bench.result().result.as_deref(), Some("Hi."));
    // What still comes of it is nobody's concern, also while the next prompt is answered.
    bench.prompt("next");
    bench.answer(id, failed(HttpFailureKind::Interrupted));
    assert_eq!(bench.retries().len(), 0);
    let (next, _) = bench.asked();
    assert_ne!(next, id);
    bench.says("There.");
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn a_broken_connection_after_the_last_event_loses_nothing() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let mut reply = Reply::text("Hi.");
    reply.end = failed(HttpFailureKind::Interrupted);
    bench.reply(&reply);
    assert_eq!(bench.result().result.as_deref(), Some("Hi."));
}

#[test]
fn loop_11_a_stream_that_is_closed_in_good_order_but_too_early_is_cut_too() {
    let whole = Reply::message(&[
        json!({"type": "text", "text": "Let me."}),
        tool_use("a", "Note", json!({"text": "x"})),
    ]);
    let text = String::from_utf8(whole.body.clone()).unwrap();
    // Some servers leave the last event out; with a stop reason nothing is missing.
    let told = text.find("event: message_stop").unwrap();
    for at in (0..told).step_by(3).chain([told - 1]) {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let mut reply = whole.clone();
        reply.body.truncate(at);
        bench.reply(&reply);
        assert_eq!(bench.retries().len(), 1, "ends at {at}");
        assert_eq!(bench.history().len(), 1);
    }
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let mut reply = whole;
    reply.body.truncate(told);
    bench.reply(&reply);
    assert_eq!(bench.retries().len(), 0);
    assert_eq!(bench.calls().len(), 1);
}
