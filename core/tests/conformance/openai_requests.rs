//! Requests of chat completions: what the canonical history becomes, and the settings.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Prompt, RawJson, Spec,
    history::{History, Role},
    prompt,
    provider::{
        Provider as _, Translator as _,
        openai::{ChatCompletions, OutputLimit, SystemRole},
    },
    spec::Effort,
    tool::ToolDefinition,
};
use windlass_testkit::{HistoryRule, Script, TestHost, validate_chat_request};

/// A message of the Messages API, translated.
fn translated(role: &str, content: &Value) -> Value {
    let message = json!({"role": role, "content": content}).to_string();
    let out = ChatCompletions::default().translate(message.as_bytes());
    serde_json::from_str(&format!("[{}]", String::from_utf8(out).unwrap())).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}})
}

fn image_url() -> Value {
    json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}})
}

#[test]
fn a_text_is_sent_as_a_string() {
    assert_eq!(
        translated("user", &json!([text("a\n\"b\"")])),
        json!([{"role": "user", "content": "a\n\"b\""}])
    );
    assert_eq!(
        translated("user", &json!([text("a"), text("b")])),
        json!([{"role": "user", "content": "a\n\nb"}])
    );
    let marked = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(
        translated("user", &marked),
        json!([{"role": "user", "content": "a"}])
    );
}

#[test]
fn images_are_sent_as_addresses() {
    let url = json!({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}});
    assert_eq!(
        translated("user", &json!([text("Look:"), image(), url])),
        json!([{"role": "user", "content": [
            text("Look:"), image_url(),
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        ]}])
    );
}

#[test]
fn what_cannot_be_said_is_said_to_be_left_out() {
    let pdf = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}});
    let note = json!({"type": "document", "title": "Note", "source": {"type": "text", "media_type": "text/plain", "data": "Buy milk"}});
    let found =
        json!({"type": "search_result", "title": "T", "source": "s", "content": [text("found")]});
    let odd = json!({"type": "text", "text": 7});
    let out = translated("user", &json!([pdf, note, found, odd]));
    let said = out[0]["content"].as_str().unwrap();
    assert!(said.contains("Left out here: a document"), "{said}");
    assert!(said.contains("Note\n\nBuy milk\n\nT\n\nfound"), "{said}");
    assert!(said.contains("Left out here: a content block"), "{said}");
}

#[test]
fn nested_blocks_have_an_end() {
    let deep = "{\"type\":\"search_result\",\"content\":[".repeat(20_000) + &"]}".repeat(20_000);
    let message = format!("{{\"role\":\"user\",\"content\":[{deep}]}}");
    let out = ChatCompletions::default().translate(message.as_bytes());
    assert!(String::from_utf8(out).unwrap().contains("Left out"));
}

#[test]
fn calls_and_results_keep_their_ids() {
    let calls = json!([
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "x"},
        text("I "), text("look."),
        {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "a \"b\""}},
        {"type": "tool_use", "id": "call 2", "name": "Now", "input": {}},
    ]);
    assert_eq!(
        translated("assistant", &calls),
        json!([{"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "toolu_1", "type": "function", "function": {"name": "Read", "arguments": "{\"path\":\"a \\\"b\\\"\"}"}},
            {"id": "call 2", "type": "function", "function": {"name": "Now", "arguments": "{}"}},
        ]}])
    );
    let results = json!([
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "text"},
        {"type": "tool_result", "tool_use_id": "call 2", "content": [text("a"), text("b")], "is_error": true},
        text("And hurry."),
    ]);
    assert_eq!(
        translated("user", &results),
        json!([
            {"role": "tool", "tool_call_id": "toolu_1", "content": "text"},
            {"role": "tool", "tool_call_id": "call 2", "content": "Error: a\nb"},
            {"role": "user", "content": "And hurry."},
        ])
    );
    let silent = json!([{"type": "tool_use", "id": "t", "name": "Now", "input": {}}]);
    assert_eq!(translated("assistant", &silent)[0]["content"], Value::Null);
    // What only another server understands is nothing.
    let foreign =
        json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]);
    assert_eq!(translated("assistant", &foreign), json!([]));
}

