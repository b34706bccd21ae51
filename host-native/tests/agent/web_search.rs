//! WebSearch from outside, and citations: the provider's search, by a model on loopback.

use serde_json::{Value, json};
use windlass::{
    Message, Tool, ToolResult,
    core::{provider::openai::ChatCompletions, tool::ResultBlock},
};

use crate::support::{Model, calls, messages, text};

fn search(input: Value) -> Value {
    calls(&[("WebSearch", input)])
}

fn raw(block: Value) -> Value {
    json!({ "type": "raw", "block": block })
}

/// What a search of the provider looks like in a response.
fn found(id: &str, hits: Value) -> [Value; 2] {
    [
        json!({
            "type": "raw",
            "block": { "type": "server_tool_use", "id": id, "name": "web_search", "input": {} },
            "deltas": [{ "type": "input_json_delta", "partial_json": "{\"query\": \"apples\"}" }]
        }),
        raw(json!({ "type": "web_search_tool_result", "tool_use_id": id, "content": hits })),
    ]
}

fn hit(title: &str, url: &str) -> Value {
    json!({ "type": "web_search_result", "title": title, "url": url, "encrypted_content": "abc", "page_age": "1 day" })
}

#[tokio::test]
async fn tool_9_the_provider_searches_and_what_that_costs_counts() {
    let [used, hits] = found(
        "srvtoolu_1",
        json!([
            hit("Apples", "https://example.com/apples"),
            hit("More", "https://example.com/more")
        ]),
    );
    let model = Model::of(json!([
        search(json!({ "query": "price of apples", "allowed_domains": ["example.com"] })),
        {
            "expect": {
                "model": "claude-sonnet-4-6",
                "fields": {
                    "/tools": [{
                        "type": "web_search_20250305", "name": "web_search", "max_uses": 8,
                        "allowed_domains": ["example.com"]
                    }]
                },
                "last_user_contains": "price of apples",
                "messages": 1
            },
            "respond": {
                "content": ["I look it up.", used, hits,
                    raw(json!({ "type": "text", "text": "Apples are ", "citations": [] })),
                    raw(json!({ "type": "text", "text": "2 francs.", "citations": [
                        { "type": "web_search_result_location", "url": "https://example.com/apples", "title": "Apples",
                          "cited_text": "2 francs", "encrypted_index": "x" }] }))],
                "usage": { "input_tokens": 1_000, "output_tokens": 100, "web_search_requests": 2 }
            }
        },
        {
            "expect": { "tool_results": [{ "contains": "- [Apples](https://example.com/apples)", "is_error": false }] },
            "respond": { "text": "2 francs", "usage": { "input_tokens": 1_000, "output_tokens": 100 } }
        },
    ]));
    let agent = model
        .agent()
        .tools(["WebSearch"])
        .allowed_tools(["WebSearch"]);
    let agent = agent.model("claude-sonnet-4-6").build().unwrap();
    let messages = messages(&mut agent.query("What are apples?")).await;
    model.verify();

    let output = messages.iter().find_map(|message| match message {
        Message::User(user) => user.tool_use_result.clone(),
        _ => None,
    });
    let output: Value = output.unwrap().decode().unwrap();
    assert_eq!(output["query"], "price of apples");
    assert!(output["durationSeconds"].is_f64());
    let expected = json!([
        "I look it up.",
        { "tool_use_id": "srvtoolu_1", "content": [
            { "title": "Apples", "url": "https://example.com/apples" },
            { "title": "More", "url": "https://example.com/more" }
        ] },
        "Apples are 2 francs."
    ]);
    assert_eq!(output["results"], expected);

    let Some(Message::Result(result)) = messages.last() else {
        panic!("no result")
    };
    assert_eq!(result.usage.server_tool_use.web_search_requests, 2);
    let used = &result.model_usage["claude-sonnet-4-6"];
    assert_eq!(used.web_search_requests, 2);
    let tokens = 3.0 * (used.input_tokens as f64) / 1e6 + 15.0 * (used.output_tokens as f64) / 1e6;
    let cost = result.total_cost_usd.nanos as f64 / 1e9;
    assert!((cost - tokens - 0.02).abs() < 1e-6, "{cost} {tokens}");
}

