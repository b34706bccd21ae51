//! The stream of messages: what comes, in which order, with which fields.

use serde_json::{Value, json};
use windlass_core::{
    Input, Spec,
    effect::{Answer, PermissionResponse},
    message::{McpServer, PluginInfo},
    tool::ToolResult,
};

use crate::harness::{
    Bench, CWD, MODEL, Reply, asking_spec, raw, rules, spec_with, sse, tool, tool_use,
};

#[test]
fn loop_1_every_prompt_is_answered_first_by_one_init_with_all_facts() {
    let mut spec = spec_with(vec![tool("Look"), tool("Locked")]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    spec.model.betas = vec!["context-1m-2025-08-07".into()];
    let environment = &mut spec.environment;
    environment.version = "1.2.3".into();
    environment.api_key_source = "user".into();
    environment.mcp_servers = vec![McpServer {
        name: "tracker".into(),
        status: "connected".into(),
    }];
    environment.slash_commands = vec!["compact".into()];
    environment.output_style = "default".into();
    environment.agents = vec!["reviewer".into()];
    environment.skills = vec!["pdf".into()];
    environment.plugins = vec![PluginInfo {
        name: "files".into(),
        path: "/plugins/files".into(),
    }];
    let mut bench = Bench::new(spec);
    bench.prompt("one");
    bench.says("first");
    bench.prompt("two");
    bench.says("second");

    let lines = bench.lines();
    let kinds: Vec<&str> = lines.iter().filter_map(|l| l["type"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "system",
            "assistant",
            "result",
            "system",
            "assistant",
            "result"
        ]
    );
    let mut init = lines[0].clone();
    assert_ne!(init["uuid"], lines[3]["uuid"]);
    init["uuid"] = Value::Null;
    assert_eq!(
        init,
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": CWD,
            "session_id": bench.session.id().to_string(),
            "tools": ["Look"],
            "mcp_servers": [{"name": "tracker", "status": "connected"}],
            "model": MODEL,
            "permissionMode": "bypassPermissions",
            "slash_commands": ["compact"],
            "apiKeySource": "user",
            "claude_code_version": "1.2.3",
            "output_style": "default",
            "agents": ["reviewer"],
            "skills": ["pdf"],
            "plugins": [{"name": "files", "path": "/plugins/files"}],
            "betas": ["context-1m-2025-08-07"],
            "uuid": null,
        })
    );
}

#[test]
fn loop_2_a_response_is_one_assistant_message_with_all_its_blocks() {
    let mut bench = Bench::new(spec_with(vec![tool("Look")]));
    bench.prompt("go");
    let blocks = [
        json!({"type": "thinking", "thinking": "I should look.", "signature": "c2ln"}),
        json!({"type": "text", "text": "Looking."}),
        tool_use("toolu_1", "Look", json!({"at": [1, 2]})),
    ];
    bench.reply(&Reply::message(&blocks));

    let assistant = bench.lines_of("assistant");
    assert_eq!(assistant.len(), 1);
    let message = &assistant[0]["message"];
    assert_eq!(message["content"], json!(blocks));
    assert_eq!(message["model"], MODEL);
    assert_eq!(message["id"], "msg_1");
    assert_eq!(message["role"], "assistant");
    assert_eq!(message["type"], "message");
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["usage"]["input_tokens"], 10);
    assert_eq!(message["usage"]["output_tokens"], 5);
}

#[test]
fn loop_3_a_tool_result_is_one_user_message_with_its_structured_output() {
    let mut bench = Bench::new(spec_with(vec![tool("Look").read_only()]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("toolu_1", "Look", json!({})),
        tool_use("toolu_2", "Look", json!({})),
    ]));
    let (id, _) = bench.call("toolu_1");
    bench.answer(
        id,
        Answer::Tool(ToolResult {
            structured: Some(raw(&json!({"lines": 3}))),
            ..ToolResult::text("three lines")
        }),
    );
    bench.finish("toolu_2", "nothing");

    let users = bench.lines_of("user");
    assert_eq!(users.len(), 2);
    assert_eq!(users[0]["tool_use_result"], json!({"lines": 3}));
    assert_eq!(
        users[0]["message"],
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "three lines"},
        ]})
    );
    assert_eq!(users[1].get("tool_use_result"), None);
}

