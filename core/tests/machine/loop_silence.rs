//! Model servers that keep a session waiting: without an answer, with nothing but signs of life, without an end.

use bytes::Bytes;
use serde_json::{Value, json};
use windlass_core::{
    Input, Spec,
    effect::{Answer, Stage},
    message::ErrorClass,
    provider::openai::ChatCompletions,
    spec::ResponseLimits,
};

use crate::harness::{Bench, Reply, event, message_start, spec_with, tool};

const MINUTE: u64 = 60_000;

fn spec() -> Spec {
    spec_with(vec![tool("Note")])
}

fn delta(delta: Value) -> String {
    event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn begins(usage: &Value) -> String {
    event(&message_start(usage))
}

fn begins_text() -> String {
    let block = json!({"type": "text", "text": ""});
    event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
}

fn ping() -> String {
    event(&json!({"type": "ping"}))
}

/// A session whose model server has sent this much.
fn hearing(spec: Spec, said: &[String]) -> Bench {
    let mut bench = Bench::new_unchecked(spec);
    bench.prompt("go");
    let (id, _) = bench.asked();
    bench.answer(id, Reply::stream(String::new()).head());
    for said in said {
        hears(&mut bench, said);
    }
    bench
}

fn hears(bench: &mut Bench, said: &str) {
    let (id, _) = bench.asked();
    bench.answer(id, Answer::HttpBody(Bytes::from(said.to_owned())));
}

#[test]
fn loop_9_a_server_that_does_not_answer_is_given_up_and_asked_again() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let (id, _) = bench.asked();
    let due = bench.session.deadline().unwrap();
    assert_eq!(due.since(bench.now.mono), 5 * MINUTE);
    bench.wait(5 * MINUTE - 1);
    bench.input(Input::Tick);
    assert!(bench.cancelled().is_empty(), "not before its time");
    bench.tick();
    assert_eq!(bench.cancelled(), [id]);
    let retry = &bench.retries()[0];
    assert_eq!(retry.error, ErrorClass::ServerError);
    let said = &retry.message;
    assert!(
        said.contains("nothing of its response for 5 minutes"),
        "{said}"
    );

    // It is one like any other: the next attempt goes its own way.
    bench.answer(id, Answer::Cancelled);
    bench.tick();
    bench.says("Done.");
    assert_eq!(bench.result().result.as_deref(), Some("Done."));
}

#[test]
fn loop_9_signs_of_life_are_no_response() {
    let silent = [
        ping(),
        ": waiting\n\n".to_owned(),
        "\n".to_owned(),
        delta(json!({"type": "text_delta", "text": ""})),
        delta(json!({"type": "of_tomorrow", "more": "x"})),
        event(&json!({"type": "content_block_stop", "index": 0})),
        event(&json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}})),
        begins(&json!({"output_tokens": 1})),
    ];
    for sign in silent {
        let mut bench = hearing(
            spec(),
            &[begins(&json!({"input_tokens": 10})), begins_text()],
        );
        for _ in 0..9 {
            bench.wait(MINUTE / 2);
            hears(&mut bench, &sign);
        }
        assert!(bench.retries().is_empty(), "{sign}");
        bench.wait(MINUTE / 2);
        bench.input(Input::Tick);
        assert_eq!(bench.retries().len(), 1, "{sign}");
    }
}

#[test]
fn loop_9_every_piece_of_content_is_waited_for_anew() {
    let pieces = [
        delta(json!({"type": "text_delta", "text": "a"})),
        event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})),
    ];
    let mut bench = hearing(spec(), &[]);
    for piece in [begins(&json!({"input_tokens": 10})), begins_text()]
        .iter()
        .chain(&pieces)
    {
        bench.wait(5 * MINUTE - 1);
        bench.input(Input::Tick);
        hears(&mut bench, piece);
    }
    bench.wait(5 * MINUTE - 1);
    hears(&mut bench, &event(&json!({"type": "message_stop"})));
    // A complete response that nobody closes waits for a second and no longer.
    bench.tick();
    assert_eq!(bench.result().result.as_deref(), Some("a"));
    assert!(bench.retries().is_empty());
}

