//! Definitions of tools that wait until the model searches for them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, kind_of, result_text, says};

/// The tools of a server of the SDK. So many definitions of this size are about 30,000 tokens, 15 % of the model's window.
const MANY: usize = 60;
const DESCRIPTION: usize = 2000;

/// Answers what a server with so many tools is asked, until a frame of this kind.
async fn serve(sdk: &mut Sdk, count: usize, kind: &str) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        let frame = sdk.next().await.unwrap();
        let found = kind_of(&frame);
        if found == "control_request mcp_message" {
            let message = &frame["request"]["message"];
            let result = match message["method"].as_str().unwrap() {
                "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "box", "version": "1.0.0"}}),
                "tools/list" => json!({"tools": (0..count).map(definition).collect::<Vec<_>>()}),
                "tools/call" => {
                    json!({"content": [{"type": "text", "text": message["params"]["name"]}]})
                }
                _ => json!({}),
            };
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            sdk.answer(&frame, json!({ "mcp_response": answer })).await;
        }
        frames.push(frame);
        if found == kind {
            return frames;
        }
    }
}

fn definition(number: usize) -> Value {
    let description = format!("Opens box {number}. {}", "x".repeat(DESCRIPTION));
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    json!({"name": format!("open_{number}"), "description": description, "inputSchema": schema})
}

/// An engine with that variable, and a server with so many tools.
async fn begun(setting: Option<&str>, count: usize, script: Value) -> (Sdk, Vec<Value>) {
    let variables: Vec<(&str, &str)> = setting
        .map(|it| ("ENABLE_TOOL_SEARCH", it))
        .into_iter()
        .collect();
    let config = r#"{"mcpServers":{"box":{"type":"sdk","name":"box"}}}"#;
    // A share of a window of 200,000 tokens.
    let model = "claude-sonnet-4-6";
    let flags = [
        "--mcp-config",
        config,
        "--allowedTools",
        "mcp__box",
        "--model",
        model,
    ];
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let mut sdk = Sdk::start_with(&variables, folder, &flags, script);
    sdk.send(
        json!({"type": "control_request", "request_id": "i", "request": {"subtype": "initialize"}}),
    )
    .await;
    sdk.prompt("go").await;
    let frames = serve(&mut sdk, count, "result").await;
    (sdk, frames)
}

/// How many definitions of a request wait, and whether they can be searched for.
fn waiting(body: &Value) -> (usize, bool) {
    let tools = body["tools"].as_array().unwrap();
    let waits = tools.iter().filter(|tool| tool["defer_loading"] == true);
    (
        waits.count(),
        tools.iter().any(|tool| tool["name"] == "ToolSearch"),
    )
}

#[tokio::test]
async fn mcp_4_past_a_threshold_definitions_wait_until_they_are_searched_for() {
    let search = calls("ToolSearch", json!({"query": "select:mcp__box__open_7"}));
    let call = calls("mcp__box__open_7", json!({"n": 1}));
    let (sdk, frames) = begun(None, MANY, json!([search, call, says("Done.")])).await;
    let bodies = sdk.bodies();
    assert_eq!(waiting(&bodies[0]), (MANY, true));
    for tool in bodies[0]["tools"].as_array().unwrap() {
        let is_servers = tool["name"].as_str().unwrap().starts_with("mcp__");
        assert_eq!(
            tool["defer_loading"] == true,
            is_servers,
            "{}",
            tool["name"]
        );
    }
    // What was found is told by reference, and the beginning of the requests stays as it was.
    let found = &bodies[1]["messages"][2]["content"][0]["content"];
    assert_eq!(
        found[0],
        json!({"type": "tool_reference", "tool_name": "mcp__box__open_7"})
    );
    assert_eq!(bodies[0]["tools"], bodies[1]["tools"]);
    let results = all(&frames, "user");
    assert_eq!(result_text(results[1]), "open_7");

    // A few are sent as they are.
    let (sdk, _) = begun(None, 5, json!([says("Few.")])).await;
    assert_eq!(waiting(&sdk.bodies()[0]), (0, false));
}

#[tokio::test]
async fn mcp_6_the_variable_says_when_definitions_wait_and_what_was_found_can_be_called() {
    for (setting, count, expected) in [
        ("true", 3, (3, true)),
        ("false", MANY, (0, false)),
        ("auto", 3, (0, false)),
        ("auto", MANY, (MANY, true)),
        ("auto:30%", MANY, (0, false)),
        ("auto:1%", 6, (6, true)),
        // Not understood, and so as if it had not been there.
        ("perhaps", MANY, (MANY, true)),
    ] {
        let (sdk, _) = begun(Some(setting), count, json!([says("Yes.")])).await;
        assert_eq!(
            waiting(&sdk.bodies()[0]),
            expected,
            "{setting} with {count}"
        );
    }
    let search = calls("ToolSearch", json!({"query": "box 2"}));
    let call = calls("mcp__box__open_2", json!({}));
    let (sdk, frames) = begun(Some("true"), 3, json!([search, call, says("Done.")])).await;
    let results = all(&frames, "user");
    assert_eq!(results[0]["tool_use_result"]["total_deferred_tools"], 3);
    let matches = results[0]["tool_use_result"]["matches"].as_array().unwrap();
    assert!(matches.contains(&json!("mcp__box__open_2")), "{matches:?}");
    assert_eq!(result_text(results[1]), "open_2");
    sdk.model.verify().unwrap();
}
