//! Exchanges with a model: their encoding, and their faults.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use bytes::Bytes;
use serde_json::{Value, json};
use windlass_core::{
    effect::{Answer, HttpFailure, HttpFailureKind},
    id::Seeded,
};

use super::{FaultKind, Faults};

/// The longest piece of a body, in bytes.
const LONGEST_PIECE: u64 = 700;

/// Whether an event with this probability, in parts per thousand, happens now.
pub(super) fn happens(dice: &mut Seeded, per_mille: u16) -> bool {
    per_mille > 0 && dice.below(1000) < u64::from(per_mille)
}

/// An exchange that failed without a response.
pub(super) fn failed(kind: HttpFailureKind) -> Answer {
    Answer::HttpFailed(HttpFailure::new(kind, "the line is dead"))
}

/// A fault in place of an exchange, by chance: the server never begins to answer.
pub(super) fn in_place(dice: &mut Seeded, faults: &Faults) -> Option<(FaultKind, Vec<Answer>)> {
    if happens(dice, faults.model_busy) {
        let busy = [429, 500, 503, 529][pick(dice, 4)];
        let unreachable = |kind| (FaultKind::Unreachable, vec![failed(kind)]);
        return Some(match dice.below(3) {
            0 => unreachable(HttpFailureKind::Connect),
            1 => unreachable(HttpFailureKind::Interrupted),
            _ => (FaultKind::Busy, refusal(dice, busy)),
        });
    }
    // A fifth of them here, the others in the middle of the stream.
    if happens(dice, faults.model_broken / 5) {
        let wrong = [400, 401, 403, 404, 413][pick(dice, 5)];
        let answers = match dice.below(5) {
            0 => vec![failed(HttpFailureKind::Refused)],
            1 => vec![failed(HttpFailureKind::TooLarge)],
            2 => vec![Answer::HttpEnd],
            3 => vec![Answer::Cancelled],
            _ => refusal(dice, wrong),
        };
        return Some((FaultKind::RefusedRequest, answers));
    }
    None
}

/// Sends an exchange over an unreliable connection: other pieces, faults in the middle, a response that is never closed.
/// Returns the faults.
pub(super) fn over_the_line(
    dice: &mut Seeded,
    faults: &Faults,
    exchange: Vec<Answer>,
) -> (Vec<FaultKind>, Vec<Answer>) {
    let mut wrong = Vec::new();
    let mut body: Vec<u8> = Vec::new();
    let (mut head, mut end) = (Vec::new(), Vec::new());
    for answer in exchange {
        match answer {
            Answer::HttpBody(piece) => body.extend_from_slice(&piece),
            answer if answer.is_last() => end.push(answer),
            answer => head.push(answer),
        }
    }
    if happens(dice, faults.model_cut) {
        wrong.push(FaultKind::CutStream);
        body.truncate(pick(dice, body.len() as u64));
        end = match dice.below(2) {
            0 => vec![failed(HttpFailureKind::Interrupted)],
            // Closed properly, but too early.
            _ => vec![Answer::HttpEnd],
        };
    } else if happens(dice, faults.model_broken) {
        match dice.below(3) {
            0 => {
                wrong.push(FaultKind::GarbledStream);
                let at = pick(dice, body.len() as u64);
                let garbage = b"\n\ndata: {not json\xff}\n\n";
                body.splice(at..at, garbage.iter().copied());
            }
            1 => {
                wrong.push(FaultKind::ErrorInStream);
                let full = json!({"type": "error", "error": {"type": "overloaded_error", "message": "full"}});
                body = event(&full).into();
            }
            _ => {
                wrong.push(FaultKind::OtherDocument);
                head = vec![answer_head(200, "text/html")];
                body = b"<html>Welcome</html>".to_vec();
            }
        }
    }
    let mut answers = head;
    let mut rest = body.as_slice();
    while !rest.is_empty() {
        let size = 1 + pick(dice, (rest.len() as u64).min(LONGEST_PIECE));
        answers.push(Answer::HttpBody(Bytes::copy_from_slice(&rest[..size])));
        rest = &rest[size..];
    }
    match happens(dice, faults.model_silent) {
        true => wrong.push(FaultKind::SilentServer),
        false => answers.extend(end),
    }
    (wrong, answers)
}

fn refusal(dice: &mut Seeded, status: u16) -> Vec<Answer> {
    let wait = ["0", "2", "0.5", "soon", "99999999999"][pick(dice, 5)];
    let body = json!({"type": "error", "error": {"type": "some_error", "message": "it says no"}});
    let head = Answer::HttpHead {
        status,
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("retry-after".to_owned(), wait.to_owned()),
        ],
    };
    vec![
        head,
        Answer::HttpBody(body.to_string().into()),
        Answer::HttpEnd,
    ]
}

fn answer_head(status: u16, content_type: &str) -> Answer {
    Answer::HttpHead {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
    }
}

/// An index below `bound`; 0 when the bound is 0.
pub(super) fn pick(dice: &mut Seeded, bound: u64) -> usize {
    // Below a length, so it fits into a usize.
    dice.below(bound) as usize
}

/// The format of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Messages,
    ChatCompletions,
}

/// A generated response in the form of the Messages API, before it is encoded.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) model: String,
    /// Blocks as in a plain answer. The input of a `tool_use` may be a string, which is then streamed as it is.
    pub(super) blocks: Vec<Value>,
    pub(super) stop_reason: &'static str,
    /// The fields of `usage` at the start, and at the end.
    pub(super) usage: [Value; 2],
}

