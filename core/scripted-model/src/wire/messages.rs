//! The Messages API: server-sent events or one JSON object.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use bytes::Bytes;
use windlass_core::json::{RawJson, RawObject};

use super::{Context, Paced, call_id, pieces, usage};
use crate::script::{BlockScript, ErrorScript, Input, MessageScript};

/// A model response with all values set: ids, model, usage and stop reason.
struct Resolved<'a> {
    script: &'a MessageScript,
    key: &'a str,
    /// JSON string literals.
    id: RawJson,
    model: RawJson,
    stop_reason: RawJson,
    stop_sequence: RawJson,
    usage: super::Usage,
}

/// The response as a list of events.
pub(super) fn events(script: &MessageScript, context: &Context<'_>) -> Vec<Bytes> {
    let message = Resolved::new(script, context);
    let blocks: Vec<BlockEvents> = (script.content.iter().enumerate())
        .map(|(index, block)| message.block_events(index, block))
        .collect();
    // The first event is `message_start`, the second opens a block: after that one the API sends a ping.
    let ping = event("ping", "{\"type\": \"ping\"}");
    let mut out = Paced::new(script.stream.ping_every, ping, true);
    out.push(message.start());
    if script.stream.interleave {
        interleave(blocks, &mut out);
    } else {
        for block in blocks {
            out.push(block.start);
            block.deltas.into_iter().for_each(|delta| out.push(delta));
            out.push(block.stop);
        }
    }
    out.push(message.delta());
    out.push(event("message_stop", "{\"type\":\"message_stop\"}"));
    out.events
}

/// The response as one JSON object.
pub(super) fn json(script: &MessageScript, context: &Context<'_>) -> Bytes {
    let message = Resolved::new(script, context);
    let blocks: Vec<String> = (script.content.iter().enumerate())
        .map(|(index, block)| message.whole_block(index, block))
        .collect();
    let usage = &message.usage;
    let stop_reason = &message.stop_reason;
    message
        .object(&blocks.join(","), stop_reason, usage.output)
        .into()
}

/// The `error` event, or the body of an error response: both contain the same object.
pub(super) fn error_object(error: &ErrorScript) -> String {
    format!(
        "{{\"type\":\"error\",\"error\":{{\"type\":{},\"message\":{}}}}}",
        RawJson::string(&error.kind),
        RawJson::string(&error.message)
    )
}

/// An event with its SSE framing.
pub(super) fn event(name: &str, data: &str) -> Bytes {
    format!("event: {name}\ndata: {data}\n\n").into()
}

impl<'a> Resolved<'a> {
    fn new(script: &'a MessageScript, context: &Context<'a>) -> Self {
        let calls = |block: &BlockScript| matches!(block, BlockScript::ToolUse { .. });
        let stop_reason = match &script.stop_reason {
            Some(reason) => reason.as_str(),
            None if script.content.iter().any(calls) => "tool_use",
            None => "end_turn",
        };
        let id = script.id.clone();
        Self {
            script,
            key: context.key,
            id: RawJson::string(&id.unwrap_or_else(|| format!("msg_{}", context.key))),
            model: RawJson::string(script.model.as_deref().unwrap_or(context.model)),
            stop_reason: RawJson::string(stop_reason),
            stop_sequence: match &script.stop_sequence {
                Some(sequence) => RawJson::string(sequence),
                None => RawJson::null(),
            },
            usage: usage(script, context),
        }
    }

    fn start(&self) -> Bytes {
        // The API counts the first token when it starts to respond.
        let first = self.usage.output.min(1);
        let message = self.object("", &RawJson::null(), first);
        event(
            "message_start",
            &format!("{{\"type\":\"message_start\",\"message\":{message}}}"),
        )
    }

    fn object(&self, content: &str, stop_reason: &RawJson, output: u64) -> String {
        // The stop sequence is known only when the stop reason is.
        let stop_sequence = match stop_reason.get() {
            "null" => "null",
            _ => self.stop_sequence.get(),
        };
        format!(
            "{{\"model\":{},\"id\":{},\"type\":\"message\",\"role\":\"assistant\",\
             \"content\":[{content}],\"stop_reason\":{stop_reason},\
             \"stop_sequence\":{stop_sequence},\"usage\":{}}}",
            self.model,
            self.id,
            self.usage.object(output),
        )
    }

