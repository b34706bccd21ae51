use secrecy::SecretString;
use serde_json::{Value, json};

use super::*;

const KEY: &str = "sk-ant-api03-0123456789-abcdef";

fn redactor() -> Redactor {
    Redactor::new([&SecretString::from(KEY)])
}

/// The events of a text block, with this many characters each.
fn block(index: usize, text: &str, size: usize) -> Vec<String> {
    let pieces = text.as_bytes().chunks(size);
    let event = |piece: &[u8]| {
        let text = std::str::from_utf8(piece).unwrap();
        let data = json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "text_delta", "text": text}});
        format!("event: content_block_delta\ndata: {data}\n\n")
    };
    pieces.map(event).collect()
}

/// The text of a block in these events.
fn said(events: &str, index: usize) -> String {
    let data = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let of_block = events.filter(|event| event["index"] == index);
    let texts = of_block.filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned));
    texts.collect()
}

fn clean(events: &str, size: usize) -> String {
    let mut stream = redactor().events();
    let mut clean = Vec::new();
    for piece in events.as_bytes().chunks(size) {
        clean.extend_from_slice(&stream.take(Bytes::copy_from_slice(piece)));
    }
    clean.extend_from_slice(&stream.finish());
    String::from_utf8(clean).unwrap()
}

#[test]
fn a_key_is_found_over_however_many_events_it_is_said() {
    let text = format!("It was sk-ant-{KEY}, {KEY}{KEY} and sk-ant-api03-, yes");
    for size in 1..text.len() {
        let events = block(0, &text, size).concat();
        for piece in [1, 10, 100, events.len()] {
            let said = said(&clean(&events, piece), 0);
            assert!(!said.contains("-0123456789-"), "{size}: {said}");
            assert!(said.contains(REPLACEMENT), "{size}: {said}");
            assert!(said.starts_with("It was sk-ant-"), "{size}: {said}");
            assert!(said.ends_with(" and sk-ant-api03-, yes"), "{size}: {said}");
        }
    }
}

#[test]
fn blocks_that_are_said_in_turns_are_not_mixed_up() {
    let (one, two) = (
        block(0, &format!("a {KEY} b"), 3),
        block(1, "sk-ant-nothing", 2),
    );
    let mut events = String::new();
    for n in 0..one.len().max(two.len()) {
        events.extend(one.get(n).map(String::as_str));
        events.push_str("event: ping\ndata: {\"type\": \"ping\"}\n\n");
        events.extend(two.get(n).map(String::as_str));
    }
    let clean = clean(&events, 50);
    let first = said(&clean, 0);
    assert!(
        first.contains(REPLACEMENT) && !first.contains("0123"),
        "{first}"
    );
    assert_eq!(said(&clean, 1), "sk-ant-nothing");
}

#[test]
fn signs_of_life_hold_nothing_up_and_take_no_room() {
    let pieces = block(0, &format!("a {KEY} b"), 1);
    let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n: alive\n\n".repeat(50);
    let clean = clean(&pieces.join(&ping), 64);
    let said = said(&clean, 0);
    // A beginning too short to be held back stays.
    assert_eq!(said, format!("a sk-{REPLACEMENT} b"));
    assert_eq!(clean.matches(": alive").count(), 50 * (pieces.len() - 1));
}

#[test]
fn both_formats_of_events_are_known() {
    let pieces = KEY.as_bytes().chunks(5).map(|piece| {
        let text = std::str::from_utf8(piece).unwrap();
        format!(
            "data: {{\"id\": \"c\", \"choices\": [{{\"index\": 0, \"delta\": {{\"content\": \"{text}\"}}}}]}}\r\n\r\n"
        )
    });
    let clean = clean(&pieces.collect::<String>(), 64);
    assert!(clean.contains("[key]") && !clean.contains("012"), "{clean}");
    assert!(clean.ends_with("data: {\"id\": \"c\", \"choices\": [{\"index\": 0, \"delta\": {\"content\": \"[key]\"}}]}\r\n\r\n"), "{clean}");
}

#[test]
fn what_else_changes_from_event_to_event_hides_no_key() {
    let pieces: Vec<&str> = [&KEY[..4], &KEY[4..9], &KEY[9..10], &KEY[10..]].to_vec();
    let shapes: [fn(usize, &str) -> String; 6] = [
        |n, text| format!("id: {n}\ndata: {{\"index\":0,\"delta\":{{\"text\":\"{text}\"}}}}\n\n"),
        |n, text| {
            format!("data: {{\"seq\":{n},\"index\":0,\"delta\":{{\"text\":\"{text}\"}}}}\n\n")
        },
        |n, text| match n {
            0 => format!(
                "data: {{\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}\n\n"
            ),
            _ => format!("data: {{\"delta\":{{\"text\":\"{text}\"}},\"index\":0}}\n\n"),
        },
        |n, text| match n {
            0 => format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}}}]}}\n\n"
            ),
            _ => format!(
                "data: {{\"created\":{n},\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
            ),
        },
        |n, text| match n {
            0 => format!(
                "data: {{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"f\",\"arguments\":\"{text}\"}}}}]}}\n\n"
            ),
            _ => format!(
                "data: {{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{text}\"}}}}]}}\n\n"
            ),
        },
        |n, text| {
            format!("data: {{\"index\":0,\"refusal\":\"{text}\"}}\n\ndata: {{\"usage\":{n}}}\n\n")
        },
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let shaped = pieces.iter().enumerate().map(|(n, text)| shape(n, text));
        let clean = clean(&shaped.collect::<String>(), 64);
        for piece in &pieces[1..] {
            assert!(
                !clean.contains(&format!("\"{piece}\"")),
                "{number}: {clean}"
            );
        }
        assert!(clean.contains(REPLACEMENT), "{number}: {clean}");
    }
}