#[test]
fn loop_4_stream_events_pass_through_as_they_came_when_wanted() {
    let mut spec = spec_with(vec![]);
    spec.stream.partial_messages = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let body = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"claude-sonnet-4-6\",\"usage\":{}}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\", \"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"H\\u0069\"},\"new\":1.50}\n\n",
        "data: {\"type\":\"some_future_event\",\"x\":[]}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    bench.reply(&Reply::stream(body.into()));

    let expected: Vec<&str> = (body.lines())
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| !data.contains("\"ping\""))
        .collect();
    let events: Vec<String> = (bench.messages().into_iter())
        .filter_map(|message| match message {
            windlass_core::Message::StreamEvent(event) => Some(event.event.get().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(events, expected, "byte for byte");
    assert_eq!(bench.result().result.as_deref(), Some("Hi"));
    let lines = bench.lines_of("stream_event");
    assert!(lines.iter().all(|l| l["parent_tool_use_id"] == Value::Null));
    assert!(
        lines
            .iter()
            .all(|l| l.as_object().unwrap().contains_key("parent_tool_use_id"))
    );
}

#[test]
fn loop_4_no_stream_events_when_not_wanted() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.says("Hi");
    assert_eq!(bench.lines_of("stream_event").len(), 0);
}

#[test]
fn loop_5_the_result_is_the_last_message_also_after_an_error() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.reply(&Reply::error(400, "invalid_request_error", "too odd"));
    let lines = bench.lines();
    let result = lines.last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "error_during_execution");
    for field in [
        "duration_ms",
        "duration_api_ms",
        "num_turns",
        "total_cost_usd",
    ] {
        assert!(result[field].is_number(), "{field}: {result}");
    }
    for field in ["usage", "modelUsage"] {
        assert!(result[field].is_object(), "{field}: {result}");
    }
    assert!(result["permission_denials"].is_array());
    assert!(result["session_id"].is_string() && result["uuid"].is_string());
    assert_eq!(bench.results().len(), 1);
}

#[test]
fn loop_6_the_run_ends_when_a_response_has_no_calls() {
    let mut bench = Bench::new(spec_with(vec![tool("Look").read_only(), tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "Look", json!({})),
        tool_use("b", "Look", json!({})),
        tool_use("c", "Note", json!({})),
    ]));
    bench.finish("a", "1");
    bench.finish("b", "2");
    bench.finish("c", "3");
    assert_eq!(
        bench.body()["messages"][2]["content"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    bench.says("All done.");
    assert!(bench.pending.is_empty());
    assert!(bench.session.is_idle());
    assert_eq!(bench.result().result.as_deref(), Some("All done."));
}

#[test]
fn loop_22_messages_name_their_session_themselves_and_their_parent() {
    let mut spec = asking_spec(vec![tool("Note")]);
    spec.stream.partial_messages = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::error(529, "overloaded_error", "full"));
    bench.tick();
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.decide(PermissionResponse::allow());
    let (id, _) = bench.call("a");
    bench.wait(2_500);
    bench.answer(id, Answer::Progress("half way".into()));
    bench.finish("a", "ok");
    bench.says("Done.");

    let mut uuids = std::collections::BTreeSet::new();
    let mut kinds = std::collections::BTreeSet::new();
    for line in bench.lines() {
        let kind = line["type"].as_str().unwrap().to_owned();
        assert_eq!(line["session_id"], bench.session.id().to_string(), "{line}");
        assert!(uuids.insert(line["uuid"].as_str().unwrap().to_owned()));
        if ["assistant", "user", "stream_event", "tool_progress"].contains(&kind.as_str()) {
            let object = line.as_object().unwrap();
            assert_eq!(
                object.get("parent_tool_use_id"),
                Some(&Value::Null),
                "{line}"
            );
        }
        if kind == "tool_progress" {
            assert_eq!(line["tool_use_id"], "a");
            assert_eq!(line["tool_name"], "Note");
            assert_eq!(line["elapsed_time_seconds"], 2);
        }
        kinds.insert(kind);
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

#[test]
fn loop_24_a_success_has_its_text_and_no_errors() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.wait(1_200);
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": null});
    let body = sse(
        &[json!({"type": "text", "text": "Yes."})],
        "end_turn",
        &usage,
        &json!({"output_tokens": 3}),
    );
    bench.reply(&Reply::stream(body));
    let result = bench.lines_of("result").remove(0);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], false);
    assert_eq!(result["result"], "Yes.");
    assert_eq!(result.get("errors"), None);
    assert_eq!(result["stop_reason"], "end_turn");
    assert_eq!(result["duration_ms"], 1_200);
    assert_eq!(result["duration_api_ms"], 1_200);
    assert_eq!(
        result["usage"],
        json!({
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 3,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        })
    );
}