#[test]
fn images_of_a_result_follow_behind_all_results() {
    let results = json!([
        {"type": "tool_result", "tool_use_id": "a", "content": [text("seen"), image()]},
        {"type": "tool_result", "tool_use_id": "b", "content": [image(), image()]},
        {"type": "tool_result", "tool_use_id": "c"},
        text("Well?"),
    ]);
    assert_eq!(
        translated("user", &results),
        json!([
            {"role": "tool", "tool_call_id": "a", "content": "seen\n[An image follows in the next message.]"},
            {"role": "tool", "tool_call_id": "b", "content": "[Images follow in the next message.]"},
            {"role": "tool", "tool_call_id": "c", "content": ""},
            {"role": "user", "content": [
                text("From the result of the call a:"), image_url(),
                text("From the result of the call b:"), image_url(), image_url(),
                text("Well?"),
            ]},
        ])
    );
}

fn body(api: &ChatCompletions, spec: &Spec, prompt: &str) -> Value {
    let mut history = History::default();
    history.push(Role::User, Prompt::text(prompt).content);
    history.seal_for_request();
    let mut places = Vec::new();
    let view = history.view_for(Some(api), &mut places);
    let before_conversation = prompt::before_conversation(spec, "");
    let opening = windlass_core::provider::Opening {
        request: &spec.model_request("m"),
        system: &prompt::system_blocks(spec),
        before_conversation: before_conversation.as_deref(),
        tools: &windlass_core::tools::offers(
            spec,
            "m",
            &windlass_core::tools::CoreToolState::default(),
        ),
    };
    let request = api.request(&spec.model_request("m"), &api.prefix(&opening), view);
    assert_eq!(request.path, api.path);
    let bytes = request.body_bytes();
    validate_chat_request(&bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_plain_request_says_only_what_every_server_knows() {
    let api = ChatCompletions::default();
    assert_eq!(
        body(&api, &Spec::default(), "hi"),
        json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": "hi"}],
        })
    );
    let mut spec = Spec::default();
    spec.model.stream = false;
    spec.prompt.system = windlass_core::context::SystemPrompt::Text("  ".into());
    assert_eq!(
        body(&api, &spec, "hi"),
        json!({"model": "m", "stream": false, "messages": [{"role": "user", "content": "hi"}]})
    );
}

