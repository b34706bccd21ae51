//! Validates the history in a request of the Messages API.

mod cache_marks;

use alloc::{
    borrow::ToOwned,
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde_json::Value;

use crate::request::blocks;

/// A fault in a request that the API would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFault {
    /// The rule that is broken.
    pub rule: HistoryRule,
    /// Its place: `messages[3].content[0]`.
    pub place: String,
    /// What was found there.
    pub found: String,
}

/// The rules of a valid history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HistoryRule {
    /// The body is a JSON object with `model`, `max_tokens` and a non-empty list `messages`.
    Shape,
    /// Roles alternate, starting with `user`.
    Roles,
    /// Every message has content, and every text more than white space.
    NotEmpty,
    /// Every `tool_use` has its `tool_result` in the next message.
    CallAnswered,
    /// Every `tool_result` answers a `tool_use` of the message before, once.
    ResultExpected,
    /// Results come before everything else in their message.
    ResultsFirst,
    /// Ids of tool calls are unique.
    UniqueCalls,
    /// The input of a `tool_use` is an object.
    ObjectInput,
    /// Thinking has a signature.
    SignedThinking,
    /// At most four `cache_control` marks: on definitions that are not deferred, and on blocks of the system prompt and of
    /// messages, except thinking and empty texts. Those with a lifetime of an hour come first.
    CacheMarks,
    /// Tool names are unique, consist of letters, digits, `_` and `-`, and have at most 128 characters.
    ToolNames,
}

impl HistoryRule {
    fn words(self) -> &'static str {
        match self {
            Self::Shape => {
                "a request is a JSON object with `model`, `max_tokens` and non-empty `messages`"
            }
            Self::Roles => "roles alternate, starting with user",
            Self::NotEmpty => "messages and texts are not empty",
            Self::CallAnswered => "every tool_use has its tool_result in the next message",
            Self::ResultExpected => {
                "every tool_result answers one tool_use of the message before, once"
            }
            Self::ResultsFirst => "tool results stand before everything else in their message",
            Self::UniqueCalls => "ids of tool calls are unique",
            Self::ObjectInput => "the input of a tool_use is an object",
            Self::SignedThinking => "thinking carries its signature",
            Self::CacheMarks => {
                "at most 4 cache_control marks, on definitions and blocks but thinking and empty texts, the longest-lived first"
            }
            Self::ToolNames => {
                "tool names are unique and consist of at most 128 letters, digits, `_` and `-`"
            }
        }
    }
}

impl fmt::Display for HistoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}; found {}",
            self.place,
            self.rule.words(),
            self.found
        )
    }
}

impl core::error::Error for HistoryFault {}

/// Whether the API would accept the history in this request body.
///
/// # Errors
/// All faults, in the order of the messages.
pub fn validate_request(body: &[u8]) -> Result<(), Vec<HistoryFault>> {
    let found = match serde_json::from_slice::<Value>(body) {
        Ok(body) => validate_body(&body),
        Err(error) => Vec::from([fault(HistoryRule::Shape, "the body", &error.to_string())]),
    };
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// The same for a parsed body.
#[must_use]
pub fn validate_body(body: &Value) -> Vec<HistoryFault> {
    let mut check = Check::default();
    check.shape(body);
    let tools = body.get("tools").and_then(Value::as_array);
    let names = tools.into_iter().flatten();
    (check.faults).extend(tool_names(names.map(|tool| string(tool, "name"))));
    if let Some(messages) = body.get("messages").and_then(Value::as_array) {
        check.messages(messages);
    }
    check.faults.extend(cache_marks::faults(body));
    check.faults
}

/// The faults in the names of tools, given in order.
pub(super) fn tool_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<HistoryFault> {
    let mut known = BTreeSet::new();
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let well_formed = |name: &str| (1..=128).contains(&name.len()) && name.chars().all(allowed);
    names
        .enumerate()
        .filter(|(_, name)| !well_formed(name) || !known.insert(*name))
        .map(|(index, name)| {
            let place = format!("tools[{index}].name");
            fault(HistoryRule::ToolNames, &place, &format!("`{name}`"))
        })
        .collect()
}

pub(super) fn fault(rule: HistoryRule, place: &str, found: &str) -> HistoryFault {
    HistoryFault {
        rule,
        place: place.to_owned(),
        found: found.to_owned(),
    }
}

#[derive(Default)]
struct Check<'a> {
    faults: Vec<HistoryFault>,
    /// Every call so far.
    calls: BTreeSet<&'a str>,
    /// Calls of the previous message without a result, and their places.
    open: Vec<(&'a str, Place)>,
}

/// A message or a block of one, formatted only if a fault is reported.
#[derive(Debug, Clone, Copy)]
struct Place {
    message: usize,
    block: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages[{}]", self.message)?;
        match self.block {
            Some(block) => write!(f, ".content[{block}]"),
            None => Ok(()),
        }
    }
}

