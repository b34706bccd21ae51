//! Responses: the same bytes give the same response however they are cut, and no bytes do harm.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::{
    content::Block,
    money::Usd,
    permission::Rule,
    provider::{Decoder, Provider, Response, StopReason, WireError, messages::MessagesApi},
    sse::SseParser,
};

use crate::harness::{MODEL, block_events, event, message_start, sse, tool_use};

const STREAM: &str = "text/event-stream; charset=utf-8";

fn decode(content_type: &str, pieces: &[&[u8]]) -> Result<(Response, Vec<String>), WireError> {
    let mut decoder: Box<dyn Decoder> = MessagesApi.decoder(content_type, true);
    let mut events = Vec::new();
    for piece in pieces {
        let fed = decoder.feed(piece);
        events.extend(decoder.take_events().iter().map(|e| e.get().to_owned()));
        fed?;
    }
    Ok((decoder.finish()?, events))
}

fn sample_blocks() -> Vec<Value> {
    vec![
        json!({"type": "thinking", "thinking": "Grübel, grübel 🤔", "signature": "c2ln"}),
        json!({"type": "text", "text": "Line\nbreak \"quoted\" \u{2028} 日本語"}),
        tool_use("toolu_1", "Note", json!({"text": "{\"}\\", "n": 1.5})),
        json!({"type": "redacted_thinking", "data": "eA=="}),
        tool_use("toolu_2", "Note", json!({})),
    ]
}

fn sample() -> String {
    sse(
        &sample_blocks(),
        "tool_use",
        &json!({"input_tokens": 12, "cache_read_input_tokens": 7, "output_tokens": 1}),
        &json!({"output_tokens": 40}),
    )
}

#[test]
fn a_stream_cut_into_two_anywhere_is_the_same_stream() {
    for line_end in ["\n", "\r\n", "\r"] {
        let body = sample().replace('\n', line_end);
        let bytes = body.as_bytes();
        let whole = decode(STREAM, &[bytes]).unwrap();
        assert_eq!(whole.0.content.len(), 5);
        for at in 0..=bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(decode(STREAM, &[a, b]).unwrap(), whole, "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(STREAM, &single).unwrap(), whole);
    }
}

#[test]
fn a_stream_and_a_plain_response_give_the_same_blocks() {
    let (streamed, _) = decode(STREAM, &[sample().as_bytes()]).unwrap();
    let plain = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
        "content": sample_blocks(), "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 7, "output_tokens": 40},
    })
    .to_string();
    for at in 0..plain.len() {
        let (a, b) = plain.as_bytes().split_at(at);
        let (whole, events) = decode("application/json", &[a, b]).unwrap();
        assert_eq!(whole, streamed);
        assert!(events.is_empty());
    }
    let blocks: Vec<Value> = (streamed.content.iter())
        .map(|block| serde_json::from_str(block.to_raw().get()).unwrap())
        .collect();
    assert_eq!(blocks, sample_blocks());
    assert_eq!(streamed.usage.input_tokens, 12);
    assert_eq!(streamed.usage.output_tokens, 40, "the last count holds");
}

#[test]
fn several_blocks_may_be_open_at_once() {
    let blocks = sample_blocks();
    let mut queues: Vec<Vec<Value>> = (blocks.iter().enumerate())
        .map(|(index, block)| block_events(index, block))
        .collect();
    let mut body = event(&message_start(
        &json!({"input_tokens": 12, "cache_read_input_tokens": 7}),
    ));
    // Round and round, so that all are open before the first one closes; the later ones first.
    while queues.iter().any(|queue| !queue.is_empty()) {
        for queue in queues.iter_mut().rev().filter(|queue| !queue.is_empty()) {
            body += &event(&queue.remove(0));
        }
    }
    body += &event(
        &json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 40}}),
    );
    body += &event(&json!({"type": "message_stop"}));
    let (interleaved, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
    let (in_order, _) = decode(STREAM, &[sample().as_bytes()]).unwrap();
    assert_eq!(interleaved, in_order);
}