#[tokio::test]
async fn tool_9_a_search_that_fails_or_finds_nothing_says_so() {
    let failed =
        json!({ "type": "web_search_tool_result_error", "error_code": "max_uses_exceeded" });
    for (answer, expected, is_error) in [
        (
            json!({ "content": found("s1", failed) }),
            "failed: max_uses_exceeded",
            true,
        ),
        (
            json!({ "content": found("s1", json!([])) }),
            "Nothing was found.",
            false,
        ),
        (
            json!({ "error": { "type": "invalid_request_error", "message": "no search here" } }),
            "no search here",
            true,
        ),
    ] {
        let model = Model::of(json!([
            search(json!({ "query": "apples", "blocked_domains": ["example.com"] })),
            {
                "expect": { "fields": { "/tools/0/blocked_domains": ["example.com"] }, "absent": ["/tools/0/allowed_domains"] },
                "respond": answer
            },
            { "expect": { "tool_results": [{ "contains": expected, "is_error": is_error }] }, "respond": "done" },
        ]));
        let agent = model
            .agent()
            .tools(["WebSearch"])
            .allowed_tools(["WebSearch"])
            .build()
            .unwrap();
        assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
        model.verify();
    }
}

#[tokio::test]
async fn tool_9_both_lists_of_domains_are_an_error_and_nothing_is_asked() {
    let model = Model::of(json!([
        search(json!({ "query": "apples", "allowed_domains": ["a.example"], "blocked_domains": ["b.example"] })),
        { "expect": { "tool_results": [{ "contains": "not both", "is_error": true }] }, "respond": "done" },
    ]));
    let agent = model
        .agent()
        .tools(["WebSearch"])
        .allowed_tools(["WebSearch"])
        .build()
        .unwrap();
    assert_eq!(text(agent.run("Go.").await.unwrap()), "done");
    model.verify();
}

/// Other servers have no such tool, and whoever names it is told.
#[test]
fn tool_9_another_wire_format_has_no_search() {
    let builder = || {
        windlass::Agent::builder()
            .api_key("x")
            .provider(ChatCompletions::default())
    };
    let error = builder().tools(["WebSearch"]).build().unwrap_err();
    assert!(error.to_string().contains("WebSearch"), "{error}");
    let agent = builder().builtin_tools().build().unwrap();
    let names: Vec<String> = agent
        .spec()
        .tools
        .definitions
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    assert!(
        names.contains(&"WebFetch".to_owned()) && !names.contains(&"WebSearch".to_owned()),
        "{names:?}"
    );
}

/// Search results of a tool of one's own reach the model as they are, and what it cites of them reaches the program.
#[tokio::test]
async fn tool_20_citations_of_search_results_come_back() {
    let result = json!({
        "type": "search_result", "source": "https://docs.example/timeouts", "title": "Timeouts",
        "content": [{ "type": "text", "text": "The default is 30 seconds." }],
        "citations": { "enabled": true }
    });
    let citation = json!({
        "type": "search_result_location", "source": "https://docs.example/timeouts", "title": "Timeouts",
        "cited_text": "The default is 30 seconds.", "search_result_index": 0, "start_block_index": 0, "end_block_index": 1
    });
    let model = Model::of(json!([
        calls(&[("knowledge", json!({}))]),
        {
            "expect": { "fields": { "/messages/2/content/0/content/0": result } },
            "respond": { "content": [{
                "type": "raw",
                "block": { "type": "text", "text": "" },
                "deltas": [
                    { "type": "text_delta", "text": "30 seconds" },
                    { "type": "citations_delta", "citation": citation }
                ]
            }] }
        },
        {
            // It stays part of the conversation.
            "expect": { "fields": { "/messages/3/content/0/citations/0": citation } },
            "respond": "bye"
        },
    ]));
    let given = serde_json::to_string(&result).unwrap();
    let knowledge = Tool::new("knowledge", "Looks it up", move |_: windlass::NoInput| {
        let block = windlass::core::RawJson::parse(given.clone()).unwrap();
        async move {
            ToolResult {
                content: vec![ResultBlock::Other(block)],
                ..ToolResult::default()
            }
        }
    });
    let agent = model
        .agent()
        .tool(knowledge)
        .allowed_tools(["knowledge"])
        .build()
        .unwrap();
    let session = agent.session();
    let messages = messages(&mut session.prompt("How long?")).await;
    let said = messages.iter().rev().find_map(|message| match message {
        Message::Assistant(message) => message.message.content.first().cloned(),
        _ => None,
    });
    let said: Value = said.unwrap().decode().unwrap();
    assert_eq!(said["text"], "30 seconds");
    assert_eq!(said["citations"][0], citation);
    assert_eq!(text(session.prompt("Bye.").result().await.unwrap()), "bye");
    model.verify();
}
