//! Checks expectations against a request, and reports what was found instead.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;
use windlass_core::json::RawJson;

use super::{
    request::{RequestView, blocks, cache_marks, list, message_text, system_text},
    script::{Expect, ExpectedHeader, ExpectedResult},
    wire::WireFormat,
};

/// The expected path if a script names none.
const MESSAGES_PATH: &str = "/v1/messages";

/// How many characters of a found text a report shows.
const SHOWN_CHARS: usize = 300;

/// The outcome of checking one expectation.
#[derive(Debug)]
pub(super) struct Checked {
    /// What was checked.
    pub(super) subject: String,
    /// What was expected of it.
    pub(super) expected: String,
    /// What was found instead; none if it is as expected.
    pub(super) found: Option<String>,
}

/// A parsed request body.
#[derive(Debug)]
pub(super) struct ReadBody {
    /// As received.
    pub(super) sent: Value,
    /// Converted to the Messages API, if it has another format.
    pub(super) meant: Option<Value>,
}

/// Checks all expectations against a request. `body` is `None` if the request was not parsed because nothing is expected of it.
pub(super) fn check(
    expect: &Expect,
    request: &RequestView<'_>,
    body: Option<&ReadBody>,
) -> Vec<Checked> {
    let mut checks = Checks(Vec::new());
    let usual = match WireFormat::of(request.route()) {
        WireFormat::Messages => MESSAGES_PATH,
        // Any prefix is accepted: gateways serve the endpoint below various paths.
        WireFormat::ChatCompletions => request.route(),
    };
    checks.equal(
        "path",
        expect.path.as_deref().unwrap_or(usual),
        request.route(),
    );
    if let Some(body) = body {
        let meant = body.meant.as_ref().unwrap_or(&body.sent);
        checks.headers(expect, request);
        checks.conversation(expect, meant);
        checks.offer(expect, meant);
        checks.fields(expect, &body.sent);
    }
    checks.0
}

struct Checks(Vec<Checked>);

impl Checks {
    fn add(
        &mut self,
        subject: &str,
        expected: String,
        holds: bool,
        found: impl FnOnce() -> String,
    ) {
        self.0.push(Checked {
            subject: subject.into(),
            expected,
            found: if holds { None } else { Some(found()) },
        });
    }

    fn equal<T: PartialEq + ToString + ?Sized>(&mut self, subject: &str, expected: &T, found: &T) {
        self.add(subject, expected.to_string(), expected == found, || {
            found.to_string()
        });
    }

    fn contain(&mut self, subject: &str, expected: &[String], found: &str) {
        for text in expected {
            self.add(
                subject,
                format!("contains {}", RawJson::string(text)),
                found.contains(text.as_str()),
                || shown(found),
            );
        }
    }

    fn headers(&mut self, expect: &Expect, request: &RequestView<'_>) {
        for (name, expected) in &expect.headers {
            let found = request.header(name);
            let subject = format!("header {name}");
            let (words, holds) = match expected {
                ExpectedHeader::Value(value) => (value.clone(), found == Some(value)),
                ExpectedHeader::Present(true) => ("present".to_string(), found.is_some()),
                ExpectedHeader::Present(false) => ("absent".to_string(), found.is_none()),
            };
            self.add(&subject, words, holds, || {
                found.map_or("absent".to_string(), ToString::to_string)
            });
        }
    }

    fn conversation(&mut self, expect: &Expect, body: &Value) {
        let messages = list(body, "messages");
        if let Some(count) = expect.messages {
            self.equal("messages", &count, &messages.len());
        }
        if let Some(most) = expect.max_messages {
            let holds = messages.len() <= most;
            self.add("messages", format!("at most {most}"), holds, || {
                messages.len().to_string()
            });
        }
        self.contain("system", &expect.system_contains, &system_text(body));
        let last = last_of_user(messages);
        if !expect.last_user_contains.is_empty() {
            let text = last.map(message_text).unwrap_or_default();
            self.contain("last user message", &expect.last_user_contains, &text);
        }
        if !expect.messages_contain.is_empty() {
            let texts: Vec<String> = messages.iter().map(message_text).collect();
            self.contain("messages", &expect.messages_contain, &texts.join("\n"));
        }
        for result in &expect.tool_results {
            self.result(result, last.map(blocks).unwrap_or_default());
        }
    }

