//! Pieces of text have a short way through the decoder: no event means anything else on it than on the way of all events.

use proptest::prelude::*;
use serde_json::json;
use windlass_core::provider::{Decoder, Provider, Response, WireError, messages::MessagesApi};

use crate::harness::{event, message_start};

/// A response with a text (0), a call (1) and a thought (2), in which these events come.
fn decode(events: &[String]) -> Result<(Response, Vec<String>), WireError> {
    let blocks = [
        json!({"type": "text", "text": ""}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "Note", "input": {}}),
        json!({"type": "thinking", "thinking": "", "signature": ""}),
    ];
    let started = blocks.iter().enumerate().map(|(index, block)| {
        event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
    });
    let mut body = event(&message_start(&json!({})));
    body.extend(started);
    body.extend(events.iter().map(|data| format!("data: {data}\n\n")));
    body += &event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
    body += &event(&json!({"type": "message_stop"}));
    let mut decoder: Box<dyn Decoder> = MessagesApi.decoder("text/event-stream", true);
    decoder.feed(body.as_bytes())?;
    let events = decoder.take_events();
    let events = events.iter().map(|event| event.get().to_owned()).collect();
    Ok((decoder.finish()?, events))
}

/// The same event with a blank before it, which no server writes: the short way is not taken.
fn on_the_long_way(data: &str) -> String {
    format!(" {data}")
}

fn delta() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just(r#""text_delta","text":"#),
        Just(r#""input_json_delta","partial_json":"#),
        Just(r#""thinking_delta","thinking":"#),
        Just(r#""signature_delta","signature":"#),
        Just(r#""tomorrow_delta","text":"#),
    ];
    let index = "(0|1|2|3|00|01|2[0-9]{0,11}|-1|1.0|1e0|)";
    let piece = prop_oneof!["\\PC{0,30}", "([a-z ]|\\PC|[\\x00-\\x1f\\x7f\"\\\\]){0,12}"];
    let end = prop_oneof![3 => Just("}}".to_owned()), 1 => "[ \\t}\\],{]{0,6}"];
    let change = prop_oneof![3 => Just(None), 1 => any::<(usize, char)>().prop_map(Some)];
    (kind, index, piece, end, change).prop_map(|(kind, index, piece, end, change)| {
        let text = format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":{kind}"{piece}"{end}"#
        );
        let mut chars: Vec<char> = text.chars().collect();
        if let Some((at, char)) = change {
            let at = at % chars.len();
            chars[at] = char;
        }
        chars.into_iter().collect()
    })
}

#[test]
fn pieces_without_escapes_are_added_to_their_blocks() {
    let piece = |index: u32, fields: &str| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":{fields}"#)
    };
    let events = [
        piece(0, r#""text_delta","text":"Grüß "}}"#),
        piece(0, r#""text_delta","text":"Gott"}      }"#),
        piece(1, r#""input_json_delta","partial_json":"{}"}}"#),
        piece(2, r#""thinking_delta","thinking":"Hm"}}"#),
    ];
    let (response, told) = decode(&events).unwrap();
    let blocks: Vec<String> = (response.content.iter())
        .map(|block| block.to_raw().get().to_owned())
        .collect();
    assert!(blocks[0].contains("Grüß Gott"), "{blocks:?}");
    assert!(blocks[2].contains("Hm"), "{blocks:?}");
    // What is passed on is what came.
    assert_eq!(told[4..8], events);
}

#[test]
fn a_piece_for_a_block_that_was_never_started_is_an_error() {
    let data =
        r#"{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}"#;
    let short = decode(&[data.to_owned()]).unwrap_err().to_string();
    let long = decode(&[on_the_long_way(data)]).unwrap_err().to_string();
    assert!(short.contains("content block 7"), "{short}");
    assert_eq!(short, long);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn the_short_way_and_the_long_one_read_the_same(deltas in prop::collection::vec(delta(), 1..4)) {
        let long: Vec<String> = deltas.iter().map(|data| on_the_long_way(data)).collect();
        match (decode(&deltas), decode(&long)) {
            (Ok(short), Ok(long)) => prop_assert_eq!(short, long),
            (Err(_), Err(_)) => {}
            (short, long) => prop_assert!(false, "{short:?} but {long:?}"),
        }
    }
}