impl<'a> Check<'a> {
    fn fault(&mut self, rule: HistoryRule, place: &str, found: &str) {
        self.faults.push(fault(rule, place, found));
    }

    fn fault_at(&mut self, rule: HistoryRule, place: Place, found: &str) {
        self.fault(rule, &place.to_string(), found);
    }

    fn shape(&mut self, body: &Value) {
        if !body.get("model").is_some_and(Value::is_string) {
            self.fault(HistoryRule::Shape, "model", "no string");
        }
        if body.get("max_tokens").and_then(Value::as_u64).unwrap_or(0) == 0 {
            self.fault(HistoryRule::Shape, "max_tokens", "no positive number");
        }
        match body.get("messages").and_then(Value::as_array) {
            None => self.fault(HistoryRule::Shape, "messages", "no list"),
            Some(messages) if messages.is_empty() => {
                self.fault(HistoryRule::Shape, "messages", "an empty list");
            }
            Some(_) => {}
        }
    }

    fn messages(&mut self, messages: &'a [Value]) {
        for (index, message) in messages.iter().enumerate() {
            let place = Place {
                message: index,
                block: None,
            };
            let expected = if index % 2 == 0 { "user" } else { "assistant" };
            let role = message.get("role").and_then(Value::as_str);
            if role != Some(expected) {
                let found = format!("`{}` where `{expected}` is due", role.unwrap_or(""));
                self.fault_at(HistoryRule::Roles, place, &found);
            }
            self.content(message, role, place);
        }
        self.close_calls();
    }

    fn content(&mut self, message: &'a Value, role: Option<&str>, place: Place) {
        match message.get("content") {
            Some(Value::String(text)) if !text.trim().is_empty() => {}
            Some(Value::Array(list)) if !list.is_empty() => {}
            _ => self.fault_at(HistoryRule::NotEmpty, place, "no content"),
        }
        // Results must belong to calls of the previous message, and calls must be answered in the next one.
        let mut due = core::mem::take(&mut self.open);
        let mut after_results = false;
        for (index, block) in blocks(message).iter().enumerate() {
            let place = Place {
                block: Some(index),
                ..place
            };
            let kind = block.get("type").and_then(Value::as_str).unwrap_or("");
            match kind {
                "tool_result" => {
                    if after_results {
                        self.fault_at(HistoryRule::ResultsFirst, place, "a result after a block");
                    }
                    let id = string(block, "tool_use_id");
                    match due.iter().position(|(call, _)| *call == id) {
                        Some(found) if role == Some("user") => drop(due.remove(found)),
                        _ => self.fault_at(
                            HistoryRule::ResultExpected,
                            place,
                            &format!("a result for `{id}`"),
                        ),
                    }
                }
                _ => {
                    after_results = true;
                    self.block(block, kind, role, place);
                }
            }
        }
        self.report_open(due);
    }

    /// Any block except a tool result.
    fn block(&mut self, block: &'a Value, kind: &str, role: Option<&str>, place: Place) {
        match kind {
            "text" if string(block, "text").trim().is_empty() => {
                self.fault_at(HistoryRule::NotEmpty, place, "a text without words");
            }
            "thinking" if string(block, "signature").is_empty() => {
                self.fault_at(HistoryRule::SignedThinking, place, "no signature");
            }
            "tool_use" => {
                let id = string(block, "id");
                if role != Some("assistant") {
                    self.fault_at(HistoryRule::Roles, place, "a tool_use of the user");
                }
                if !block.get("input").is_some_and(Value::is_object) {
                    self.fault_at(HistoryRule::ObjectInput, place, "no object");
                }
                if id.is_empty() || !self.calls.insert(id) {
                    self.fault_at(HistoryRule::UniqueCalls, place, &format!("`{id}`"));
                }
                self.open.push((id, place));
            }
            _ => {}
        }
    }

    fn close_calls(&mut self) {
        let open = core::mem::take(&mut self.open);
        self.report_open(open);
    }

    fn report_open(&mut self, open: Vec<(&'a str, Place)>) {
        for (id, place) in open {
            let found = format!("no result for `{id}`");
            self.fault_at(HistoryRule::CallAnswered, place, &found);
        }
    }
}

fn string<'a>(block: &'a Value, field: &str) -> &'a str {
    block.get(field).and_then(Value::as_str).unwrap_or("")
}