#[test]
fn citations_are_kept_with_their_text() {
    let citation = json!({"type": "char_location", "cited_text": "x", "start_char_index": 0});
    let body = [
        message_start(&json!({})),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "", "citations": []}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": citation}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(event)
    .collect::<String>();
    let (response, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
    let block: Value = serde_json::from_str(response.content[0].to_raw().get()).unwrap();
    assert_eq!(
        block,
        json!({"type": "text", "text": "x", "citations": [citation]})
    );
}

#[test]
fn pings_comments_and_events_of_tomorrow_are_passed_over() {
    let body = sample().replace(
        "event: message_delta",
        ": keep-alive\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nid: 7\nretry: 10\ndata: {\"type\":\"tomorrow\",\"index\":99}\n\nevent: message_delta",
    );
    let (response, events) = decode(STREAM, &[body.as_bytes()]).unwrap();
    assert_eq!(response, decode(STREAM, &[sample().as_bytes()]).unwrap().0);
    assert!(events.iter().any(|e| e.contains("tomorrow")));
    assert!(!events.iter().any(|e| e.contains("ping")));
}

#[test]
fn stop_reasons_are_kept_also_those_of_tomorrow() {
    for (name, reason) in [
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::MaxTokens),
        ("stop_sequence", StopReason::StopSequence),
        ("tool_use", StopReason::ToolUse),
        ("pause_turn", StopReason::PauseTurn),
        ("refusal", StopReason::Refusal),
        ("tomorrow", StopReason::Other("tomorrow".into())),
    ] {
        let body = sse(&[], name, &json!({}), &json!({}));
        let (response, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
        assert_eq!(response.stop_reason, Some(reason));
    }
}

#[test]
fn a_stop_sequence_is_named() {
    let body = event(&message_start(&json!({})))
        + &event(
            &json!({"type": "message_delta", "delta": {"stop_reason": "stop_sequence", "stop_sequence": "###"}}),
        );
    let (response, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
    assert_eq!(response.stop_sequence.as_deref(), Some("###"));
}

#[test]
fn counts_that_are_null_are_zero() {
    let nothing = json!({
        "input_tokens": null, "cache_creation_input_tokens": null, "cache_read_input_tokens": null,
        "output_tokens": null, "server_tool_use": null,
    });
    for usage in [
        nothing,
        json!({"server_tool_use": {"web_search_requests": null}}),
        Value::Null,
    ] {
        let body = sse(&[], "end_turn", &usage, &usage);
        let (response, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
        assert_eq!(response.usage, windlass_core::provider::Usage::default());
        let plain = json!({"model": MODEL, "content": [], "stop_reason": null, "usage": usage});
        let (response, _) = decode("application/json", &[plain.to_string().as_bytes()]).unwrap();
        assert_eq!(response.usage, windlass_core::provider::Usage::default());
    }
}

#[test]
fn what_makes_no_sense_is_named() {
    let start = event(&message_start(&json!({})));
    let block = event(
        &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    let cases = [
        ("data: <html>\n\n".to_owned(), "<html>"),
        (
            event(&json!({"type": "message_stop"})),
            "before message_start",
        ),
        (
            start.clone()
                + &event(&json!({"type": "content_block_delta", "index": 3, "delta": {}})),
            "block 3",
        ),
        (start.clone() + &block + &block, "started twice"),
        (
            start + "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":7}\n\n",
            "content block 0",
        ),
    ];
    for (body, words) in cases {
        let error = decode(STREAM, &[body.as_bytes()]).unwrap_err();
        assert!(
            matches!(error, WireError::Garbled { .. }),
            "{body}: {error:?}"
        );
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_stream_that_ends_early_is_cut() {
    for body in ["", ": hello\n\n", "data: {\"type\":\"ping\"}\n\n"] {
        assert_eq!(
            decode(STREAM, &[body.as_bytes()]).unwrap_err(),
            WireError::Cut
        );
    }
    let plain = r#"{"model":"m","content":[{"type":"text","te"#;
    assert_eq!(
        decode("application/json", &[plain.as_bytes()]).unwrap_err(),
        WireError::Cut
    );
}

/// The data of each event by the plainest reading of the standard: the whole text, line by line.
fn events_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![vec![]];
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'\r' => {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                lines.push(vec![]);
            }
            b'\n' => lines.push(vec![]),
            other => lines.last_mut().unwrap().push(*other),
        }
    }
    lines.pop(); // the last one has no end
    let (mut events, mut data): (Vec<Vec<u8>>, Option<Vec<u8>>) = (vec![], None);
    for line in lines {
        if line.is_empty() {
            events.extend(data.take());
            continue;
        }
        let colon = line.iter().position(|b| *b == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (&line[..], &[][..]),
        };
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            }
        }
    }
    events
}

fn parsed(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut parser = SseParser::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        parser
            .feed(piece, |data| events.push(data.to_vec()))
            .unwrap();
    }
    events
}

fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|c| c % (bytes.len() + 1)).collect();
    places.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in places.into_iter().chain([bytes.len()]) {
        pieces.push(&bytes[from..at]);
        from = at;
    }
    pieces
}

/// Bytes that look a little like a stream.
fn stream_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data".to_vec()),
        Just(b"data:".to_vec()),
        Just(b"data: ".to_vec()),
        Just(b"database: x".to_vec()),
        Just(b"event: message_start".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b":".to_vec()),
        Just(vec![0xef, 0xbb, 0xbf]),
        Just(vec![0xef, 0xbb]),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Bytes that look very much like a response.
fn response_like() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => (0..12usize).prop_map(|i| {
            let body = sample();
            let events: Vec<&str> = body.split_inclusive("\n\n").collect();
            events[i % events.len()].as_bytes().to_vec()
        }),
        1 => "[ -~]{0,12}".prop_map(|text| format!("data: {{\"type\":\"{text}\"}}\n\n").into_bytes()),
        1 => any::<i64>().prop_map(|n| format!("data: {{\"type\":\"message_delta\",\"usage\":{{\"output_tokens\":{n}}}}}\n\n").into_bytes()),
        1 => any::<u8>().prop_map(|n| format!("data: {{\"type\":\"content_block_delta\",\"index\":{n},\"delta\":{{\"text\":\"x\",\"partial_json\":\"{{\"}}}}\n\n").into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn the_event_parser_reads_what_the_standard_says_at_any_cut(
        bytes in stream_like(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let expected = events_of(&bytes);
        prop_assert_eq!(&parsed(&[&bytes]), &expected);
        prop_assert_eq!(&parsed(&cut(&bytes, &cuts)), &expected);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic_and_cuts_change_nothing(
        bytes in response_like(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        content_type in prop_oneof![Just(STREAM), Just("application/json"), Just("")],
    ) {
        let whole = decode(content_type, &[&bytes]);
        let pieces = decode(content_type, &cut(&bytes, &cuts));
        match (whole, pieces) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
            (Err(a), Err(b)) => prop_assert_eq!(a.to_string(), b.to_string()),
            (a, b) => prop_assert!(false, "{a:?} but {b:?}"),
        }
    }

    #[test]
    fn any_text_streams_through_unchanged(texts in prop::collection::vec("\\PC{0,30}", 1..5)) {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let body = sse(&blocks, "end_turn", &json!({}), &json!({}));
        let (response, _) = decode(STREAM, &[body.as_bytes()]).unwrap();
        let said: Vec<Block> = texts.iter().map(|text| Block::text(text)).collect();
        prop_assert_eq!(response.content, said);
    }

    #[test]
    fn an_amount_is_read_as_it_is_printed(nanos in any::<u64>()) {
        let amount = Usd::from_nanos(nanos);
        let printed = amount.to_string();
        prop_assert_eq!(Usd::parse(&printed), Some(amount));
        prop_assert_eq!(serde_json::to_string(&amount).unwrap(), printed.clone());
        prop_assert_eq!(serde_json::from_str::<Usd>(&printed).unwrap(), amount);
    }

    #[test]
    fn what_is_no_amount_is_refused(text in "\\PC{0,12}") {
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && text.bytes().filter(|b| *b == b'.').count() <= 1
            && text.bytes().any(|b| b.is_ascii_digit());
        prop_assert_eq!(Usd::parse(&text).is_some(), plain, "{}", text);
    }

    #[test]
    fn a_rule_is_printed_as_it_was_written_and_no_text_makes_the_parser_panic(
        text in prop_oneof!["\\PC{0,20}", "(Bash|Read|Edit|mcp__a|Note)(\\([ -~]{0,10}\\))?"],
    ) {
        if let Ok(rule) = Rule::parse(&text) {
            prop_assert_eq!(rule.to_string(), text.trim());
            prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule);
        }
    }
}

/// Types of the core are read by the numbers of their fields and variants, which leave names out that serde calls aliases: the
/// numbers behind one would stand for other fields.
#[test]
fn no_type_of_the_core_has_an_alias() {
    fn search(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                search(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                // Tests at the end of a file may have some.
                let source = source
                    .split("#[cfg(test)]\nmod tests {")
                    .next()
                    .unwrap_or_default();
                let lines = source.lines().filter(|line| line.contains("alias = \""));
                found.extend(lines.map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    let mut found = Vec::new();
    search(
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")),
        &mut found,
    );
    assert!(found.is_empty(), "{found:#?}");
}
