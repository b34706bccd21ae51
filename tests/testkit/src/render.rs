//! Renders messages for people: one line each, identical on every machine.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;
use windlass_core::{id::Uuid, message::Message};

/// The maximum length of a rendered text, in characters.
const SHOWN_CHARS: usize = 200;

/// Renders a message stream as text for snapshots: one line for each message, without durations, and with UUIDs numbered in
/// the order of their appearance (`uuid-1`).
#[must_use]
pub fn render<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut uuids = Uuids::default();
    let mut out = String::new();
    for message in messages {
        // Via JSON, so that a snapshot shows what an application reads.
        let value: Value = serde_json::from_str(&message.to_line()).unwrap_or_default();
        out.push_str(&uuids.numbered(&line(&value)));
        out.push('\n');
    }
    out
}

fn line(message: &Value) -> String {
    let body = match text(message, "type") {
        "system" => system(message),
        "assistant" | "user" => conversation(message),
        "stream_event" => format!("stream_event {}", stream_event(&message["event"])),
        "tool_progress" => format!("tool_progress {}", text(message, "tool_name")),
        "result" => result(message),
        other => format!("{other} {message}"),
    };
    match message["parent_tool_use_id"].as_str() {
        Some(parent) => format!("[{parent}] {body}"),
        None => body,
    }
}

fn system(message: &Value) -> String {
    match text(message, "subtype") {
        "init" => {
            let tools: Vec<&str> = elements(&message["tools"])
                .iter()
                .filter_map(Value::as_str)
                .collect();
            format!(
                "system init model={} cwd={} mode={} tools=[{}]",
                text(message, "model"),
                text(message, "cwd"),
                text(message, "permissionMode"),
                tools.join(", ")
            )
        }
        "api_retry" => format!(
            "system api_retry {}/{} in {} ms: {} status={} {}",
            message["attempt"],
            message["max_retries"],
            message["retry_delay_ms"],
            text(message, "error"),
            message["error_status"],
            quoted(text(message, "message")),
        ),
        other => format!("system {other}"),
    }
}

/// An assistant or user message: its blocks.
fn conversation(message: &Value) -> String {
    let mut blocks: Vec<String> = elements(&message["message"]["content"])
        .iter()
        .map(block)
        .collect();
    if let Some(error) = message["error"].as_str() {
        blocks.push(format!("error={error}"));
    }
    if message["isSynthetic"] == true {
        blocks.push("synthetic".to_string());
    }
    format!("{} {}", text(message, "type"), blocks.join(" | "))
}

fn block(block: &Value) -> String {
    match text(block, "type") {
        "text" => format!("text {}", quoted(text(block, "text"))),
        "thinking" => format!("thinking {}", quoted(text(block, "thinking"))),
        "tool_use" => format!(
            "tool_use {} {} {}",
            text(block, "name"),
            text(block, "id"),
            shortened(&block["input"].to_string())
        ),
        "tool_result" => {
            let error = match block["is_error"] == true {
                true => " error",
                false => "",
            };
            let content = match &block["content"] {
                Value::String(text) => quoted(text),
                blocks => {
                    let blocks: Vec<String> = elements(blocks).iter().map(self::block).collect();
                    format!("[{}]", blocks.join(", "))
                }
            };
            format!(
                "tool_result {}{error} {content}",
                text(block, "tool_use_id")
            )
        }
        "image" => format!("image {}", text(&block["source"], "media_type")),
        _ => shortened(&block.to_string()),
    }
}

fn stream_event(event: &Value) -> String {
    let kind = text(event, "type");
    let delta = &event["delta"];
    match kind {
        "content_block_start" => format!(
            "{kind} {} {}",
            event["index"],
            text(&event["content_block"], "type")
        ),
        "content_block_delta" => {
            let piece = ["text", "thinking", "partial_json", "signature"]
                .iter()
                .find_map(|field| delta[*field].as_str())
                .unwrap_or("");
            format!("{kind} {} {}", event["index"], quoted(piece))
        }
        "content_block_stop" => format!("{kind} {}", event["index"]),
        "message_delta" => format!("{kind} stop_reason={}", delta["stop_reason"]),
        _ => kind.to_string(),
    }
}

fn result(message: &Value) -> String {
    let mut parts = Vec::from([format!(
        "result {} turns={} stop={} cost={}",
        text(message, "subtype"),
        message["num_turns"],
        message["stop_reason"].as_str().unwrap_or("none"),
        message["total_cost_usd"],
    )]);
    let usage = &message["usage"];
    parts.push(format!(
        "tokens={}/{}",
        usage["input_tokens"], usage["output_tokens"]
    ));
    if message["is_error"] == true && text(message, "subtype") == "success" {
        parts.push("is_error".to_string());
    }
    for denial in elements(&message["permission_denials"]) {
        parts.push(format!("denied={}", text(denial, "tool_name")));
    }
    if let Some(text) = message["result"].as_str() {
        parts.push(quoted(text));
    }
    for error in elements(&message["errors"]) {
        parts.push(format!("error {}", quoted(error.as_str().unwrap_or(""))));
    }
    parts.join(" ")
}

/// Numbers UUIDs in the order of their appearance.
#[derive(Default)]
struct Uuids(BTreeMap<Uuid, usize>);

impl Uuids {
    /// The text with every UUID in it replaced by its number.
    fn numbered(&mut self, text: &str) -> String {
        const LENGTH: usize = 36;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(uuid) = rest.get(..LENGTH).and_then(|id| Uuid::try_parse(id).ok()) {
                let next = self.0.len() + 1;
                let number = *self.0.entry(uuid).or_insert(next);
                out.push_str(&format!("uuid-{number}"));
                rest = &rest[LENGTH..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        out
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or("")
}

fn elements(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

/// A text on one line, in quotation marks.
fn quoted(text: &str) -> String {
    shortened(&Value::from(text).to_string())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
