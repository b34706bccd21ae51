//! The test kit from outside: what the scripted model says, how it is cut, how loudly it misses.

mod answers;
mod documented;
mod histories;
mod host;
mod misses;
mod scripts;

use serde_json::{Value, json};
use windlass_testkit::{Piece, RequestView, Script, ScriptedModel};

/// A streaming request with these messages.
fn request(messages: &Value) -> String {
    json!({"model": "m-1", "max_tokens": 100, "stream": true, "messages": messages}).to_string()
}

/// A conversation that has just begun.
fn hello() -> String {
    request(&json!([{"role": "user", "content": "Hello"}]))
}

/// The history after one call of one tool.
fn after_call(id: &str, result: &str, is_error: bool) -> String {
    request(&json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Read", "input": {}}
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": is_error}
        ]}
    ]))
}

fn post(model: &mut ScriptedModel, body: &str) -> Vec<Piece> {
    model.answer(&RequestView {
        path: "/v1/messages?beta=true",
        headers: &[("X-Api-Key".into(), "k".into())],
        body: body.as_bytes(),
    })
}

/// The answer to a first request, from a response in a script.
fn answer_of(respond: &Value) -> Vec<Piece> {
    answer_of_text(&respond.to_string())
}

/// The same for a response as it is written, where its spelling matters.
fn answer_of_text(respond: &str) -> Vec<Piece> {
    let script = format!("{{\"exchanges\": [{{\"respond\": {respond}}}]}}");
    let script = Script::parse(&script).expect("a script");
    post(&mut ScriptedModel::new(script), &hello())
}

fn status(answer: &[Piece]) -> u16 {
    let head = answer.iter().find_map(|piece| match piece {
        Piece::Head { status, .. } => Some(*status),
        _ => None,
    });
    head.expect("a head")
}

fn body(answer: &[Piece]) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in answer {
        if let Piece::Bytes(bytes) = piece {
            out.extend_from_slice(bytes);
        }
    }
    out
}

fn body_text(answer: &[Piece]) -> String {
    String::from_utf8(body(answer)).expect("UTF-8")
}

/// The events of a stream: name and data.
fn events(answer: &[Piece]) -> Vec<(String, Value)> {
    body_text(answer)
        .split_terminator("\n\n")
        .map(|frame| {
            let (event, data) = frame.split_once('\n').expect("two lines");
            let event = event.strip_prefix("event: ").expect("a name");
            let data = data.strip_prefix("data: ").expect("data");
            (event.to_string(), serde_json::from_str(data).expect("JSON"))
        })
        .collect()
}

/// What a client makes of a stream: every block with its deltas added up.
fn assembled(answer: &[Piece]) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for (_, data) in events(answer) {
        let index = data["index"].as_u64().map(|i| i as usize);
        match (data["type"].as_str(), index) {
            (Some("content_block_start"), Some(index)) => {
                assert_eq!(index, blocks.len(), "blocks open in their order");
                blocks.push(format!(
                    "{}:",
                    data["content_block"]["type"].as_str().expect("type")
                ));
            }
            (Some("content_block_delta"), Some(index)) => {
                for field in ["text", "thinking", "signature", "partial_json"] {
                    blocks[index].push_str(data["delta"][field].as_str().unwrap_or(""));
                }
            }
            _ => {}
        }
    }
    blocks
}
