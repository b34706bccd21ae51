//! What goes to the model: the encoding of requests, cache marks, and blocks that must come back as they were.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt, RawJson, Spec,
    context::{PlanReminder, SystemPrompt},
    history::{History, Role},
    permission::Mode,
    spec::{Effort, Thinking, ThinkingDisplay},
};

use crate::harness::{Bench, MODEL, Reply, raw, rules, spec_with, tool, tool_use};

fn first_body(spec: Spec) -> Value {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.body()
}

fn header(spec: Spec, name: &str) -> Option<String> {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let (_, request) = bench.asked();
    request
        .headers
        .into_iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

#[test]
fn a_request_is_encoded_as_the_api_documents_it() {
    let mut look = tool("Look");
    look.input_schema = RawJson::parse(r#"{"type":"object", "z":1.0, "a":{}}"#).unwrap();
    let mut spec = spec_with(vec![tool("Note"), look, tool("Locked")]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    spec.prompt.system = "Be brief.".into();
    spec.model.max_tokens = Some(1_000);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let (_, request) = bench.asked();
    assert_eq!(request.method, "POST");
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(
        String::from_utf8(request.body_bytes()).unwrap(),
        concat!(
            r#"{"model":"claude-sonnet-4-6","max_tokens":1000,"stream":true,"thinking":{"type":"adaptive"},"#,
            r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
            r#""tools":[{"name":"Note","description":"Does something.","input_schema":{"type":"object"}},"#,
            r#"{"name":"Look","description":"Does something.","input_schema":{"type":"object", "z":1.0, "a":{}}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]}]}"#,
        )
    );
    assert_eq!(request.body_len(), request.body_bytes().len());
    for (name, value) in [
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("anthropic-version", "2023-06-01"),
    ] {
        let found = request.headers.iter().find(|(key, _)| key == name);
        assert_eq!(found.map(|(_, v)| v.as_str()), Some(value), "{name}");
    }
}

#[test]
fn streaming_can_be_switched_off() {
    let mut spec = spec_with(vec![]);
    spec.model.stream = false;

    assert_eq!(first_body(spec.clone())["stream"], false);
    assert_eq!(header(spec.clone(), "accept").unwrap(), "application/json");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::json(&json!({
        "id": "m", "type": "message", "role": "assistant", "model": MODEL,
        "content": [{"type": "text", "text": "whole"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": null},
    })));
    assert_eq!(bench.result().result.as_deref(), Some("whole"));
    assert_eq!(bench.result().usage.output_tokens, 4);
}

#[test]
fn an_empty_system_prompt_is_not_sent() {
    for system in [SystemPrompt::None, "".into(), " \n".into()] {
        let mut spec = spec_with(vec![]);
        spec.prompt.system = system;

        assert_eq!(first_body(spec).get("system"), None);
    }
}

#[test]
fn the_output_limit_is_the_models_own_unless_a_lower_one_is_set() {
    for (model, wanted, expected) in [
        (MODEL, None, 32_768),
        (MODEL, Some(100), 100),
        (MODEL, Some(1_000_000), 64_000),
        ("claude-3-haiku-20240307", None, 4_096),
        ("homemade-1", None, 16_384),
        ("homemade-1", Some(1_000_000), 1_000_000),
    ] {
        let mut spec = spec_with(vec![]);
        spec.model.name = model.into();
        spec.model.max_tokens = wanted;

        assert_eq!(
            first_body(spec)["max_tokens"],
            expected,
            "{model} {wanted:?}"
        );
    }
}

#[test]
fn loop_10_thinking_is_sent_as_it_is_set() {
    let of = |model: &str, thinking| {
        let mut spec = spec_with(vec![]);
        spec.model.name = model.into();
        spec.model.thinking = thinking;

        first_body(spec)["thinking"].clone()
    };
    let (new, old) = ("claude-opus-4-6", "claude-haiku-4-5");
    assert_eq!(of(new, Thinking::Default), json!({"type": "adaptive"}));
    assert_eq!(of(new, Thinking::Adaptive), json!({"type": "adaptive"}));
    assert_eq!(of(old, Thinking::Default), Value::Null, "it cannot");
    assert_eq!(of(new, Thinking::Disabled), json!({"type": "disabled"}));
    let budget = |tokens| Thinking::Enabled {
        budget_tokens: tokens,
    };
    assert_eq!(
        of(old, budget(None)),
        json!({"type": "enabled", "budget_tokens": 10_000})
    );
    assert_eq!(
        of(old, budget(Some(2_000))),
        json!({"type": "enabled", "budget_tokens": 2_000})
    );
    // There must be room for an answer.
    assert_eq!(of(old, budget(Some(90_000)))["budget_tokens"], 32_767);
}

#[test]
fn loop_27_effort_is_sent_when_it_is_set_and_the_model_knows_it() {
    let of = |model: &str, effort| {
        let mut spec = spec_with(vec![]);
        spec.model.name = model.into();
        spec.model.effort = effort;

        first_body(spec)["output_config"].clone()
    };
    assert_eq!(of("claude-opus-4-6", None), Value::Null);
    for (effort, name) in [
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Max, "max"),
    ] {
        assert_eq!(of("claude-opus-4-6", Some(effort)), json!({"effort": name}));
    }
    assert_eq!(of("claude-haiku-4-5", Some(Effort::High)), Value::Null);
}

#[test]
fn loop_20_betas_go_into_their_header() {
    let mut spec = spec_with(vec![]);
    spec.model.betas = vec!["context-1m-2025-08-07".into(), "other".into()];

    assert_eq!(
        header(spec, "anthropic-beta").unwrap(),
        "context-1m-2025-08-07,other"
    );
    assert_eq!(header(spec_with(vec![]), "anthropic-beta"), None);
}

/// Where in a body the cache marks stand, as JSON pointers.
fn marks(value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    match value {
        Value::Object(fields) => {
            if fields.contains_key("cache_control") {
                found.push(at.to_owned());
            }
            for (key, field) in fields {
                found.extend(marks(field, &format!("{at}/{key}")));
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                found.extend(marks(item, &format!("{at}/{i}")));
            }
        }
        _ => {}
    }
    found
}

fn without_marks(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

#[test]
fn loop_17_each_request_marks_its_end_and_the_end_of_the_one_before() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.prompt.system = "Be brief.".into();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(
        marks(&bench.body(), ""),
        ["/messages/0/content/0", "/system/0"]
    );
    let mut before = bench.body();
    for round in 0..30 {
        let id = format!("t{round}");
        bench.reply(&Reply::message(&[
            json!({"type": "text", "text": "Again."}),
            tool_use(
                &id,
                "Note",
                json!({"cache_control": "is a word like another"}),
            ),
        ]));
        bench.finish(&id, "noted");
        let body = bench.body();
        let (last, previous) = (2 * round + 2, 2 * round);
        let mut found = marks(&body["messages"], "");
        found.retain(|place| !place.ends_with("/input"));
        let mut expected = vec![
            format!("/{previous}/content/0"),
            format!("/{last}/content/0"),
        ];
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        // All up to the mark is what the request before ended with: the provider has it.
        let messages = |body: &Value| without_marks(body["messages"].clone());
        let kept = messages(&before).as_array().unwrap().len();
        assert_eq!(
            messages(&body).as_array().unwrap()[..kept],
            *messages(&before).as_array().unwrap()
        );
        assert_eq!(body["system"], before["system"]);
        assert_eq!(body["tools"], before["tools"]);
        before = body;
    }
}

#[test]
fn loop_17_without_a_system_prompt_the_tools_are_marked() {
    let body = first_body(spec_with(vec![tool("A"), tool("B")]));
    assert_eq!(marks(&body, ""), ["/messages/0/content/0", "/tools/1"]);
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    assert_eq!(marks(&bench.body(), ""), ["/messages/0/content/0"]);
}

#[test]
fn loop_17_a_retry_sends_the_same_bytes() {
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.finish("a", "ok");
    let first = bench.asked().1.body_bytes();
    bench.reply(&Reply::error(529, "overloaded_error", "full"));
    bench.tick();
    assert_eq!(bench.asked().1.body_bytes(), first);
}

#[test]
fn loop_17_the_mark_survives_a_request_that_came_to_nothing() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("one");
    bench.says("1");
    bench.prompt("two");
    bench.reply(&Reply::error(401, "authentication_error", "no"));
    bench.prompt("three");
    assert_eq!(
        marks(&bench.body(), ""),
        ["/messages/0/content/0", "/messages/2/content/1"]
    );
}

#[test]
fn loop_21_blocks_of_unknown_kinds_come_back_byte_for_byte() {
    let unknown = [
        r#"{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"url":"https:\/\/x","score":1.50,"odd":1e3}]}"#,
        r#"{ "z": null, "type": "never_heard_of", "a": "\u00e9\ud83d\ude00", "n": 123456789012345678901234567890 }"#,
        r#"{"type":"redacted_thinking","data":"AAAA"}"#,
    ];
    for streamed in [true, false] {
        let mut bench = Bench::new(spec_with(vec![]));
        bench.prompt("go");
        let reply = if streamed {
            let mut body = String::from(
                "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"claude-sonnet-4-6\",\"usage\":{}}}\n\n",
            );
            for (i, block) in unknown.iter().enumerate() {
                body += &format!(
                    "data: {{\"type\":\"content_block_start\",\"index\":{i},\"content_block\":{block}}}\n\n"
                );
                body += &format!("data: {{\"type\":\"content_block_stop\",\"index\":{i}}}\n\n");
            }
            body +=
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
            body += "data: {\"type\":\"message_stop\"}\n\n";
            Reply::stream(body)
        } else {
            let body = format!(
                "{{\"id\":\"m\",\"model\":\"{MODEL}\",\"content\":[{}],\"stop_reason\":\"tomorrow\",\"usage\":{{}}}}",
                unknown.join(",")
            );
            let mut reply = Reply::stream(body);
            reply.headers[0].1 = "application/json".into();
            reply
        };
        bench.reply(&reply);
        let line = bench
            .messages()
            .iter()
            .find(|m| matches!(m, windlass_core::Message::Assistant(_)))
            .unwrap()
            .to_line();
        bench.prompt("next");
        let request = String::from_utf8(bench.asked().1.body_bytes()).unwrap();
        let stored = unknown.join(",");
        assert!(
            request.contains(&format!("\"content\":[{stored}]")),
            "{request}"
        );
        assert!(line.contains(&stored), "{line}");
    }
}

#[test]
fn loop_21_an_input_streamed_into_an_unknown_block_is_put_into_it() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    let body = [
        json!({"type": "message_start", "message": {"id": "m", "model": MODEL, "usage": {}}}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"query\": "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "\"rust\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(crate::harness::event)
    .collect();
    bench.reply(&Reply::stream(body));
    let block = &bench.history()[1]["content"][0];
    assert_eq!(block["input"], json!({"query": "rust"}));
    assert_eq!(block["id"], "srv_1");
}

#[test]
fn loop_21_numbers_and_the_order_of_fields_in_tool_inputs_stay_as_the_model_wrote_them() {
    let written = r#"{"z": 1.50, "a": [1e3, 12345678901234567890], "m": "\u00e9"}"#;
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!(written)));
    assert_eq!(bench.call("a").1.input.get(), written);
    bench.finish("a", "ok");
    let request = String::from_utf8(bench.asked().1.body_bytes()).unwrap();
    assert!(request.contains(written));
}

#[test]
fn loop_28_signed_thinking_goes_back_with_text_and_signature_and_unsigned_does_not() {
    let signed = json!({"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"});
    let hidden = json!({"type": "thinking", "thinking": "", "signature": "b25seQ=="});
    let unsigned = json!({"type": "thinking", "thinking": "lost"});
    let mut bench = Bench::new(spec_with(vec![tool("Note")]));
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        signed.clone(),
        hidden.clone(),
        unsigned,
        tool_use("a", "Note", json!({})),
    ]));
    let told = bench.lines_of("assistant").remove(0);
    assert_eq!(told["message"]["content"].as_array().unwrap().len(), 4);
    bench.finish("a", "ok");
    let content = bench.body()["messages"][1]["content"].clone();
    assert_eq!(content[0], signed);
    assert_eq!(content[1], hidden);
    assert_eq!(content[2]["type"], "tool_use");
}

