//! Hooks, from outside: a host with hooks, a scripted model, and what came of it.

mod answers;
mod calls;
mod endings;
mod every_event;
mod failures;
mod prompts;
mod subagents;

use serde_json::{Value, json};
use windlass_core::{
    Message, RawJson, Spec,
    hook::{HookEvent, HookMatcher, HookOutput, Matcher},
    message::{HookResponse, Informational, SystemMessage},
};
use windlass_testkit::{Script, TestHost};

use crate::harness::{raw, spec_with, tool};

/// A model that gives these answers, a text or the content of a message each.
fn model(answers: &[Value]) -> TestHost {
    let exchanges: Vec<Value> = answers
        .iter()
        .map(|answer| match answer {
            Value::String(text) => json!({"respond": text}),
            content => json!({"respond": {"content": content}}),
        })
        .collect();
    let script = json!({"exchanges": exchanges}).to_string();
    TestHost::new(Script::parse(&script).expect("a script"))
}

/// A model that calls a tool once and is done.
fn one_call(name: &str, input: Value) -> TestHost {
    model(&[calls(&[(name, input)]), json!("Done.")])
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let block = |(index, (name, input)): (usize, &(&str, Value))| json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": input});
    calls.iter().enumerate().map(block).collect()
}

/// Everything may run; `Bash`, `Note` and `mcp__box__put` are tools.
fn free_spec() -> Spec {
    spec_with(vec![
        crate::harness::bash(),
        tool("Note"),
        tool("mcp__box__put"),
    ])
}

fn output(value: Value) -> HookOutputJson {
    HookOutputJson(value)
}

/// An output as JSON: what a callback in another language gives.
struct HookOutputJson(Value);

impl HookOutputJson {
    fn of(event: HookEvent, mut specific: Value) -> Self {
        specific["hookEventName"] = json!(event.name());
        Self(json!({"hookSpecificOutput": specific}))
    }

    fn read(&self, event: HookEvent) -> HookOutput {
        HookOutput::parse(&raw(&self.0), event).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn matcher(event: HookEvent, tools: &str) -> HookMatcher {
    let mut matcher = HookMatcher::new(event, Vec::<String>::new());
    matcher.matcher = Matcher::parse(tools).expect("a matcher");
    matcher
}

/// The input of the nth hook that was run.
fn told(host: &TestHost, nth: usize) -> Value {
    serde_json::from_str(host.hook_calls()[nth].input.get()).expect("JSON")
}

/// The last user message of the nth request.
fn user_message(host: &TestHost, nth: usize) -> Value {
    let body: Value =
        serde_json::from_slice(&host.requests()[nth].body_bytes()).expect("a JSON body");
    body["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .cloned()
        .expect("a message")
}

/// Its text blocks and the texts of its results.
fn texts(message: &Value) -> Vec<String> {
    let text = |block: &Value| match block["type"].as_str() {
        Some("tool_result") => match &block["content"] {
            Value::String(text) => format!("result: {text}"),
            blocks => format!("result: {}", blocks[0]["text"].as_str().unwrap_or("")),
        },
        _ => block["text"].as_str().unwrap_or("").to_owned(),
    };
    match &message["content"] {
        Value::String(text) => vec![text.clone()],
        blocks => blocks.as_array().into_iter().flatten().map(text).collect(),
    }
}

fn result(messages: &[Message]) -> Value {
    let last = messages.last().expect("messages");
    assert!(matches!(last, Message::Result(_)), "{last:?}");
    serde_json::from_str(&last.to_line()).expect("JSON")
}

fn informed(messages: &[Message]) -> Vec<&Informational> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::System(SystemMessage::Informational(said)) => Some(said),
            _ => None,
        })
        .collect()
}

fn responses(messages: &[Message]) -> Vec<&HookResponse> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::System(SystemMessage::HookResponse(response)) => Some(response),
            _ => None,
        })
        .collect()
}

fn json_of(value: &Value) -> RawJson {
    raw(value)
}
