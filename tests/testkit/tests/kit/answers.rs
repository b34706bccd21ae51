//! The bytes of answers.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    answer_of, answer_of_text, assembled, body, body_text, events, hello, post, request, status,
};
use windlass_testkit::{Piece, RequestView, Script, ScriptedModel};

#[test]
fn a_text_is_streamed_exactly_as_the_api_sends_it() {
    let answer = answer_of(&json!({
        "text": "Hi, you",
        "usage": {"input_tokens": 12, "output_tokens": 3, "cache_read_input_tokens": 5},
        "stream": {"delta_chars": 4}
    }));
    let expected = concat!(
        "event: message_start\n",
        r#"data: {"type":"message_start","message":{"model":"m-1","id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
        "\n\nevent: content_block_start\n",
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        "\n\nevent: ping\n",
        r#"data: {"type": "ping"}"#,
        "\n\nevent: content_block_delta\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi, "}}"#,
        "\n\nevent: content_block_delta\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"you"}}"#,
        "\n\nevent: content_block_stop\n",
        r#"data: {"type":"content_block_stop","index":0}"#,
        "\n\nevent: message_delta\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,"output_tokens":3}}"#,
        "\n\nevent: message_stop\n",
        r#"data: {"type":"message_stop"}"#,
        "\n\n",
    );
    assert_eq!(body_text(&answer), expected);
    let Some(Piece::Head { headers, .. }) = answer.first() else {
        panic!("the head comes first");
    };
    let content_type = (
        "content-type".to_string(),
        "text/event-stream; charset=utf-8".to_string(),
    );
    assert!(headers.contains(&content_type));
    assert_eq!(answer.last(), Some(&Piece::End));
}

#[test]
fn all_kinds_of_blocks_arrive_whole() {
    let answer = answer_of_text(
        r#"{"content": [
            {"type": "thinking", "thinking": "Let me think about it", "signature": "c2ln"},
            "A text with \"quotes\", ünïcode and\na line end",
            {"type": "tool_use", "name": "Grep", "input": {"z":1.50,"a":["x"]}},
            {"type": "tool_use", "name": "Bad", "input_text": "{\"a\": tru"},
            {"type": "raw", "block": {"type": "redacted_thinking", "data": "QUJD"}}
        ], "stream": {"delta_chars": 3}}"#,
    );
    assert_eq!(
        assembled(&answer),
        [
            "thinking:Let me think about itc2ln",
            "text:A text with \"quotes\", ünïcode and\na line end",
            // Order of keys and spelling of numbers as the script has them.
            "tool_use:{\"z\":1.50,\"a\":[\"x\"]}",
            "tool_use:{\"a\": tru",
            "redacted_thinking:",
        ]
    );
    let starts: Vec<Value> = (events(&answer).into_iter())
        .filter(|(name, _)| name == "content_block_start")
        .map(|(_, data)| data["content_block"].clone())
        .collect();
    assert_eq!(
        starts[2],
        json!({"type": "tool_use", "id": "toolu_1_3", "name": "Grep", "input": {}})
    );
    assert_eq!(
        starts[4],
        json!({"type": "redacted_thinking", "data": "QUJD"})
    );
    let delta = events(&answer)
        .into_iter()
        .find(|(name, _)| name == "message_delta");
    assert_eq!(delta.expect("one").1["delta"]["stop_reason"], "tool_use");
}

#[test]
fn interleaved_blocks_are_open_at_once() {
    let answer = answer_of(&json!({
        "content": ["abcd", {"type": "tool_use", "name": "T", "input": {"k": "v"}}],
        "stream": {"delta_chars": 2, "interleave": true, "ping_every": 0}
    }));
    let order: Vec<String> = (events(&answer).iter())
        .map(|(name, data)| format!("{name} {}", data["index"]))
        .filter(|line| line.starts_with("content_block"))
        .collect();
    assert_eq!(
        order[..4],
        [
            "content_block_start 0",
            "content_block_start 1",
            "content_block_delta 0",
            "content_block_delta 1"
        ]
    );
    assert_eq!(assembled(&answer), ["text:abcd", "tool_use:{\"k\":\"v\"}"]);
}