#[test]
fn a_paused_turn_is_taken_up_again_with_all_that_was_said() {
    let mut spec = spec_with(vec![]);
    spec.policy.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.saved();
    let searching =
        json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let blocks = [searching];
    bench.reply(&Reply::stopped(&blocks, "pause_turn"));
    let first = bench.saved();
    let messages = bench.body()["messages"].clone();
    assert_eq!(without_marks(messages)[1]["content"], json!(blocks));
    bench.says("Found.");
    let second = bench.saved();
    let second_message: serde_json::Value = second.message.decode().unwrap();
    assert_eq!(second_message["content"][0]["text"], "Found.", "saved once");
    assert_eq!(second.parent, Some(first.uuid));
    assert_eq!(bench.result().num_turns, 2);
    assert_eq!(bench.result().result.as_deref(), Some("Found."));
    assert_eq!(bench.history()[1]["content"].as_array().unwrap().len(), 2);
    bench.prompt("next");
    bench.saved();
    assert_eq!(bench.body()["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_pause_without_a_word_does_not_go_round_for_ever() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.reply(&Reply::stopped(&[], "pause_turn"));
    assert!(bench.session.is_idle());
    assert_eq!(bench.results().len(), 1);
}

#[test]
fn an_empty_response_is_an_empty_answer_and_no_message_in_the_history() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("one");
    bench.reply(&Reply::message(&[json!({"type": "text", "text": ""})]));
    assert_eq!(bench.result().result.as_deref(), Some(""));
    bench.prompt("two");
    let messages = bench.body()["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 1);
    assert_eq!(messages[0]["content"].as_array().unwrap().len(), 2);
}

#[test]
fn blocks_of_a_prompt_are_sent_as_they_are() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let text = json!({"type": "text", "text": "What is it?"});
    let mut bench = Bench::new(spec_with(vec![]));
    bench.input(Input::Prompt(Prompt::blocks(vec![raw(&image), raw(&text)])));
    let content = without_marks(bench.body()["messages"][0]["content"].clone());
    assert_eq!(content, json!([image, text]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    /// Any order of pushes and requests: the segments are the messages, roles alternate, nothing is lost, and
    /// breakpoints stand where a block closes.
    #[test]
    fn a_history_is_its_messages_whatever_the_order_of_pushes_and_requests(
        steps in prop::collection::vec((any::<bool>(), 0..4usize, "[a-z\"\\\\é]{0,40}", any::<bool>()), 0..60),
    ) {
        let mut history = History::default();
        let mut expected: Vec<(Role, Vec<Value>)> = Vec::new();
        let mut places = Vec::new();
        for (user, count, text, request) in steps {
            let role = if user { Role::User } else { Role::Assistant };
            let blocks = vec![json!({"type": "text", "text": text}); count];
            history.push(role, blocks.iter().map(raw).collect());
            match expected.last_mut() {
                _ if count == 0 => {}
                Some((last, content)) if *last == role => content.extend(blocks),
                _ => expected.push((role, blocks)),
            }
            if request {
                history.seal_for_request();
                let view = history.view(&mut places);
                prop_assert!(view.breakpoints.len() <= 2);
                prop_assert_eq!(view.breakpoints.is_empty(), expected.is_empty());
                for (segment, at) in view.breakpoints {
                    let closes = view.segments[*segment][*at..].starts_with(b"}]}");
                    prop_assert!(closes);
                }
                let mut body = b"[".to_vec();
                for segment in view.segments {
                    body.extend_from_slice(segment);
                }
                body.push(b']');
                let sent: Vec<Value> = serde_json::from_slice(&body).unwrap();
                prop_assert_eq!(sent.len(), expected.len());
                prop_assert_eq!(history.encoded_len(), body.len() - 2);
            }
            let lines: Vec<Value> = history.lines().map(|l| serde_json::from_slice(&l).unwrap()).collect();
            let whole: Vec<Value> = expected.iter().map(|(role, content)| json!({
                "role": if *role == Role::User { "user" } else { "assistant" }, "content": content,
            })).collect();
            prop_assert_eq!(&lines, &whole);
            prop_assert_eq!(history.message_count(), whole.len());
            prop_assert_eq!(history.last_role(), expected.last().map(|(role, _)| *role));
        }
    }
}

#[test]
fn a_task_budget_and_the_display_of_thinking_are_sent_as_the_api_spells_them() {
    let mut spec = spec_with(vec![]);
    spec.model.task_budget = Some(50_000);
    spec.model.thinking_display = Some(ThinkingDisplay::Omitted);
    let betas = header(spec.clone(), "anthropic-beta").unwrap();
    assert!(betas.contains("task-budgets-2026-03-13"), "{betas}");
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    let body = bench.body();
    assert_eq!(
        body["output_config"],
        json!({"task_budget": {"type": "tokens", "total": 50_000}})
    );
    assert_eq!(
        body["thinking"],
        json!({"type": "adaptive", "display": "omitted"})
    );
    spec.model.thinking = Thinking::Enabled {
        budget_tokens: Some(2000),
    };
    spec.model.effort = Some(Effort::Low);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let body = bench.body();
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 2000, "display": "omitted"})
    );
    assert_eq!(body["output_config"]["effort"], "low");
}

