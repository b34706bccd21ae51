//! What an embedder leans on: messages and answers as JSON, the diagram of the docs, prompts in a row.

use serde_json::json;
use windlass_core::{
    Message, Session, diagram,
    effect::{Answer, PermissionResponse},
    permission::{PermissionUpdate, RuleValue},
    tool::{ResultBlock, ToolResult},
};

use crate::harness::{Bench, Reply, asking_spec, raw, tool, tool_use};

/// The diagram in `docs/architecture.md` is the one that the table gives.
#[test]
fn the_diagram_in_the_docs_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/architecture.md");
    let Ok(page) = std::fs::read_to_string(path) else {
        return; // packaged without the repository around it
    };
    let expected = format!(
        "<!-- transitions:begin -->\n```mermaid\n{}```\n<!-- transitions:end -->",
        diagram()
    );
    assert!(
        page.contains(&expected),
        "docs/architecture.md is stale; between its transition markers belongs:\n\n{expected}\n"
    );
}

#[test]
fn api_1_messages_are_read_back_as_they_were_written() {
    let mut spec = asking_spec(vec![tool("Note")]);
    spec.stream.partial_messages = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::error(529, "overloaded_error", "full"));
    bench.tick();
    bench.reply(&Reply::message(&[
        json!({"type": "never_heard_of", "a": 1.50}),
        tool_use("a", "Note", json!({"x": [1]})),
    ]));
    bench.decide(PermissionResponse::allow());
    let (id, _) = bench.call("a");
    bench.answer(id, Answer::Progress("working".into()));
    bench.answer(
        id,
        Answer::Tool(ToolResult {
            structured: Some(raw(&json!({"a": 1}))),
            ..ToolResult::text("ok")
        }),
    );
    bench.reply(&Reply::call("b", "Note", json!({})));
    bench.decide(PermissionResponse::deny("no"));
    bench.says("Done.");
    for message in bench.messages() {
        let line = message.to_line();
        let read: Message = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(&read, message);
        assert_eq!(read.to_line(), line);
    }
}

#[test]
fn api_1_a_permission_answer_is_read_from_json() {
    let read = |text: &str| serde_json::from_str::<PermissionResponse>(text).unwrap();
    assert_eq!(read(r#"{"behavior":"allow"}"#), PermissionResponse::allow());
    assert_eq!(
        read(
            r#"{"behavior":"allow","updatedInput":{"b":1.50,"a":2},"toolUseID":"a","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Note"}],"behavior":"allow","destination":"session"}]}"#
        ),
        PermissionResponse::Allow {
            updated_input: Some(raw_text(r#"{"b":1.50,"a":2}"#)),
            updated_permissions: vec![PermissionUpdate::allow_in_session(vec![RuleValue::tool(
                "Note"
            )])],
        }
    );
    assert_eq!(
        read(r#"{"behavior":"allow","updatedPermissions":[{"type":"addRulez"}]}"#),
        PermissionResponse::allow(),
        "an invalid update drops the updates, not the permission"
    );
    assert_eq!(
        read(r#"{"behavior":"deny","message":"no"}"#),
        PermissionResponse::deny("no")
    );
}

fn raw_text(text: &str) -> windlass_core::RawJson {
    windlass_core::RawJson::parse(text).unwrap()
}

#[test]
fn api_1_tool_results_are_read_back_as_they_were_written() {
    let result = ToolResult {
        content: vec![
            ResultBlock::Text { text: "a".into() },
            ResultBlock::image("image/png", "aGk=".into()),
            ResultBlock::Other(raw_text(
                r#"{"type":"search_result","source":"s","n":1.50}"#,
            )),
        ],
        structured: Some(raw_text(r#"{"z":1.50}"#)),
        ..ToolResult::default()
    };
    let text = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<ToolResult>(&text).unwrap(), result);
}

#[test]
fn api_1_a_session_with_odd_results_is_put_away_and_taken_up() {
    let mut spec = asking_spec(vec![tool("Look").read_only()]);
    spec.policy.permissions.rules.allow = crate::harness::rules(&["Look"]);
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Look", json!({})),
        tool_use("b", "Look", json!({})),
    ]));
    let (id, _) = bench.call("a");
    bench.answer(
        id,
        Answer::Tool(ToolResult {
            content: vec![ResultBlock::Other(raw_text(
                r#"{"type":"search_result","source":"s","n":1.50}"#,
            ))],
            ..ToolResult::default()
        }),
    );
    let snapshot = bench.session.snapshot().unwrap();
    let restored = Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
    assert_eq!(restored.snapshot().unwrap(), snapshot);
}

#[test]
fn api_1_prompts_in_a_row_are_one_conversation() {
    let mut bench = Bench::new(asking_spec(vec![]));
    for (i, text) in ["one", "two", "three"].into_iter().enumerate() {
        bench.prompt(text);
        assert_eq!(
            bench.body()["messages"].as_array().unwrap().len(),
            2 * i + 1
        );
        bench.says("Yes.");
    }
    bench.prompt("four");
    bench.prompt("five");
    bench.says("Yes.");
    assert_eq!(bench.results().len(), 4);
    assert_eq!(bench.body()["messages"][8]["content"][0]["text"], "five");
}