#[test]
fn loop_9_chat_completions_have_signs_of_life_of_their_own() {
    let chunk = |delta: Value| {
        let chunk = json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]});
        format!("data: {chunk}\n\n")
    };
    let spec = || {
        let mut spec = spec();
        spec.model.provider = std::sync::Arc::new(ChatCompletions::default());
        spec
    };
    for sign in [
        chunk(json!({})),
        chunk(json!({"content": ""})),
        ": processing\n\n".to_owned(),
    ] {
        let mut bench = hearing(spec(), &[chunk(json!({"role": "assistant"}))]);
        bench.wait(5 * MINUTE - 1);
        hears(&mut bench, &chunk(json!({"content": "a"})));
        bench.wait(5 * MINUTE - 1);
        bench.input(Input::Tick);
        assert!(bench.retries().is_empty(), "content is waited for anew");
        hears(&mut bench, &sign);
        bench.tick();
        assert_eq!(bench.retries().len(), 1, "{sign}");
    }
}

#[test]
fn loop_9_white_space_before_a_whole_response_is_none_of_it() {
    let mut bench = Bench::new({
        let mut spec = spec();
        spec.model.stream = false;
        spec
    });
    bench.prompt("go");
    let (id, _) = bench.asked();
    bench.answer(id, Reply::json(&json!({})).head());
    bench.wait(5 * MINUTE - 1);
    hears(&mut bench, " \n");
    bench.tick();
    assert_eq!(bench.retries().len(), 1);
}

#[test]
fn loop_9_a_response_that_never_ends_is_given_up_by_time_and_by_size() {
    let start = [begins(&json!({"input_tokens": 10})), begins_text()];
    let piece = delta(json!({"type": "text_delta", "text": "and so on"}));
    let mut bench = hearing(spec(), &start);
    let mut minutes = 0;
    while bench.retries().is_empty() {
        bench.wait(MINUTE);
        minutes += 1;
        hears(&mut bench, &piece);
        if bench.session.deadline().unwrap() <= bench.now.mono {
            bench.input(Input::Tick);
        }
    }
    assert_eq!(minutes, 120);
    let said = &bench.retries()[0].message;
    assert!(said.contains("within 120 minutes"), "{said}");

    let limited = {
        let mut spec = spec();
        spec.model.response = ResponseLimits {
            max_bytes: 10_000,
            ..ResponseLimits::default()
        };
        spec
    };
    let mut bench = hearing(limited, &start);
    let mut sent = 0;
    while bench.cancelled().is_empty() {
        sent += piece.len();
        assert!(sent < 20_000, "it is still listened to");
        hears(&mut bench, &piece);
    }
    let errors = bench.result().errors.as_ref().unwrap();
    assert!(errors[0].contains("exceeds 10000 bytes"), "{errors:?}");
    assert_eq!(bench.cancelled().len(), 1);
}

#[test]
fn loop_9_without_limits_a_session_waits_as_long_as_it_takes() {
    let mut bench = Bench::new({
        let mut spec = spec();
        spec.model.response = ResponseLimits::none();
        spec
    });
    bench.prompt("go");
    assert_eq!(bench.session.deadline(), None);
    bench.wait(1_000 * 60 * MINUTE);
    bench.input(Input::Tick);
    bench.says("Done.");
    assert!(bench.retries().is_empty());
}

#[test]
fn loop_9_an_error_that_trickles_in_is_one_as_far_as_it_came() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let (id, _) = bench.asked();
    let reply = Reply::error(401, "authentication_error", "invalid x-api-key");
    bench.answer(id, reply.head());
    for _ in 0..4 {
        bench.wait(MINUTE);
        hears(&mut bench, " ");
    }
    bench.tick();
    assert!(bench.retries().is_empty());
    assert!(bench.session.is_idle() || bench.pending_stages() == [Stage::Model]);
    let failure = bench.result().errors.clone().unwrap();
    assert!(failure[0].contains("401"), "{failure:?}");
}
