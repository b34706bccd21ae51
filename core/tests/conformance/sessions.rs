//! Whole sessions: the same script, the same conversation, whatever is spoken.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    RawJson, Spec,
    message::Message,
    provider::Provider,
    spec::{ModelSpec, PromptSpec, ToolSpec},
    tool::{ToolDefinition, ToolResult},
};
use windlass_testkit::{
    Faults, Script, Scripted, Sim, TestHost, render, validate_chat_request, validate_request,
};

use super::{MODEL, formats};

fn spec(provider: Arc<dyn Provider>) -> Spec {
    let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
    Spec {
        model: ModelSpec {
            provider,
            name: MODEL.into(),
            ..ModelSpec::default()
        },
        prompt: PromptSpec {
            system: windlass_core::context::SystemPrompt::Text("Be brief.".into()),
            ..PromptSpec::default()
        },
        tools: ToolSpec {
            definitions: vec![
                ToolDefinition::new("Add", "Adds.", schema.clone()).read_only(),
                ToolDefinition::new("Fail", "Fails.", schema).read_only(),
            ],
            ..ToolSpec::default()
        },
        ..Spec::default()
    }
}

fn host(script: &Value) -> TestHost {
    TestHost::new(Script::parse(&script.to_string()).unwrap())
        .allow_all()
        .tool("Add", |_| ToolResult::text("3"))
        .tool("Fail", |_| ToolResult::error("it broke"))
}

/// Every request was one that a server of its format would take.
fn check_requests(host: &TestHost) {
    for request in host.requests() {
        let body = request.body_bytes();
        match request.path.as_str() {
            "/v1/messages" => validate_request(&body).unwrap(),
            _ => validate_chat_request(&body).unwrap(),
        }
    }
}

/// What the application sees, without what names the exchange.
fn seen(messages: &[Message]) -> String {
    render(messages).replace("chatcmpl_", "msg_")
}

