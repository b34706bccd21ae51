//! The rules of a valid history, each broken once.

use serde_json::{Value, json};

use super::{after_call, hello, request};
use windlass_testkit::{HistoryRule, validate_request};

/// The rules that a body breaks.
fn broken(body: &str) -> Vec<HistoryRule> {
    match validate_request(body.as_bytes()) {
        Ok(()) => Vec::new(),
        Err(faults) => faults.into_iter().map(|fault| fault.rule).collect(),
    }
}

fn broken_by(messages: &Value) -> Vec<HistoryRule> {
    broken(&request(messages))
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

#[test]
fn valid_histories_pass() {
    assert_eq!(broken(&hello()), []);
    assert_eq!(broken(&after_call("t1", "", true)), []);
    let parallel = json!([
        user("Go"),
        assistant(json!([
            {"type": "thinking", "thinking": "", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Both."},
            call("a"),
            call("b")
        ])),
        user(json!([result("b"), result("a"), {"type": "text", "text": "and more"}])),
    ]);
    assert_eq!(broken_by(&parallel), []);
}

#[test]
fn every_rule_is_noticed() {
    use HistoryRule::*;
    let cases = [
        (json!([]), Shape),
        (json!([assistant("Hi")]), Roles),
        (json!([user("a"), user("b")]), Roles),
        (
            json!([
                user(json!([call("a")])),
                assistant("x"),
                user(json!([result("a")]))
            ]),
            Roles,
        ),
        (json!([user("")]), NotEmpty),
        (json!([user(json!([]))]), NotEmpty),
        (
            json!([user(json!([{"type": "text", "text": " \n"}]))]),
            NotEmpty,
        ),
        (
            json!([user("a"), assistant(json!([call("t")]))]),
            CallAnswered,
        ),
        (
            json!([user("a"), assistant(json!([call("t")])), user("b")]),
            CallAnswered,
        ),
        (json!([user(json!([result("t")]))]), ResultExpected),
        (
            json!([
                user("a"),
                assistant(json!([call("t")])),
                user(json!([result("t"), result("t")]))
            ]),
            ResultExpected,
        ),
        (
            json!([
                user("a"),
                assistant(json!([call("t")])),
                user(json!([{"type": "text", "text": "x"}, result("t")]))
            ]),
            ResultsFirst,
        ),
        (
            json!([
                user("a"),
                assistant(json!([call("t")])),
                user(json!([result("t")])),
                assistant(json!([call("t")])),
                user(json!([result("t")]))
            ]),
            UniqueCalls,
        ),
        (
            json!([
                user("a"),
                assistant(json!([{"type": "tool_use", "id": "t", "name": "R", "input": "{"}])),
                user(json!([result("t")]))
            ]),
            ObjectInput,
        ),
        (
            json!([
                user("a"),
                assistant(json!([{"type": "thinking", "thinking": "hm", "signature": ""}]))
            ]),
            SignedThinking,
        ),
    ];
    for (messages, rule) in cases {
        assert!(
            broken_by(&messages).contains(&rule),
            "{rule:?} in {messages}"
        );
    }
}

#[test]
fn cache_marks_and_tool_names_are_counted_over_the_whole_request() {
    let mark = json!({"type": "ephemeral"});
    let body = |marks: usize, names: [&str; 2]| {
        let content: Vec<Value> = (0..marks)
            .map(|_| json!({"type": "text", "text": "x", "cache_control": mark}))
            .collect();
        json!({
            "model": "m", "max_tokens": 1,
            "system": [{"type": "text", "text": "s", "cache_control": mark}],
            "tools": [{"name": names[0]}, {"name": names[1], "cache_control": mark}],
            "messages": [user(content)]
        })
        .to_string()
    };
    assert_eq!(broken(&body(2, ["A", "B"])), []);
    assert_eq!(broken(&body(3, ["A", "B"])), [HistoryRule::CacheMarks]);
    assert_eq!(broken(&body(1, ["A", "A"])), [HistoryRule::ToolNames]);
    assert_eq!(broken(&body(1, ["A", "a b"])), [HistoryRule::ToolNames]);
}

#[test]
fn a_fault_says_where_and_what() {
    let faults =
        validate_request(request(&json!([user("a"), assistant(json!([call("t9")]))])).as_bytes())
            .expect_err("an open call");
    assert_eq!(
        format!("{}", faults[0]),
        "messages[1].content[0]: every tool_use has its tool_result in the next message; found no result for `t9`"
    );
    assert_eq!(broken("not json"), [HistoryRule::Shape]);
    assert_eq!(broken("{}").len(), 3);
}
