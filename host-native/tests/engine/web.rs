//! The tools of the web in an engine: offered by name, with the variables that concern them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    support::Sdk,
    web_server::{Page, WebServer},
};

#[tokio::test]
async fn tool_8_tool_9_the_tools_that_are_named_are_offered() {
    let flags = ["--tools", "Read,NotebookEdit,WebSearch,WebFetch"];
    let mut sdk = Sdk::start(
        &flags,
        json!([{
            "expect": { "tools_include": ["Read", "NotebookEdit", "WebSearch", "WebFetch"], "tools_exclude": ["Bash"] },
            "respond": "hello"
        }]),
    );
    sdk.prompt("Hello.").await;
    let result = sdk.first("result").await;
    assert_eq!(result["result"], "hello");
    sdk.model.verify().unwrap();
}

/// The page is read by the model of `ANTHROPIC_SMALL_FAST_MODEL`, with the retries of the engine, and counts in its cost.
#[tokio::test]
async fn tool_8_the_small_model_is_that_of_the_environment() {
    let server = WebServer::start([("/", Page::of("text/plain", "The answer is 42."))]).await;
    let mut sdk = Sdk::start_with(
        &[
            ("ANTHROPIC_SMALL_FAST_MODEL", "claude-haiku-4-5"),
            ("WINDLASS_WEB_PRIVATE_HOSTS", &server.host()),
        ],
        Arc::new(tempfile::tempdir().unwrap()),
        &["--allowedTools", "WebFetch(domain:127.0.0.1)"],
        json!([
            { "respond": { "content": [{ "type": "tool_use", "name": "WebFetch",
                "input": { "url": server.url("/"), "prompt": "The answer?" } }] } },
            { "expect": { "model": "claude-haiku-4-5", "last_user_contains": "The answer is 42." }, "respond": "42" },
            { "expect": { "tool_results": [{ "contains": "42", "is_error": false }] }, "respond": "It is 42." },
        ]),
    );
    sdk.prompt("What is it?").await;
    let result: Value = sdk.first("result").await;
    assert_eq!(result["result"], "It is 42.");
    assert!(
        result["modelUsage"]["claude-haiku-4-5"]["costUSD"]
            .as_f64()
            .unwrap()
            > 0.0,
        "{result}"
    );
    sdk.model.verify().unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn tool_23_the_length_that_is_shown_is_that_of_the_environment() {
    let mut sdk = Sdk::start_with(
        &[("BASH_MAX_OUTPUT_LENGTH", "1000")],
        Arc::new(tempfile::tempdir().unwrap()),
        &["--allowedTools", "Bash"],
        json!([
            { "respond": { "content": [{ "type": "tool_use", "name": "Bash", "input": { "command": "seq 1 1000" } }] } },
            { "expect": { "tool_results": [{ "contains": "[2893 bytes of output are not shown; all of it is in " }] }, "respond": "done" },
        ]),
    );
    sdk.prompt("Count.").await;
    assert_eq!(sdk.first("result").await["result"], "done");
    sdk.model.verify().unwrap();
}

/// Search results that a prompt brings reach the model as they are, and what it cites of them reaches the SDK.
#[tokio::test]
async fn tool_20_search_results_of_a_prompt_are_cited() {
    let found = json!({
        "type": "search_result", "source": "https://docs.example/timeouts", "title": "Timeouts",
        "content": [{ "type": "text", "text": "The default is 30 seconds." }], "citations": { "enabled": true }
    });
    let citation = json!({
        "type": "search_result_location", "source": "https://docs.example/timeouts", "title": "Timeouts",
        "cited_text": "The default is 30 seconds.", "search_result_index": 0, "start_block_index": 0, "end_block_index": 1
    });
    let mut sdk = Sdk::start(
        &[],
        json!([{
            "respond": { "content": [{ "type": "raw", "block": { "type": "text", "text": "" }, "deltas": [
                { "type": "text_delta", "text": "30 seconds" }, { "type": "citations_delta", "citation": citation }
            ] }] }
        }]),
    );
    let content = json!([found, { "type": "text", "text": "How long?" }]);
    sdk.send(
        json!({ "type": "user", "session_id": "", "parent_tool_use_id": null,
        "message": { "role": "user", "content": content } }),
    )
    .await;
    let said = sdk.first("assistant").await;
    assert_eq!(said["message"]["content"][0]["citations"][0], citation);
    sdk.first("result").await;
    let sent = &sdk.bodies()[0]["messages"];
    let blocks = sent
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap());
    assert!(blocks.into_iter().any(|block| *block == found), "{sent}");
}

/// What is no tool here is said on standard error, and the rest is offered.
#[tokio::test]
async fn tool_9_a_tool_that_is_not_there_is_told() {
    let mut sdk = Sdk::start(
        &["--tools", "Read,WebSearch,Teleport"],
        json!([{ "expect": { "tools_include": ["Read", "WebSearch"] }, "respond": "hello" }]),
    );
    sdk.prompt("Hello.").await;
    assert_eq!(sdk.first("result").await["result"], "hello");
}
