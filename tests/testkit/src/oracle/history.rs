//! The API would accept every request, and the current history.

use alloc::{format, string::ToString, vec::Vec};

use serde_json::{Value, json};
use windlass_core::{
    Session,
    effect::{Effect, Output},
};
use windlass_scripted_model::{validate_body, validate_chat_request, validate_request};

use super::{Check, Oracle, View, Violation};

/// The oracle of this module.
pub(super) struct History;

impl Oracle for History {
    fn name(&self) -> &'static str {
        "history"
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        let Output::Effect(id, Effect::Http(request)) = output else {
            return Ok(());
        };
        // The rules of other formats are not known here; the history itself is checked in any format.
        let validate = match request.path.as_str() {
            path if path.starts_with("/v1/messages") => validate_request,
            path if path.ends_with("/chat/completions") => validate_chat_request,
            _ => return Ok(()),
        };
        validate(&request.body_bytes()).map_err(|faults| Violation::History {
            place: format!("the request {id} to {}", view.session.model()),
            faults,
        })
    }

    /// At any time the conversation must be one that can be continued: every call before the last response is answered, and
    /// once those of the last response are, a further prompt can be added.
    fn quiet(&mut self, view: &View<'_>, said: Option<&[Value]>) -> Check {
        let Some(said) = said.filter(|said| !said.is_empty()) else {
            return Ok(());
        };
        let mut messages = said.to_vec();
        complete(&mut messages);
        let body = json!({"model": view.session.model(), "max_tokens": 1, "messages": messages});
        let faults = validate_body(&body);
        if faults.is_empty() {
            return Ok(());
        }
        Err(Violation::History {
            place: "the history as it stands".to_string(),
            faults,
        })
    }
}

/// The messages of the conversation.
pub(super) fn messages(session: &Session) -> Vec<Value> {
    (session.history().lines())
        // Invalid JSON is detected by the validator, because it has no role.
        .map(|line| serde_json::from_slice(&line).unwrap_or(Value::Null))
        .collect()
}

/// Answers the calls of the last response and adds a prompt.
fn complete(messages: &mut Vec<Value>) {
    let next = json!({"type": "text", "text": "next"});
    let last = messages.last_mut();
    if let Some(last) = last
        && last["role"] == "user"
    {
        if let Some(blocks) = last["content"].as_array_mut() {
            blocks.push(next);
        }
        return;
    }
    let calls = messages.last().and_then(|last| last["content"].as_array());
    let mut blocks: Vec<Value> = (calls.into_iter().flatten())
        .filter(|block| block["type"] == "tool_use")
        .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "later"}))
        .collect();
    blocks.push(next);
    messages.push(json!({"role": "user", "content": blocks}));
}