    /// A tool result: identified by its id, or any that matches.
    fn result(&mut self, expected: &ExpectedResult, last: &[Value]) {
        let results: Vec<&Value> = (last.iter())
            .filter(|block| text(block, "type") == "tool_result")
            .collect();
        let fits = |block: &&Value| {
            let content = message_text(block);
            let is_error = block.get("is_error") == Some(&Value::Bool(true));
            expected
                .id
                .as_ref()
                .is_none_or(|id| text(block, "tool_use_id") == id)
                && expected
                    .contains
                    .iter()
                    .all(|t| content.contains(t.as_str()))
                && expected.is_error.is_none_or(|flag| flag == is_error)
        };
        let mut words = Vec::new();
        words.extend(expected.id.as_ref().map(|id| format!("for {id}")));
        words.extend(expected.is_error.map(|flag| format!("is_error {flag}")));
        for text in &expected.contains {
            words.push(format!("contains {}", RawJson::string(text)));
        }
        let holds = results.iter().any(fits);
        self.add("tool result", words.join(", "), holds, || {
            let mut found: Vec<String> =
                results.iter().map(|block| result_in_short(block)).collect();
            if found.is_empty() {
                found.push("no tool result in the last user message".to_string());
            }
            found.join("; ")
        });
    }

    fn offer(&mut self, expect: &Expect, body: &Value) {
        if let Some(model) = &expect.model {
            self.equal("model", model.as_str(), text(body, "model"));
        }
        if let Some(stream) = expect.stream {
            let found = body.get("stream") == Some(&Value::Bool(true));
            self.equal("stream", &stream, &found);
        }
        let offered: Vec<&str> = (list(body, "tools").iter())
            .map(|tool| text(tool, "name"))
            .collect();
        let found = || match offered.as_slice() {
            [] => "no tools".to_string(),
            names => names.join(", "),
        };
        for name in &expect.tools_include {
            let holds = offered.contains(&name.as_str());
            self.add("tools", format!("include {name}"), holds, found);
        }
        for name in &expect.tools_exclude {
            let holds = !offered.contains(&name.as_str());
            self.add("tools", format!("without {name}"), holds, found);
        }
        if let Some(marks) = expect.cache_marks {
            self.equal("cache_control marks", &marks, &cache_marks(body));
        }
    }

    fn fields(&mut self, expect: &Expect, body: &Value) {
        for (pointer, expected) in &expect.fields {
            let found = body.pointer(pointer);
            // Compared as values: spacing and the order of keys do not matter.
            let holds = expected.decode::<Value>().ok().as_ref() == found;
            self.add(pointer, expected.to_string(), holds, || {
                found.map_or("nothing there".to_string(), |v| shown(&v.to_string()))
            });
        }
        for pointer in &expect.absent {
            let found = body.pointer(pointer);
            self.add(pointer, "absent".to_string(), found.is_none(), || {
                found.map_or_else(String::new, |v| shown(&v.to_string()))
            });
        }
    }
}

fn last_of_user(messages: &[Value]) -> Option<&Value> {
    (messages.iter().rev()).find(|message| text(message, "role") == "user")
}

fn result_in_short(block: &Value) -> String {
    let error = match block.get("is_error") {
        Some(Value::Bool(true)) => ", is_error true",
        _ => "",
    };
    let id = text(block, "tool_use_id");
    format!("for {id}{error}: {}", shown(&message_text(block)))
}

/// A text as shown in a report: quoted, and truncated if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        None => RawJson::string(text).to_string(),
        Some((end, _)) => format!(
            "{} … ({} bytes in all)",
            RawJson::string(&text[..end]),
            text.len()
        ),
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}
