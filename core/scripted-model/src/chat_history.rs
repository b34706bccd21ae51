//! Validates the conversation in a request of chat completions.

use alloc::{collections::BTreeSet, format, string::ToString, vec::Vec};

use serde_json::Value;

use super::{
    history::{HistoryFault, HistoryRule, fault, tool_names},
    request::list,
};

/// Whether a server of chat completions would accept the conversation in this request body: known roles, instructions only at the
/// beginning, every tool call answered exactly once and right after it, arguments that are JSON objects.
///
/// # Errors
/// All faults, in the order of the messages.
pub fn validate_chat_request(body: &[u8]) -> Result<(), Vec<HistoryFault>> {
    let found = match serde_json::from_slice::<Value>(body) {
        Ok(body) => validate(&body),
        Err(error) => Vec::from([fault(HistoryRule::Shape, "the body", &error.to_string())]),
    };
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// The same for a parsed body.
pub(super) fn validate(body: &Value) -> Vec<HistoryFault> {
    let mut check = Check::default();
    if !body.get("model").is_some_and(Value::is_string) {
        check.fault(HistoryRule::Shape, "model", "no string");
    }
    let messages = list(body, "messages");
    if messages.is_empty() {
        check.fault(
            HistoryRule::Shape,
            "messages",
            "no list with something in it",
        );
    }
    let names = (list(body, "tools").iter()).map(|tool| match tool.get("function") {
        Some(function) if text(tool, "type") == "function" => text(function, "name"),
        _ => "",
    });
    check.faults.extend(tool_names(names));
    for (index, message) in messages.iter().enumerate() {
        check.message(message, &format!("messages[{index}]"));
    }
    check.close_calls();
    check.faults
}

#[derive(Default)]
struct Check<'a> {
    faults: Vec<HistoryFault>,
    /// A message was seen: no instructions may follow.
    begun: bool,
    /// Every call so far.
    calls: BTreeSet<&'a str>,
    /// Calls without a result, and their places.
    open: Vec<(&'a str, alloc::string::String)>,
}

impl<'a> Check<'a> {
    fn fault(&mut self, rule: HistoryRule, place: &str, found: &str) {
        self.faults.push(fault(rule, place, found));
    }

    fn message(&mut self, message: &'a Value, place: &str) {
        let role = text(message, "role");
        if role == "tool" {
            return self.result(message, place);
        }
        self.close_calls();
        match role {
            "system" | "developer" if self.begun => {
                self.fault(
                    HistoryRule::Roles,
                    place,
                    "instructions behind the first message",
                );
            }
            "system" | "developer" => {}
            "user" | "assistant" => self.begun = true,
            other => self.fault(HistoryRule::Roles, place, &format!("`{other}`")),
        }
        let calls = list(message, "tool_calls");
        if !has_content(message) && calls.is_empty() {
            self.fault(HistoryRule::NotEmpty, place, "no content");
        }
        if !calls.is_empty() && role != "assistant" {
            self.fault(HistoryRule::Roles, place, "tool calls of somebody else");
        }
        for (index, call) in calls.iter().enumerate() {
            self.call(call, format!("{place}.tool_calls[{index}]"));
        }
    }

    fn call(&mut self, call: &'a Value, place: alloc::string::String) {
        let id = text(call, "id");
        if id.is_empty() || !self.calls.insert(id) {
            self.fault(HistoryRule::UniqueCalls, &place, &format!("`{id}`"));
        }
        let arguments = call.get("function").map_or("", |f| text(f, "arguments"));
        let read: Result<Value, _> = serde_json::from_str(arguments);
        if !read.is_ok_and(|value| value.is_object()) {
            let found = format!("`{arguments}`");
            self.fault(HistoryRule::ObjectInput, &place, &found);
        }
        self.open.push((id, place));
    }

    fn result(&mut self, message: &Value, place: &str) {
        let id = text(message, "tool_call_id");
        match self.open.iter().position(|(call, _)| *call == id) {
            Some(found) => drop(self.open.remove(found)),
            None => {
                let found = format!("a result for `{id}`");
                self.fault(HistoryRule::ResultExpected, place, &found);
            }
        }
        if !message.get("content").is_some_and(Value::is_string) {
            self.fault(HistoryRule::Shape, place, "a result that is no text");
        }
    }

    fn close_calls(&mut self) {
        for (id, place) in core::mem::take(&mut self.open) {
            let found = format!("no result for `{id}`");
            self.fault(HistoryRule::CallAnswered, &place, &found);
        }
    }
}

fn has_content(message: &Value) -> bool {
    match message.get("content") {
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}
