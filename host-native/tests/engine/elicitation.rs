//! Questions of MCP servers to the person: the SDK is asked, and whatever is no answer declines.

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, result_text, says};

const ASKING: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/sdk/servers/asking.py"
);

/// A session whose model has a server ask the person, with the server's question.
async fn asked() -> (Sdk, Value) {
    let config = json!({"mcpServers": {"asking": {"command": "python3", "args": [ASKING]}}});
    let config = config.to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__asking"];
    let exchanges = json!([calls("mcp__asking__ask", json!({})), says("So.")]);
    let mut sdk = Sdk::start(&flags, exchanges);
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let question = sdk.first("control_request elicitation").await;
    (sdk, question)
}

/// What the server was told.
async fn told(sdk: &mut Sdk) -> String {
    let frames = sdk.until("result").await;
    result_text(all(&frames, "user").last().unwrap())
}

#[tokio::test]
async fn a_question_of_a_server_reaches_the_sdk_and_its_answer_the_server() {
    let (mut sdk, question) = asked().await;
    let request = &question["request"];
    assert_eq!(request["mcp_server_name"], "asking", "{request}");
    assert_eq!(request["message"], "Who are you?");
    assert_eq!(request["requested_schema"]["required"], json!(["name"]));
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    sdk.answer(&question, answer).await;
    assert_eq!(
        told(&mut sdk).await,
        r#"{"action": "accept", "content": {"name": "Ada"}}"#
    );
    sdk.close().await;
}

#[tokio::test]
async fn a_question_of_a_server_that_nobody_answers_is_declined() {
    let (mut sdk, question) = asked().await;
    sdk.fail(&question, "Unsupported control request subtype")
        .await;
    assert_eq!(told(&mut sdk).await, r#"{"action": "decline"}"#);
    sdk.close().await;

    let (mut sdk, question) = asked().await;
    // Content goes with `accept` alone, and what is none of the three declines.
    sdk.answer(
        &question,
        json!({"action": "agree", "content": {"name": "Ada"}}),
    )
    .await;
    assert_eq!(told(&mut sdk).await, r#"{"action": "decline"}"#);
    sdk.close().await;

    let (sdk, _) = asked().await;
    // The end of the input is an answer as well: the call ends.
    let (frames, _) = sdk.close().await;
    let said = result_text(all(&frames, "user").last().unwrap());
    assert_eq!(said, r#"{"action": "decline"}"#);
}