#[test]
fn loop_24_an_error_has_no_text_and_the_stop_reason_of_the_last_response() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.wait(700);
    bench.finish("a", "ok");
    bench.reply(&Reply::error(403, "permission_error", "not you"));
    let result = bench.lines_of("result").remove(0);
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["is_error"], true);
    assert_eq!(result.get("result"), None);
    assert_eq!(result["errors"].as_array().unwrap().len(), 1);
    assert_eq!(result["stop_reason"], "tool_use");
    assert_eq!(result["duration_ms"], 700);
    assert_eq!(result["duration_api_ms"], 0);
}

#[test]
fn loop_25_turns_are_responses_the_last_one_included_and_nothing_limits_them() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    for round in 0..3 {
        let id = format!("toolu_{round}");
        bench.reply(&Reply::call(&id, "Note", json!({})));
        bench.finish(&id, "ok");
    }
    bench.says("Done.");
    assert_eq!(bench.result().num_turns, 4);

    bench.prompt("and now for long");
    for round in 10..310 {
        let id = format!("toolu_{round}");
        bench.reply(&Reply::call(&id, "Note", json!({})));
        bench.finish(&id, "ok");
    }
    bench.says("Done.");
    assert_eq!(bench.result().num_turns, 301);
    assert!(!bench.result().is_error);
}

#[test]
fn loop_29_the_model_that_was_set_is_used_exactly_and_named() {
    let mut spec = spec_with(vec![]);
    spec.model.name = "My-Model_7@2025".into();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(bench.body()["model"], "My-Model_7@2025");
    assert_eq!(bench.lines()[0]["model"], "My-Model_7@2025");
    bench.says("ok");

    bench.input(Input::SetModel(Some("claude-opus-4-5".into())));
    bench.prompt("go");
    assert_eq!(bench.body()["model"], "claude-opus-4-5");
    bench.says("ok");
    assert_eq!(bench.lines_of("system")[1]["model"], "claude-opus-4-5");

    bench.input(Input::SetModel(None));
    bench.prompt("go");
    assert_eq!(bench.body()["model"], "My-Model_7@2025");
}

#[test]
fn loop_29_a_model_that_was_not_set_is_the_documented_default() {
    let mut spec = Spec::default();
    // With a table of its own, so that it is not given that of the tests.
    let table = r#"{"models":[{"prefix":"","input":1,"output":1,"cache_read":1,"cache_write":1}]}"#;
    spec.model.catalogue = spec.model.catalogue.with_file(table).unwrap();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(bench.body()["model"], windlass_core::spec::DEFAULT_MODEL);
}