#[test]
fn texts_of_one_event_are_not_one_text() {
    let event = |one: &str, two: &str| {
        format!("data: {{\"content\":[{{\"text\":\"{one}\"}},{{\"text\":\"{two}\"}}]}}\n\n")
    };
    let (first, second) = KEY.split_at(10);
    let both = [event(first, first), event(second, "no")].concat();
    let expected = [event("", first), event(REPLACEMENT, "no")].concat();
    assert_eq!(clean(&both, 64), expected);
    let turned = [event(second, first), event("no", second)].concat();
    let expected = [event(second, ""), event("no", REPLACEMENT)].concat();
    assert_eq!(clean(&turned, 64), expected);
    let apart = event(first, second);
    assert_eq!(clean(&apart, 64), apart);
}

/// However the texts are interleaved: no text contains a key in the end, and other text is unchanged.
#[test]
fn whatever_is_said_in_turns_no_text_holds_a_key() {
    let seed = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap()
        .as_millis() as u64;
    let mut state = seed;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    // A beginning too short to be held back may stay before the replacement.
    let plain = |text: &str| {
        let mut text = text.to_owned();
        for begun in ["sk-", "sk", "s"] {
            text = text.replace(&format!("{begun}{REPLACEMENT}"), REPLACEMENT);
        }
        text
    };
    for _ in 0..500 {
        let mut events = String::new();
        let mut said_before: [String; 4] = Default::default();
        for n in 0..40 {
            let texts: Vec<(usize, String)> = (0..1 + below(3))
                .map(|_| {
                    let begin = below(KEY.len());
                    let end = begin + below(KEY.len() - begin + 1);
                    let text = match below(4) {
                        0 => "no".to_owned(),
                        1 => KEY.to_owned(),
                        _ => KEY[begin..end].to_owned(),
                    };
                    (below(4), text)
                })
                .collect();
            let blocks: Vec<String> = (texts.iter())
                .map(|(field, text)| {
                    let field = ["text", "thinking", "arguments", "content"][*field];
                    format!("{{\"{field}\":\"{text}\"}}")
                })
                .collect();
            events.push_str(&format!(
                "data: {{\"n\":{n},\"of\":[{}]}}\n\n",
                blocks.join(",")
            ));
            let mut seen = [false; 4];
            for (field, text) in texts {
                // A second field of the same name in an event is a separate text.
                if !std::mem::replace(&mut seen[field], true) {
                    said_before[field].push_str(&text);
                }
            }
        }
        let clean = clean(&events, 1 + below(200));
        assert!(!clean.contains(KEY), "seed {seed}");
        let read = clean.lines().filter_map(|line| line.strip_prefix("data: "));
        let events: Vec<Value> = read
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        for (number, field) in ["text", "thinking", "arguments", "content"]
            .iter()
            .enumerate()
        {
            let pieces = events.iter().filter_map(|event| {
                let of = event["of"].as_array()?;
                of.iter().find_map(|block| block[field].as_str())
            });
            let said: String = pieces.collect();
            assert!(!said.contains(KEY), "seed {seed}: {said}");
            let expected = said_before[number].replace(KEY, REPLACEMENT);
            assert_eq!(plain(&said), plain(&expected), "seed {seed}");
        }
    }
}

#[test]
fn the_work_is_proportional_to_what_comes() {
    let text = "{\"text\": \"s\"}, ".repeat(200_000);
    let many = "data: {\"text\": \"s\"}\n\n".repeat(10_000);
    let distinct: String = (0..10_000)
        .map(|n| format!("data: {{\"n\": {n}, \"text\": \"sk-ant-\"}}\n\n"))
        .collect();
    let endless = format!("data: {text}");
    // Each of these would take minutes if data was searched repeatedly.
    for events in [format!("data: {text}\n\n"), endless, many, distinct] {
        assert_eq!(clean(&events, 64), events);
    }
}

#[test]
fn what_holds_no_key_is_left_as_it_is() {
    let mut events = block(0, "He asks: \"sk-ant-api\\03\"? Yes.", 2).concat();
    events.push_str("event: content_block_stop\ndata: {\"index\": 0}\n\n");
    events
        .push_str(": comment\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"sk\"}}]}\r\n\r\n");
    events.push_str("data: {\"text\": \"sk-ant-api03");
    for size in [1, 7, 1000] {
        assert_eq!(clean(&events, size), events);
    }
}

#[test]
fn an_event_is_held_back_only_while_its_text_may_become_a_key() {
    let mut stream = redactor().events();
    let mut take = |text: &str| {
        let event = block(0, text, 100).concat();
        stream.take(Bytes::copy_from_slice(event.as_bytes())).len()
    };
    assert_ne!(take("This is"), 0);
    assert_eq!(take(" sk-ant"), 0);
    assert_ne!(take("elope"), 0);
    assert_eq!(take("sk-ant-"), 0);
    let stop = Bytes::from_static(b"data: {\"type\": \"content_block_stop\"}\n\n");
    assert_ne!(stream.take(stop).len(), 0);
}
