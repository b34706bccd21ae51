//! Converts a request of chat completions to the Messages API, so that the same expectations apply to both.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value, json};

use super::request::list;

/// The same request in the form of the Messages API: messages, tools, model.
pub(super) fn as_messages(body: &Value) -> Value {
    let mut system: Vec<String> = Vec::new();
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in list(body, "messages") {
        let (role, blocks) = match text(message, "role") {
            "system" | "developer" => {
                system.extend(texts(message));
                continue;
            }
            "assistant" => ("assistant", assistant(message)),
            "tool" => ("user", Vec::from([result(message)])),
            _ => ("user", said(message)),
        };
        match messages.last_mut() {
            // In the Messages API, results and what follows them are one message.
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    let messages: Vec<Value> = (messages.into_iter())
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    let tools: Vec<Value> = (list(body, "tools").iter())
        .filter_map(|tool| tool.get("function"))
        .map(|f| json!({"name": f.get("name"), "input_schema": f.get("parameters")}))
        .collect();
    let mut out = Map::new();
    for field in ["model", "stream"] {
        out.extend(body.get(field).map(|value| (field.into(), value.clone())));
    }
    out.insert("system".into(), system.join("\n").into());
    out.insert("tools".into(), tools.into());
    out.insert("messages".into(), messages.into());
    Value::Object(out)
}

fn assistant(message: &Value) -> Vec<Value> {
    let mut blocks = said(message);
    for call in list(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        let written = text(function, "arguments");
        let input: Value =
            serde_json::from_str(written).unwrap_or_else(|_| Value::String(written.to_string()));
        blocks.push(json!({
            "type": "tool_use", "id": text(call, "id"), "name": text(function, "name"), "input": input,
        }));
    }
    blocks
}

/// A tool result. An error is recognised by the beginning of its text, since there is no other indication.
fn result(message: &Value) -> Value {
    let content = texts(message).join("\n");
    json!({
        "type": "tool_result",
        "tool_use_id": text(message, "tool_call_id"),
        "is_error": content.starts_with("Error: "),
        "content": content,
    })
}

fn said(message: &Value) -> Vec<Value> {
    texts(message)
        .into_iter()
        .map(|text| json!({"type": "text", "text": text}))
        .collect()
}

/// The texts of a message: its content, or the texts of its parts.
fn texts(message: &Value) -> Vec<String> {
    match message.get("content") {
        Some(Value::String(text)) => Vec::from([text.clone()]),
        _ => (list(message, "content").iter())
            .map(|part| match text(part, "type") {
                "text" => text(part, "text").to_string(),
                other => format!("[{other}]"),
            })
            .collect(),
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}
