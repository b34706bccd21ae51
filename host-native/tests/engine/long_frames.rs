//! What is longer than the line that an SDK reads (`max_buffer_size`).

use serde_json::json;

use crate::support::{Sdk, calls, kinds, result_text, says};

/// More than the Python SDK takes in one line.
const LONG: usize = 2_000_000;

#[tokio::test]
async fn a_long_input_is_shown_in_part_and_runs_whole() {
    let content = "x".repeat(LONG);
    let write = calls(
        "Write",
        json!({"file_path": "${cwd}/long.txt", "content": content}),
    );
    let mut sdk = Sdk::start(
        &["--permission-prompt-tool=stdio"],
        json!([write, says("Done.")]),
    );
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    assert!(question.to_string().len() < 1024 * 1024);
    // What the Python SDK answers: the input as it was shown.
    let shown = question["request"]["input"].clone();
    let answer = json!({"behavior": "allow", "updatedInput": shown});
    sdk.answer(&question, answer).await;
    sdk.until("result").await;
    let written = std::fs::read_to_string(sdk.folder.path().join("long.txt")).unwrap();
    assert!(written == content, "{} bytes", written.len());
}

#[tokio::test]
async fn half_an_input_that_was_changed_is_never_written() {
    let content = "x".repeat(LONG);
    let write = calls(
        "Write",
        json!({"file_path": "${cwd}/long.txt", "content": content}),
    );
    let mut sdk = Sdk::start(
        &["--permission-prompt-tool=stdio"],
        json!([write, says("Well.")]),
    );
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    let mut changed = question["request"]["input"].clone();
    changed["content"] = format!("# {}", changed["content"].as_str().unwrap()).into();
    let answer = json!({"behavior": "allow", "updatedInput": changed});
    sdk.answer(&question, answer).await;
    let told = result_text(&sdk.first("user").await);
    assert!(told.contains("too long to be shown whole"), "{told}");
    assert!(!sdk.folder.path().join("long.txt").exists());
}

#[tokio::test]
async fn mcp_1_a_call_that_no_line_holds_is_an_error_in_words() {
    let call = calls("mcp__calc__add", json!({"text": "x".repeat(LONG)}));
    let config = r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#;
    let mut sdk = Sdk::start(
        &["--mcp-config", config, "--allowedTools=mcp__calc__add"],
        json!([call, says("Well.")]),
    );
    sdk.prompt("go").await;
    // The three steps of the introduction.
    for result in [
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "calc", "version": "1"}}),
        json!({}),
        json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}),
    ] {
        let request = sdk.first("control_request mcp_message").await;
        let id = &request["request"]["message"]["id"];
        let response = json!({"mcp_response": {"jsonrpc": "2.0", "id": id, "result": result}});
        sdk.answer(&request, response).await;
    }
    let told = result_text(&sdk.first("user").await);
    assert!(told.contains("max_buffer_size"), "{told}");
}

#[tokio::test]
async fn a_question_is_taken_back_before_the_result_that_ends_it() {
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start(&["--permission-prompt-tool=stdio"], json!([touch]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    sdk.request(json!({"subtype": "interrupt"})).await;
    let frames = sdk.until("result").await;
    let said = kinds(&frames);
    let cancel = said
        .iter()
        .position(|kind| kind == "control_cancel_request");
    assert_eq!(
        frames[cancel.expect("a cancel frame")]["request_id"],
        question["request_id"]
    );
    let running = said.iter().position(|kind| kind == "system running");
    assert!(cancel < running, "{said:?}");
}