#[test]
fn an_alias_runs_another_tool_and_the_conversation_keeps_the_name() {
    let mut spec = spec_with(vec![tool("Note")]);
    // One step and no more, or these two would go on for ever.
    spec.tools.aliases = [("Bash", "Note"), ("Note", "Bash")]
        .map(|(from, to)| (from.to_owned(), to.to_owned()))
        .into_iter()
        .collect();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Bash", json!({})));
    assert_eq!(bench.call("a").1.name, "Note");
    bench.finish("a", "noted");
    assert_eq!(bench.body()["messages"][1]["content"][0]["name"], "Bash");
    bench.reply(&Reply::call("b", "Note", json!({})));
    assert!(
        bench.body().to_string().contains("Bash"),
        "there is no Bash here, and the model hears of it"
    );
}

#[test]
fn in_plan_mode_the_model_is_told_with_each_prompt() {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.prompt.plan_reminder = Some(PlanReminder {
        instructions: Some("Count to three first.".to_owned()),
    });
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert!(!bench.body().to_string().contains("Count to three"));
    bench.says("Done.");
    bench.input(Input::SetMode(Mode::Plan));
    bench.prompt("and now a plan");
    let last = bench.body()["messages"]
        .as_array()
        .and_then(|all| all.last().cloned())
        .unwrap();
    assert_eq!(last["content"][0]["text"], "and now a plan");
    let told = last["content"][1]["text"].as_str().unwrap();
    assert!(told.contains("Plan mode is on") && told.contains("Count to three first."));
}