#[test]
fn pings_come_as_often_as_the_script_says() {
    let count = |every: Value| {
        let answer = answer_of(&json!({
            "text": "x".repeat(20),
            "stream": {"delta_chars": 1, "ping_every": every}
        }));
        events(&answer)
            .iter()
            .filter(|(name, _)| name == "ping")
            .count()
    };
    assert_eq!(count(Value::Null), 1);
    assert_eq!(count(json!(0)), 0);
    // 25 events: the first ping after two of them, then one after every five.
    assert_eq!(count(json!(5)), 5);
}

#[test]
fn a_request_without_stream_gets_plain_json() {
    let script = r#"{"exchanges": [{"respond": {"content": [
        "Hi", {"type": "tool_use", "name": "T", "input": {"b": 1, "a": 2}}
    ]}}]}"#;
    let mut model = ScriptedModel::new(Script::parse(script).expect("a script"));
    let mut asked: Value = serde_json::from_str(&hello()).expect("JSON");
    asked["stream"] = json!(false);
    let answer = post(&mut model, &asked.to_string());
    let message: Value = serde_json::from_slice(&body(&answer)).expect("JSON");
    assert_eq!(message["type"], "message");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["content"][0], json!({"type": "text", "text": "Hi"}));
    assert_eq!(message["content"][1]["id"], "toolu_1_2");
    assert!(
        body_text(&answer).contains(r#""input":{"b":1,"a":2}"#)
            || body_text(&answer).contains(r#""input":{"b": 1, "a": 2}"#)
    );
}

#[test]
fn the_form_can_be_forced() {
    let json_anyway = answer_of(&json!({"text": "Hi", "form": "json"}));
    assert!(serde_json::from_slice::<Value>(&body(&json_anyway)).is_ok());
    let script = json!({"exchanges": [{"respond": {"text": "Hi", "form": "sse"}}]}).to_string();
    let mut model = ScriptedModel::new(Script::parse(&script).expect("a script"));
    let plain = hello().replace("\"stream\":true", "\"stream\":false");
    assert!(body_text(&post(&mut model, &plain)).starts_with("event: message_start"));
}

#[test]
fn errors_have_the_status_of_their_type_and_the_headers_of_the_script() {
    let answer = answer_of(&json!({
        "error": {"type": "rate_limit_error", "message": "Slow down"},
        "headers": {"Retry-After": "3"}
    }));
    assert_eq!(status(&answer), 429);
    let Some(Piece::Head { headers, .. }) = answer.first() else {
        panic!("the head comes first");
    };
    assert!(headers.contains(&("retry-after".into(), "3".into())));
    let error: Value = serde_json::from_slice(&body(&answer)).expect("JSON");
    assert_eq!(
        error,
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down"}})
    );
    let overloaded = json!({"error": {"type": "overloaded_error", "message": "x"}});
    assert_eq!(status(&answer_of(&overloaded)), 529);
    let own = json!({"error": {"type": "api_error", "message": "x"}, "status": 503});
    assert_eq!(status(&answer_of(&own)), 503);
}

#[test]
fn a_200_with_html_and_bytes_that_are_not_text() {
    let html = answer_of(&json!({
        "body": "<html>Sign in</html>",
        "headers": {"content-type": "text/html"}
    }));
    assert_eq!(status(&html), 200);
    assert_eq!(body_text(&html), "<html>Sign in</html>");
    let invalid = answer_of(&json!({"body": {"hex": "ff FE 00", "repeat": 2}}));
    assert_eq!(body(&invalid), [0xff, 0xfe, 0, 0xff, 0xfe, 0]);
}

#[test]
fn an_oversized_body_is_not_held_in_memory() {
    let answer = answer_of(&json!({"body": {"text": "0123456789", "repeat": 100_000_001}}));
    let mut total = 0usize;
    let mut addresses = std::collections::BTreeSet::new();
    for piece in &answer {
        if let Piece::Bytes(bytes) = piece {
            total += bytes.len();
            addresses.insert(bytes.as_ptr() as usize);
        }
    }
    assert_eq!(total, 1_000_000_010);
    assert_eq!(addresses.len(), 1, "all pieces are the same memory");
}

#[test]
fn faults_happen_where_they_are_placed() {
    let with = |faults: Value| {
        answer_of(
            &json!({"text": "abcdef", "stream": {"delta_chars": 2, "ping_every": 0}, "faults": faults}),
        )
    };
    let cut = with(json!([{"after_events": 3, "cut": true}]));
    assert_eq!(cut.last(), Some(&Piece::Cut));
    assert_eq!(events(&cut).len(), 3);

    let bytes = with(json!([{"after_bytes": 100, "cut": true}]));
    assert_eq!(bytes.last(), Some(&Piece::Cut));
    assert_eq!(body(&bytes).len(), 100);

    let error =
        with(json!([{"after_events": 4, "error": {"type": "overloaded_error", "message": "O"}}]));
    assert_eq!(error.last(), Some(&Piece::End));
    let sent = events(&error);
    assert_eq!(sent.len(), 5);
    assert_eq!(sent[4].0, "error");
    assert_eq!(sent[4].1["error"]["type"], "overloaded_error");

    let garbage = with(json!([
        {"after_events": 1, "insert": "data: {oops\n\n"},
        {"after_events": 1, "insert": {"hex": "ff"}},
        {"after_events": 99, "hang": true}
    ]));
    let sent = body(&garbage);
    let at = sent.windows(14).position(|w| w == b"data: {oops\n\n\xff");
    assert!(
        at.is_some(),
        "both inserted bytes stand one after the other"
    );
    assert_eq!(garbage.last(), Some(&Piece::Hang));

    let short = with(json!([{"after_events": 2, "end": true}]));
    assert_eq!((events(&short).len(), short.last()), (2, Some(&Piece::End)));

    assert_eq!(answer_of(&json!({"cut": true})), [Piece::Cut]);
}

#[test]
fn waits_are_reported_before_the_head_and_before_every_piece() {
    let answer = answer_of(&json!({
        "text": "Hi",
        "chunks": "whole",
        "delay_ms": {"head": 50, "chunk": 7}
    }));
    assert_eq!(answer[0], Piece::Delay(50));
    assert!(matches!(answer[1], Piece::Head { .. }));
    assert_eq!(answer[2], Piece::Delay(7));
    assert!(matches!(answer[3], Piece::Bytes(_)));
    assert_eq!(answer[4..], [Piece::End]);
}

#[test]
fn repeated_exchanges_give_fresh_ids_and_count_their_tokens() {
    let script = r#"{"exchanges": [{"repeat": 2, "respond": {"content": [{"type": "tool_use", "name": "Read"}]}}]}"#;
    let mut model = ScriptedModel::new(Script::parse(script).expect("a script"));
    let first = body_text(&post(&mut model, &hello()));
    let second = body_text(&post(&mut model, &hello()));
    assert!(first.contains("\"id\":\"toolu_1_1\"") && first.contains("\"id\":\"msg_1\""));
    assert!(second.contains("\"id\":\"toolu_1r2_1\"") && second.contains("\"id\":\"msg_1r2\""));
    let tokens = hello().len().div_ceil(4);
    assert!(first.contains(&format!("\"input_tokens\":{tokens},")));
    assert!(model.verify().is_ok());
}

#[test]
fn an_unread_request_is_answered_too() {
    let script = r#"{"validate": false, "exchanges": [{"respond": "Hi"}]}"#;
    let mut model = ScriptedModel::new(Script::parse(script).expect("a script"));
    // Cut after the two fields that an answer depends on: nothing behind them is looked at.
    let answer = model.answer(&RequestView {
        path: "/v1/messages",
        headers: &[],
        body: br#"{"model":"m-9","stream":true,"messages":[{"role"#,
    });
    assert_eq!(status(&answer), 200);
    assert!(body_text(&answer).contains("\"model\":\"m-9\""));
}

/// A script's response in any shape that is valid.
fn any_response() -> impl Strategy<Value = Value> {
    let text = "[ -~äß漢\n]{0,60}";
    let block = prop_oneof![
        text.prop_map(Value::from),
        (text, "[a-z]{0,8}")
            .prop_map(|(t, s)| json!({"type": "thinking", "thinking": t, "signature": s})),
        (text, text)
            .prop_map(|(k, v)| json!({"type": "tool_use", "name": "T", "input": {"k": k, "v": v}})),
    ];
    (
        proptest::collection::vec(block, 0..4),
        0usize..9,
        any::<bool>(),
        proptest::option::of(0usize..6),
    )
        .prop_map(|(content, delta_chars, interleave, ping_every)| {
            json!({"content": content, "stream": {
                "delta_chars": delta_chars, "interleave": interleave, "ping_every": ping_every
            }})
        })
}

/// Any way to cut a body.
fn any_chunks() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("event")),
        Just(json!("whole")),
        (1usize..50).prop_map(|n| json!({"bytes": n})),
        (any::<u32>(), 1usize..50).prop_map(|(s, m)| json!({"random": {"seed": s, "max": m}})),
    ]
}