#[test]
fn everything_has_its_field() {
    let schema = r#"{"type":"object","properties":{"p":{"type":"string"}}}"#;
    let mut spec = Spec::with_tools([ToolDefinition::new(
        "Read",
        "Reads.",
        RawJson::parse(schema).unwrap(),
    )]);
    spec.prompt.system = windlass_core::context::SystemPrompt::Text("Be brief.".into());
    spec.model.max_tokens = Some(77);
    spec.model.effort = Some(Effort::Max);
    let mut api = ChatCompletions::default();
    let expected = json!({
        "model": "m", "stream": true, "stream_options": {"include_usage": true},
        "max_tokens": 77, "reasoning_effort": "high",
        "tools": [{"type": "function", "function": {
            "name": "Read", "description": "Reads.",
            "parameters": {"type": "object", "properties": {"p": {"type": "string"}}},
        }}],
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
    });
    assert_eq!(body(&api, &spec, "hi"), expected);

    api.output_limit = OutputLimit::MaxCompletionTokens;
    api.system_role = SystemRole::Developer;
    api.stream_usage = false;
    api.extra
        .insert("temperature".into(), RawJson::parse("0.50").unwrap());
    api.extra
        .insert("reasoning_effort".into(), RawJson::string("xhigh"));
    api.extra.insert("messages".into(), RawJson::null());
    spec.tools.definitions.clear();
    assert_eq!(
        body(&api, &spec, "hi"),
        json!({
            "model": "m", "stream": true, "max_completion_tokens": 77, "reasoning_effort": "xhigh",
            "temperature": 0.50,
            "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        })
    );
}

#[test]
fn the_address_of_a_server_tells_the_path() {
    for (url, path) in [
        ("https://api.openai.com/v1", "/chat/completions"),
        ("https://openrouter.ai/api/v1/", "/chat/completions"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "/chat/completions",
        ),
        ("http://localhost:11434", "/v1/chat/completions"),
        ("http://[::1]:8080/", "/v1/chat/completions"),
    ] {
        assert_eq!(ChatCompletions::at(url).path, path, "{url}");
    }
    let limit = |url| ChatCompletions::at(url).output_limit;
    assert_eq!(
        limit("https://api.openai.com/v1"),
        OutputLimit::MaxCompletionTokens
    );
    assert_eq!(
        limit("https://x.openai.azure.com/openai/v1"),
        OutputLimit::MaxCompletionTokens
    );
    assert_eq!(
        limit("https://api.openai.com.example.org/v1"),
        OutputLimit::MaxTokens
    );
    assert_eq!(limit("http://localhost:8000/v1"), OutputLimit::MaxTokens);
}

#[test]
fn settings_are_read_from_json_and_misspelt_ones_refused() {
    let api: ChatCompletions =
        serde_json::from_str(r#"{"return_reasoning": true, "extra": {"seed": 7}}"#).unwrap();
    assert!(api.return_reasoning && api.stream_usage);
    assert_eq!(api.extra["seed"].get(), "7");
    assert!(serde_json::from_str::<ChatCompletions>(r#"{"return_resoning": true}"#).is_err());
}

#[test]
fn thinking_goes_back_only_to_those_who_want_it() {
    let script = r#"{"exchanges": [
        {"respond": {"content": [
            {"type": "thinking", "thinking": "I think so."},
            {"type": "tool_use", "name": "Now"}
        ]}},
        {"respond": "Noon."}
    ]}"#;
    for return_reasoning in [true, false] {
        let host = TestHost::new(Script::parse(script).unwrap())
            .allow_all()
            .tool("Now", |_| windlass_core::tool::ToolResult::text("12:00"));
        let schema = RawJson::parse(r#"{"type":"object"}"#).unwrap();
        let mut spec =
            Spec::with_tools([ToolDefinition::new("Now", "The time.", schema).read_only()]);
        spec.model.provider = Arc::new(ChatCompletions {
            return_reasoning,
            ..ChatCompletions::default()
        });
        let messages = host
            .prompt(&mut host.session(spec), "What time is it?")
            .unwrap();
        host.verify().unwrap();
        let shown = messages.iter().any(|message| {
            let json = serde_json::to_string(message).unwrap();
            json.contains("I think so.")
        });
        assert!(shown);
        let second: Value = serde_json::from_slice(&host.requests()[1].body_bytes()).unwrap();
        let back = &second["messages"][1]["reasoning_content"];
        match return_reasoning {
            true => assert_eq!(back, "I think so."),
            false => assert_eq!(back, &Value::Null),
        }
    }
}

#[test]
fn every_rule_of_a_conversation_is_noticed() {
    use HistoryRule::*;
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str, arguments: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "Read", "arguments": arguments}}
        ]})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let system = json!({"role": "system", "content": "s"});
    let broken = |messages: &Value| -> Vec<HistoryRule> {
        let body = json!({"model": "m", "messages": messages}).to_string();
        match validate_chat_request(body.as_bytes()) {
            Ok(()) => vec![],
            Err(faults) => faults.iter().map(|fault| fault.rule).collect(),
        }
    };
    assert_eq!(
        broken(&json!([system, user, call("a", "{}"), result("a"), user])),
        []
    );
    for (messages, rule) in [
        (json!([]), Shape),
        (json!([user, system]), Roles),
        (json!([user, {"role": "robot", "content": "x"}]), Roles),
        (json!([{"role": "user", "content": " "}]), NotEmpty),
        (json!([user, call("a", "{}")]), CallAnswered),
        (
            json!([user, call("a", "{}"), user, result("a")]),
            CallAnswered,
        ),
        (json!([user, result("a")]), ResultExpected),
        (
            json!([user, call("a", "{}"), result("a"), result("a")]),
            ResultExpected,
        ),
        (json!([user, call("", "{}"), result("")]), UniqueCalls),
        (
            json!([
                user,
                call("a", "{}"),
                result("a"),
                call("a", "{}"),
                result("a")
            ]),
            UniqueCalls,
        ),
        (json!([user, call("a", "{"), result("a")]), ObjectInput),
        (json!([user, call("a", "[]"), result("a")]), ObjectInput),
    ] {
        assert!(
            broken(&messages).contains(&rule),
            "{messages}: {:?}",
            broken(&messages)
        );
    }
}
