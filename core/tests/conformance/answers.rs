//! Answers that are understood: the same script, the same response.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::provider::{Provider as _, StopReason, openai::ChatCompletions};

use super::{content, decode, exchange, formats, head_and_body};

/// An answer and what is to be understood of it.
struct Case {
    name: &'static str,
    respond: Value,
    content: Value,
    stop: StopReason,
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn cases() -> Vec<Case> {
    let case = |name, respond, content, stop| Case {
        name,
        respond,
        content,
        stop,
    };
    let paris = json!({"city": "Paris", "days": [1, 2.50], "note": "a \"b\"\n\u{1F600}"});
    let parallel = json!([
        text("Both."),
        call("call_a", "Read", json!({"path": "a"})),
        call("call_b", "Read", json!({"path": "b"})),
        call("call_c", "List", json!({})),
    ]);
    vec![
        case(
            "text",
            json!("Hello, world."),
            json!([text("Hello, world.")]),
            StopReason::EndTurn,
        ),
        case(
            "text in small pieces",
            json!({"text": "Grüße, 世界! \\ \"x\" \u{1F600}\n\t.", "stream": {"delta_chars": 1, "ping_every": 3}}),
            json!([text("Grüße, 世界! \\ \"x\" \u{1F600}\n\t.")]),
            StopReason::EndTurn,
        ),
        case(
            "thinking",
            json!({"content": [{"type": "thinking", "thinking": "Hm. So it is.", "signature": "c2ln"}, "Yes."]}),
            json!([{"type": "thinking", "thinking": "Hm. So it is."}, text("Yes.")]),
            StopReason::EndTurn,
        ),
        case(
            "a tool call",
            json!({"content": ["Wait.", call("toolu_9", "Weather", paris.clone())], "stream": {"delta_chars": 3}}),
            json!([text("Wait."), call("toolu_9", "Weather", paris)]),
            StopReason::ToolUse,
        ),
        case(
            "parallel calls",
            json!({"content": parallel, "stream": {"delta_chars": 4}}),
            parallel.clone(),
            StopReason::ToolUse,
        ),
        case(
            "parallel calls whose pieces come in turns",
            json!({"content": parallel, "stream": {"delta_chars": 2, "interleave": true}}),
            parallel,
            StopReason::ToolUse,
        ),
        case(
            "a refusal",
            json!({"text": "I cannot help with that.", "stop_reason": "refusal", "stream": {"delta_chars": 5}}),
            json!([text("I cannot help with that.")]),
            StopReason::Refusal,
        ),
        case(
            "a text cut by the limit",
            json!({"text": "And then", "stop_reason": "max_tokens"}),
            json!([text("And then")]),
            StopReason::MaxTokens,
        ),
        case(
            "a reason of tomorrow",
            json!({"text": "x", "stop_reason": "tomorrow"}),
            json!([text("x")]),
            StopReason::Other("tomorrow".into()),
        ),
        case(
            "events that nobody knows",
            json!({"text": "Hello.", "stream": {"delta_chars": 2}, "faults": [
                {"after_events": 2, "insert": ": alive\r\n\r\nevent: tomorrow\nid: 7\nretry: 9\ndata: {\"type\":\"tomorrow\",\"choices\":[],\"x\":{\"y\":[1]}}\n\n"},
                {"after_events": 4, "insert": ":\n\ndata: {\"type\":\"tomorrow\",\"choices\":null}\n\n"},
            ]}),
            json!([text("Hello.")]),
            StopReason::EndTurn,
        ),
    ]
}

fn has_faults(case: &Case) -> bool {
    case.respond.get("faults").is_some()
}

#[test]
fn every_answer_is_understood_streamed_or_not() {
    for (format, provider) in formats() {
        for case in cases() {
            for stream in [true, false] {
                if !stream && has_faults(&case) {
                    continue; // events stand in streams
                }
                let (status, kind, body) =
                    head_and_body(&exchange(&provider, &case.respond, stream));
                assert_eq!(status, 200);
                assert_eq!(kind.contains("event-stream"), stream);
                let response = decode(&*provider, &kind, &[&body]).unwrap();
                let what = format!("{format}: {}, stream {stream}", case.name);
                assert_eq!(content(&response), case.content, "{what}");
                assert_eq!(response.stop_reason, Some(case.stop.clone()), "{what}");
                assert_eq!(response.model, super::MODEL, "{what}");
                assert!(!response.id.is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn it_does_not_matter_where_the_bytes_are_cut() {
    for (format, provider) in formats() {
        for case in cases() {
            for stream in [true, false] {
                if !stream && has_faults(&case) {
                    continue;
                }
                let (_, kind, body) = head_and_body(&exchange(&provider, &case.respond, stream));
                let whole = decode(&*provider, &kind, &[&body]).unwrap();
                for at in 0..=body.len() {
                    let (a, b) = body.split_at(at);
                    let parted = decode(&*provider, &kind, &[a, b]).unwrap();
                    assert_eq!(parted, whole, "{format}: {} at {at}", case.name);
                }
                let single: Vec<&[u8]> = body.chunks(1).collect();
                assert_eq!(decode(&*provider, &kind, &single).unwrap(), whole);
            }
        }
    }
}

#[test]
fn a_prefix_of_an_answer_is_cut_or_says_the_same() {
    for (format, provider) in formats() {
        for case in cases() {
            for stream in [true, false] {
                if !stream && has_faults(&case) {
                    continue;
                }
                let (_, kind, body) = head_and_body(&exchange(&provider, &case.respond, stream));
                let mut cuts = 0;
                for at in 1..body.len() {
                    match decode(&*provider, &kind, &[&body[..at]]) {
                        // Everything was said; only the last words of the protocol are missing.
                        Ok(response) => {
                            assert!(stream, "{format}: {} at {at}", case.name);
                            assert_eq!(content(&response), case.content, "{format} at {at}");
                            assert_eq!(response.stop_reason, Some(case.stop.clone()));
                        }
                        Err(error) => {
                            cuts += 1;
                            assert!(error.into_api_error().retryable, "{format} at {at}");
                        }
                    }
                }
                assert!(cuts > body.len() / 3, "{format}: {}", case.name);
            }
        }
    }
}

#[test]
fn a_call_without_arguments_has_an_empty_input() {
    let respond = json!({"content": [{"type": "tool_use", "name": "List"}]});
    for (format, provider) in formats() {
        for stream in [true, false] {
            let (_, kind, body) = head_and_body(&exchange(&provider, &respond, stream));
            let response = decode(&*provider, &kind, &[&body]).unwrap();
            let expected = json!([call("toolu_1_1", "List", json!({}))]);
            assert_eq!(content(&response), expected, "{format}");
        }
    }
}

#[test]
fn an_input_that_the_limit_cut_is_given_as_it_came() {
    let respond = json!({"stop_reason": "max_tokens", "content": [
        {"type": "tool_use", "name": "Write", "input_text": "{\"path\": \"a\", \"content\": \"half of"}
    ]});
    for (format, provider) in formats() {
        let (_, kind, body) = head_and_body(&exchange(&provider, &respond, true));
        let response = decode(&*provider, &kind, &[&body]).unwrap();
        assert_eq!(
            response.stop_reason,
            Some(StopReason::MaxTokens),
            "{format}"
        );
        let windlass_core::content::Block::ToolUse(call) = &response.content[0] else {
            panic!("{format}: {response:?}");
        };
        assert_eq!(
            call.input,
            Err("{\"path\": \"a\", \"content\": \"half of".into()),
            "{format}"
        );
    }
}

#[test]
fn tokens_are_counted_alike() {
    let respond = json!({"text": "x", "usage": {
        "input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 5
    }});
    for (format, provider) in formats() {
        for stream in [true, false] {
            let (_, kind, body) = head_and_body(&exchange(&provider, &respond, stream));
            let usage = decode(&*provider, &kind, &[&body]).unwrap().usage;
            assert_eq!(usage.input_tokens, 11, "{format}");
            assert_eq!(usage.output_tokens, 7, "{format}");
            assert_eq!(usage.cache_read_input_tokens, 5, "{format}");
        }
    }
}

/// What a client makes of stream events: every block with its deltas added up.
fn assembled(events: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs: Vec<String> = Vec::new();
    let mut open = 0_i32;
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0) as usize;
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(index, blocks.len(), "blocks open in their order");
                open += 1;
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                for field in ["text", "thinking"] {
                    if let Some(more) = event["delta"][field].as_str() {
                        let before = blocks[index][field].as_str().unwrap().to_owned();
                        blocks[index][field] = (before + more).into();
                    }
                }
                inputs[index] += event["delta"]["partial_json"].as_str().unwrap_or("");
            }
            "content_block_stop" => open -= 1,
            _ => {}
        }
    }
    assert_eq!(open, 0, "every block is closed");
    for (block, input) in blocks.iter_mut().zip(inputs) {
        block.as_object_mut().unwrap().remove("signature");
        if !input.is_empty() {
            block["input"] = serde_json::from_str(&input).unwrap();
        }
    }
    blocks
}

#[test]
fn stream_events_are_those_of_the_messages_api_whatever_is_spoken() {
    for (format, provider) in formats() {
        for case in cases() {
            let (_, kind, body) = head_and_body(&exchange(&provider, &case.respond, true));
            let mut decoder = provider.decoder(&kind, true);
            let mut events: Vec<Value> = Vec::new();
            for piece in body.chunks(7) {
                decoder.feed(piece).unwrap();
                let new = decoder.take_events();
                events.extend(
                    new.iter()
                        .map(|e| serde_json::from_str::<Value>(e.get()).unwrap()),
                );
            }
            assert!(decoder.is_complete());
            events.retain(|event| event["type"] != "tomorrow");
            assert_eq!(
                events[0]["type"], "message_start",
                "{format}: {}",
                case.name
            );
            assert_eq!(events.last().unwrap()["type"], "message_stop");
            let stop = &events[events.len() - 2];
            assert_eq!(stop["delta"]["stop_reason"], json!(case.stop), "{format}");
            assert_eq!(
                Value::from(assembled(&events)),
                case.content,
                "{format}: {}",
                case.name
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_cutting_of_any_answer_gives_the_same(
        which in 0..cases().len(),
        stream in any::<bool>(),
        cuts in prop::collection::vec(0..4096_usize, 0..12),
    ) {
        let case = &cases()[which];
        for (_, provider) in formats() {
            let (_, kind, body) = head_and_body(&exchange(&provider, &case.respond, stream || has_faults(case)));
            let mut places: Vec<usize> = cuts.iter().map(|at| at % (body.len() + 1)).collect();
            places.extend([0, body.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &body[pair[0]..pair[1]]).collect();
            let response = decode(&*provider, &kind, &pieces).unwrap();
            prop_assert_eq!(content(&response), case.content.clone());
        }
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(
        which in 0..cases().len(),
        at in 0..4096_usize,
        noise in prop::collection::vec(any::<u8>(), 0..20),
        gone in 0..40_usize,
    ) {
        let case = &cases()[which];
        for (_, provider) in formats() {
            let (_, kind, mut body) = head_and_body(&exchange(&provider, &case.respond, true));
            let at = at % body.len();
            let end = (at + gone).min(body.len());
            body.splice(at..end, noise.iter().copied());
            for wants_events in [true, false] {
                let mut decoder = provider.decoder(&kind, wants_events);
                if decoder.feed(&body).is_ok() {
                    decoder.take_events();
                    let _ = decoder.finish();
                }
            }
            let _ = decode(&*provider, "application/json", &[&body]);
            let _ = provider.error(400, &body);
        }
        let _ = ChatCompletions::default().error(400, &noise);
    }
}