impl Message {
    /// Encodes it as one JSON document.
    pub(super) fn plain(self, wire: Wire) -> Vec<Answer> {
        if wire == Wire::ChatCompletions {
            return answered("application/json", self.completion().to_string());
        }
        let whole = |block: &Value| block["type"] != "tool_use" || block["input"].is_object();
        let blocks: Vec<Value> = self.blocks.into_iter().filter(whole).collect();
        let mut usage = self.usage[0].clone();
        usage["output_tokens"] = self.usage[1]["output_tokens"].clone();
        let body = json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": blocks, "stop_reason": self.stop_reason, "stop_sequence": null, "usage": usage,
        });
        answered("application/json", body.to_string())
    }

    /// Encodes it as a stream of events.
    pub(super) fn streamed(self, wire: Wire) -> Vec<Answer> {
        if wire == Wire::ChatCompletions {
            return answered("text/event-stream", self.chunks());
        }
        let [start, end] = &self.usage;
        let mut out = event(&json!({"type": "message_start", "message": {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": start,
        }}));
        for (index, block) in self.blocks.iter().enumerate() {
            for data in block_events(index, block) {
                out += &event(&data);
            }
        }
        out += &event(&json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.stop_reason, "stop_sequence": null},
            "usage": end,
        }));
        out += &event(&json!({"type": "message_stop"}));
        answered("text/event-stream", out)
    }

    /// As a chat completion.
    fn completion(&self) -> Value {
        let (mut content, mut calls) = (String::new(), Vec::new());
        for block in &self.blocks {
            match block["type"].as_str() {
                Some("text") => content += block["text"].as_str().unwrap_or(""),
                Some("tool_use") => calls.push(json!({
                    "id": block["id"], "type": "function",
                    "function": {"name": block["name"], "arguments": arguments(block)},
                })),
                _ => {}
            }
        }
        let message = json!({"role": "assistant", "content": content, "tool_calls": calls});
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason()});
        json!({
            "id": self.id, "object": "chat.completion", "model": self.model, "choices": [choice], "usage": self.counts(),
        })
    }

    /// The chunks of a streamed chat completion.
    fn chunks(&self) -> String {
        let chunk = |choices: Value, usage: Value| {
            let data = json!({
                "id": self.id, "object": "chat.completion.chunk", "model": self.model, "choices": choices, "usage": usage,
            });
            format!("data: {data}\n\n")
        };
        let delta = |delta: Value| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
            chunk(choice, Value::Null)
        };
        let mut out = delta(json!({"role": "assistant", "content": ""}));
        let mut calls = 0;
        for block in &self.blocks {
            match block["type"].as_str() {
                Some("text") => {
                    for half in halves(block["text"].as_str().unwrap_or("")) {
                        out += &delta(json!({"content": half}));
                    }
                }
                Some("thinking") => out += &delta(json!({"reasoning_content": block["thinking"]})),
                Some("tool_use") => {
                    let arguments = arguments(block);
                    let [first, second] = halves(&arguments);
                    let call = json!({"index": calls, "id": block["id"], "type": "function",
                        "function": {"name": block["name"], "arguments": first}});
                    let more = json!({"index": calls, "function": {"arguments": second}});
                    out += &delta(json!({"tool_calls": [call]}));
                    out += &delta(json!({"tool_calls": [more]}));
                    calls += 1;
                }
                _ => {}
            }
        }
        out += &chunk(
            json!([{"index": 0, "delta": {}, "finish_reason": self.finish_reason()}]),
            Value::Null,
        );
        out += &chunk(json!([]), self.counts());
        out + "data: [DONE]\n\n"
    }

    fn finish_reason(&self) -> &'static str {
        match self.stop_reason {
            "tool_use" => "tool_calls",
            "max_tokens" => "length",
            "refusal" => "content_filter",
            _ => "stop",
        }
    }

    fn counts(&self) -> Value {
        let of = |field: &str| self.usage[0][field].as_u64().unwrap_or(0);
        let cached = of("cache_read_input_tokens");
        json!({
            "prompt_tokens": of("input_tokens") + cached, "completion_tokens": self.usage[1]["output_tokens"],
            "prompt_tokens_details": {"cached_tokens": cached},
        })
    }
}

/// The input of a call as text; a string is used as it is.
fn arguments(call: &Value) -> String {
    match &call["input"] {
        Value::String(text) => text.clone(),
        input => input.to_string(),
    }
}

fn answered(content_type: &str, body: String) -> Vec<Answer> {
    vec![
        answer_head(200, content_type),
        Answer::HttpBody(body.into()),
        Answer::HttpEnd,
    ]
}

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap_or("");
    format!("event: {kind}\ndata: {data}\n\n")
}

fn block_events(index: usize, block: &Value) -> Vec<Value> {
    let start = |block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let deltas = |kind: &str, field: &str, text: &str| -> Vec<Value> {
        halves(text)
            .iter()
            .map(|part| {
                json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: part}})
            })
            .collect()
    };
    let text = |field: &str| block[field].as_str().unwrap_or("");
    let mut events = Vec::new();
    match block["type"].as_str() {
        Some("text") => {
            events.push(start(json!({"type": "text", "text": ""})));
            events.extend(deltas("text_delta", "text", text("text")));
        }
        Some("thinking") => {
            events.push(start(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
            ));
            events.extend(deltas("thinking_delta", "thinking", text("thinking")));
            if block["signature"].is_string() {
                events.extend(deltas("signature_delta", "signature", text("signature")));
            }
        }
        Some("tool_use") => {
            let call =
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}});
            events.push(start(call));
            events.extend(deltas(
                "input_json_delta",
                "partial_json",
                &arguments(block),
            ));
        }
        _ => events.push(start(block.clone())),
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn halves(text: &str) -> [&str; 2] {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (a, b) = text.split_at(middle);
    [a, b]
}