    fn delta(&self) -> Bytes {
        event(
            "message_delta",
            &format!(
                "{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":{},\
                 \"stop_sequence\":{}}},\"usage\":{}}}",
                self.stop_reason,
                self.stop_sequence,
                self.usage.object(self.usage.output),
            ),
        )
    }

    fn block_events(&self, index: usize, block: &BlockScript) -> BlockEvents {
        let size = self.script.stream.delta_chars;
        let mut deltas = Vec::new();
        let mut push = |delta: &str| {
            let data =
                format!("{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}");
            deltas.push(event("content_block_delta", &data));
        };
        let start = match block {
            BlockScript::Text(text) => {
                for piece in pieces(text, size) {
                    push(&text_delta("text_delta", "text", piece));
                }
                String::from("{\"type\":\"text\",\"text\":\"\"}")
            }
            BlockScript::Thinking {
                thinking,
                signature,
            } => {
                for piece in pieces(thinking, size) {
                    push(&text_delta("thinking_delta", "thinking", piece));
                }
                if let Some(signature) = signature {
                    push(&text_delta("signature_delta", "signature", signature));
                }
                String::from("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
            }
            BlockScript::ToolUse { id, name, input } => {
                // The API begins with an empty piece, and sends nothing else for an empty input.
                push(&text_delta("input_json_delta", "partial_json", ""));
                if input.as_str() != "{}" {
                    for piece in pieces(input.as_str(), size) {
                        push(&text_delta("input_json_delta", "partial_json", piece));
                    }
                }
                self.call_object(index, id.as_deref(), name, "{}")
            }
            BlockScript::Raw {
                block,
                deltas: raw_deltas,
            } => {
                raw_deltas.iter().for_each(|delta| push(delta.get()));
                block.get().to_string()
            }
        };
        BlockEvents {
            start: event(
                "content_block_start",
                &format!(
                    "{{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{start}}}"
                ),
            ),
            deltas,
            stop: event(
                "content_block_stop",
                &format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}"),
            ),
        }
    }

    fn whole_block(&self, index: usize, block: &BlockScript) -> String {
        match block {
            BlockScript::Text(text) => text_delta("text", "text", text),
            BlockScript::Thinking {
                thinking,
                signature,
            } => format!(
                "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{}}}",
                RawJson::string(thinking),
                RawJson::string(signature.as_deref().unwrap_or("")),
            ),
            BlockScript::ToolUse { id, name, input } => match input {
                Input::Json(json) => self.call_object(index, id.as_deref(), name, json.get()),
                // Malformed JSON cannot be part of a JSON response: it is sent as a string.
                Input::Broken(text) => {
                    let text = RawJson::string(text);
                    self.call_object(index, id.as_deref(), name, text.get())
                }
            },
            BlockScript::Raw { block, .. } => match RawObject::parse(block.get()) {
                Ok(object) => object.to_raw().get().to_string(),
                // A raw block is checked to be an object when the script is parsed.
                Err(_) => block.get().to_string(),
            },
        }
    }

    fn call_object(&self, index: usize, id: Option<&str>, name: &str, input: &str) -> String {
        format!(
            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{input}}}",
            RawJson::string(&call_id(self.key, index, id)),
            RawJson::string(name),
        )
    }
}

impl super::Usage {
    fn object(&self, output: u64) -> String {
        let searches = match self.searches {
            0 => String::new(),
            searches => format!(",\"server_tool_use\":{{\"web_search_requests\":{searches}}}"),
        };
        format!(
            "{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\
             \"cache_read_input_tokens\":{},\"output_tokens\":{output}{searches}}}",
            self.input, self.cache_creation, self.cache_read,
        )
    }
}

/// The events of one block.
struct BlockEvents {
    start: Bytes,
    deltas: Vec<Bytes>,
    stop: Bytes,
}

/// All blocks opened, then their deltas in turns, then all closed.
fn interleave(blocks: Vec<BlockEvents>, out: &mut Paced) {
    let longest = blocks.iter().map(|b| b.deltas.len()).max().unwrap_or(0);
    for block in &blocks {
        out.push(block.start.clone());
    }
    for round in 0..longest {
        for delta in blocks.iter().filter_map(|b| b.deltas.get(round)) {
            out.push(delta.clone());
        }
    }
    for block in &blocks {
        out.push(block.stop.clone());
    }
}

/// `{"type":<kind>,<field>:<text>}`.
fn text_delta(kind: &str, field: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"{field}\":{}}}",
        RawJson::string(text)
    )
}