proptest! {
    #[test]
    fn however_it_is_cut_the_bytes_are_the_same(respond in any_response(), chunks in any_chunks()) {
        let whole = body(&answer_of(&respond));
        let mut cut = respond;
        cut["chunks"] = chunks.clone();
        let answer = answer_of(&cut);
        prop_assert_eq!(&body(&answer), &whole);
        prop_assert_eq!(&answer, &answer_of(&cut), "the same every time");
        let limit = chunks["bytes"].as_u64().or(chunks["random"]["max"].as_u64());
        for piece in &answer {
            if let (Piece::Bytes(bytes), Some(limit)) = (piece, limit) {
                prop_assert!(!bytes.is_empty() && bytes.len() as u64 <= limit);
            }
        }
    }

    #[test]
    fn a_stream_adds_up_to_the_plain_json(respond in any_response()) {
        let streamed = assembled(&answer_of(&respond));
        let mut plain = respond;
        plain["form"] = json!("json");
        let message: Value = serde_json::from_slice(&body(&answer_of(&plain))).expect("JSON");
        let blocks = message["content"].as_array().expect("blocks");
        prop_assert_eq!(blocks.len(), streamed.len());
        for (block, streamed) in blocks.iter().zip(&streamed) {
            let (kind, sum) = streamed.split_once(':').expect("a kind");
            prop_assert_eq!(block["type"].as_str(), Some(kind));
            match kind {
                "text" => prop_assert_eq!(block["text"].as_str(), Some(sum)),
                "thinking" => {
                    let parts = [&block["thinking"], &block["signature"]].map(|v| v.as_str().expect("text"));
                    prop_assert_eq!(parts.concat(), sum);
                }
                _ => prop_assert_eq!(&block["input"], &serde_json::from_str::<Value>(sum).expect("JSON")),
            }
        }
    }

    #[test]
    fn a_cut_leaves_exactly_the_bytes_before_it(respond in any_response(), at in 0usize..4000, chunks in any_chunks()) {
        let whole = body(&answer_of(&respond));
        let mut cut = respond;
        cut["faults"] = json!([{"after_bytes": at, "cut": true}]);
        cut["chunks"] = chunks;
        let answer = answer_of(&cut);
        prop_assert_eq!(&body(&answer)[..], &whole[..at.min(whole.len())]);
        prop_assert_eq!(answer.last(), Some(&Piece::Cut));
    }

    #[test]
    fn what_the_model_says_is_a_valid_history(respond in any_response()) {
        // The message as a client would keep it, followed by a result for every call.
        let mut plain = respond;
        plain["form"] = json!("json");
        let message: Value = serde_json::from_slice(&body(&answer_of(&plain))).expect("JSON");
        let kept: Vec<Value> = (message["content"].as_array().expect("blocks").iter())
            .filter(|b| match b["type"].as_str() {
                Some("text") => !b["text"].as_str().expect("text").trim().is_empty(),
                Some("thinking") => b["signature"] != "",
                _ => true,
            })
            .cloned()
            .collect();
        prop_assume!(!kept.is_empty());
        let mut results: Vec<Value> = (kept.iter().filter(|b| b["type"] == "tool_use"))
            .map(|b| json!({"type": "tool_result", "tool_use_id": b["id"], "content": "ok"}))
            .collect();
        results.push(json!({"type": "text", "text": "go on"}));
        let next = request(&json!([
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": kept},
            {"role": "user", "content": results},
        ]));
        prop_assert_eq!(windlass_testkit::validate_request(next.as_bytes()), Ok(()));
    }
}

#[test]
fn ids_and_models_can_be_fixed() {
    let answer = answer_of(&json!({
        "content": [{"type": "tool_use", "id": "toolu_fixed", "name": "T"}],
        "id": "msg_fixed", "model": "other", "stop_reason": "max_tokens"
    }));
    let text = body_text(&answer);
    for part in [
        "\"toolu_fixed\"",
        "\"msg_fixed\"",
        "\"model\":\"other\"",
        "\"max_tokens\"",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let sent: Vec<String> = (events(&answer).iter())
        .filter(|(name, _)| name == "content_block_delta")
        .map(|(_, data)| data["delta"]["partial_json"].as_str().expect("text").into())
        .collect();
    assert_eq!(
        sent,
        [""],
        "an empty input is one empty piece, as the API sends it"
    );
}
