//! The example in the documentation is a script, and it plays as it reads.

use serde_json::{Value, json};

use super::{assembled, body_text, events, status};
use windlass_testkit::{RequestView, Script, ScriptedModel};

const DOCUMENT: &str = include_str!("../../../../docs/scripted-model.md");

#[test]
fn the_documented_example_plays() {
    let (_, rest) = DOCUMENT.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let script = Script::parse_with(example, &[("cwd", "/tmp/notes")]).expect("a script");
    let mut model = ScriptedModel::new(script);
    let headers = [("anthropic-version".into(), "2023-06-01".into())];
    let mut ask = |messages: &Value| {
        let body = json!({
            "model": "asked", "max_tokens": 9, "stream": true,
            "tools": [{"name": "Read"}], "messages": messages
        })
        .to_string();
        model.answer(&RequestView {
            path: "/v1/messages",
            headers: &headers,
            body: body.as_bytes(),
        })
    };

    let question = json!({"role": "user", "content": "What does it say?"});
    let first = ask(&json!([question]));
    assert!(body_text(&first).contains("\"model\":\"claude-sonnet-4-5\""));
    let call = &assembled(&first)[2];
    assert_eq!(call, "tool_use:{ \"file_path\": \"/tmp/notes/note.txt\" }");

    let history = json!([
        question,
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1_3", "name": "Read", "input": {"file_path": "/tmp/notes/note.txt"}}
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1_3", "content": "Buy milk"}
        ]}
    ]);
    assert_eq!(status(&ask(&history)), 529);
    let last = ask(&history);
    assert_eq!(events(&last).last().expect("events").0, "message_stop");
    assert_eq!(model.verify(), Ok(()));
}