#[test]
fn a_session_goes_the_same_way_in_every_format() {
    let script = json!({"exchanges": [
        {
            "expect": {"system_contains": "Be brief.", "tools_include": ["Add", "Fail"], "messages": 1, "model": MODEL, "stream": true},
            "respond": {"content": [
                "Let me see.",
                {"type": "tool_use", "name": "Add", "input": {"a": 1}},
                {"type": "tool_use", "name": "Fail", "id": "my-id"},
            ], "usage": {"input_tokens": 30, "output_tokens": 9, "cache_read_input_tokens": 4}},
        },
        {
            "expect": {"messages": 3, "tool_results": [
                {"id": "toolu_1_2", "contains": "3", "is_error": false},
                {"id": "my-id", "contains": "it broke", "is_error": true},
            ]},
            // The same id again: it must not collide with the one above.
            "respond": {"content": [{"type": "tool_use", "name": "Add", "id": "my-id"}], "usage": {"input_tokens": 3, "output_tokens": 9}},
        },
        // No id at all.
        {"expect": {"messages": 5}, "respond": {"content": [{"type": "tool_use", "name": "Add", "id": ""}], "usage": {"input_tokens": 3, "output_tokens": 9}}},
        {"expect": {"messages": 7, "last_user_contains": "3"}, "respond": {"error": {"type": "overloaded_error", "message": "busy"}}},
        {"expect": {"messages": 7}, "respond": {"text": "It is 3.", "usage": {"input_tokens": 3, "output_tokens": 9}}},
        {"expect": {"messages": 9, "last_user_contains": "And now?"}, "respond": {"text": "Still.", "usage": {"input_tokens": 3, "output_tokens": 9}}},
    ]});
    let runs: Vec<String> = formats()
        .into_iter()
        .map(|(_, provider)| {
            let host = host(&script);
            let mut session = host.session(spec(provider));
            host.prompt(&mut session, "What is 1 + 2?").unwrap();
            host.prompt(&mut session, "And now?").unwrap();
            host.verify().unwrap();
            check_requests(&host);
            seen(&host.messages())
        })
        .collect();
    assert!(runs[0].contains("It is 3."), "{}", runs[0]);
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn of_a_stream_that_breaks_at_any_byte_nothing_is_kept() {
    for (format, provider) in formats() {
        let answer = json!({
            "content": ["Let me.", {"type": "tool_use", "name": "Add", "input": {"a": [1, 2]}}],
            "usage": {"input_tokens": 5, "output_tokens": 6},
        });
        let mut expected = None;
        let mut at = 0;
        loop {
            let mut broken = answer.clone();
            broken["faults"] = json!([{"after_bytes": at, "cut": true}]);
            let script = json!({"match": "any", "exchanges": [
                {"expect": {"messages": 1}, "respond": broken},
                {"expect": {"messages": 1}, "respond": {"content": [
                    "Let me.", {"type": "tool_use", "name": "Add", "id": "toolu_1_2", "input": {"a": [1, 2]}}
                ], "usage": {"input_tokens": 5, "output_tokens": 6}}},
                {"expect": {"messages": 3}, "respond": {"text": "3", "usage": {"input_tokens": 5, "output_tokens": 6}}},
            ]});
            let host = host(&script);
            let mut session = host.session(spec(provider.clone()));
            host.prompt(&mut session, "Go").unwrap();
            check_requests(&host);
            let retried = host.requests().len() == 3;
            let lines: Vec<Vec<u8>> = session.history().lines().map(|l| l.to_vec()).collect();
            assert_eq!(lines.len(), 4, "{format} at {at}");
            assert_eq!(
                &lines,
                expected.get_or_insert_with(|| lines.clone()),
                "{format} at {at}"
            );
            if !retried {
                break; // the break came after the end
            }
            at += 1;
        }
        assert!(at > 300, "{format}: {at}");
    }
}

#[test]
fn the_limit_in_the_middle_of_an_input_is_told_to_the_model() {
    let script = json!({"exchanges": [
        {"respond": {"stop_reason": "max_tokens", "content": [
            {"type": "tool_use", "name": "Add", "input_text": "{\"a\": 1, \"b"}
        ]}},
        {"expect": {"tool_results": [{"id": "toolu_1_1", "is_error": true}]}, "respond": "I see."},
    ]});
    for (_, provider) in formats() {
        let host = host(&script);
        host.prompt(&mut host.session(spec(provider)), "Go")
            .unwrap();
        host.verify().unwrap();
        check_requests(&host);
        assert!(host.calls().is_empty());
    }
}

#[test]
fn a_session_put_away_and_taken_up_asks_with_the_same_bytes() {
    let script = json!({"exchanges": [
        {"respond": {"content": ["a", {"type": "tool_use", "name": "Add"}]}},
        {"respond": "b"},
        {"respond": "c"},
    ]});
    for (format, provider) in formats() {
        let bodies: Vec<Vec<u8>> = [false, true]
            .into_iter()
            .map(|restores| {
                let host = host(&script);
                let spec = spec(provider.clone());
                let mut session = host.session(spec.clone());
                host.prompt(&mut session, "one").unwrap();
                if restores {
                    let mut spec = spec;
                    spec.environment.cwd = "/work".into();
                    spec.policy.permissions.can_ask = true;
                    let bytes = session.snapshot().unwrap();
                    session = windlass_core::Session::restore(Arc::new(spec), &bytes).unwrap();
                    let live = Vec::new();
                    host.run(&mut session, [windlass_core::Input::Resumed { live }])
                        .unwrap();
                }
                host.prompt(&mut session, "two").unwrap();
                host.verify().unwrap();
                host.requests().last().unwrap().body_bytes()
            })
            .collect();
        assert_eq!(bodies[0], bodies[1], "{format}");
    }
}

#[test]
fn another_model_answers_the_same_history() {
    let script = json!({"exchanges": [
        {"respond": "a"},
        {"expect": {"model": "m-2", "messages": 3}, "respond": "b"},
    ]});
    for (_, provider) in formats() {
        let host = host(&script);
        let mut session = host.session(spec(provider));
        host.prompt(&mut session, "one").unwrap();
        let change = windlass_core::Input::SetModel(Some("m-2".into()));
        host.run(&mut session, [change]).unwrap();
        host.prompt(&mut session, "two").unwrap();
        host.verify().unwrap();
    }
}

/// Busy servers, cut streams, silence, crashes: nobody notices, and every request is one that the server takes.
#[test]
fn what_can_be_survived_is_in_every_format() {
    let script = json!({"exchanges": [
        {"respond": {"content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "tool_use", "name": "Add", "input": {"a": 1}},
            {"type": "tool_use", "name": "Fail"},
        ], "stream": {"delta_chars": 3, "interleave": true}}},
        {"expect": {"messages": 3, "last_user_contains": "it broke"}, "respond": "Three."},
    ]});
    for (format, provider) in formats() {
        let script = script.clone();
        let sim = Sim::new(move |_| {
            Scripted::new(
                spec(provider.clone()),
                Script::parse(&script.to_string()).unwrap(),
            )
            .prompt("Go.")
            .tool("Add", |_| ToolResult::text("3"))
            .tool("Fail", |_| ToolResult::error("it broke"))
            .allow_all()
        })
        .faults(Faults::survivable());
        for seed in 0..100 {
            let run = (sim.run(seed)).unwrap_or_else(|failure| panic!("{format}: {failure}"));
            let transcript = run.transcript();
            assert!(
                transcript.contains("assistant text \"Three.\""),
                "{format}: {transcript}"
            );
        }
    }
}
