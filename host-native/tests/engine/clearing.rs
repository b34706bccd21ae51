//! What holds beyond `/clear`, and what does not wait for it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::{Sdk, calls, kinds, result_text, says};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

const BYPASSING: [&str; 3] = [
    "--permission-mode=bypassPermissions",
    "--allow-dangerously-skip-permissions",
    "--permission-prompt-tool=stdio",
];

fn touch() -> Value {
    calls("Bash", json!({"command": "touch made.txt"}))
}

/// An engine that was launched to run everything unasked.
fn bypassing(flags: &[&str], script: Value) -> Sdk {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let flags = [&BYPASSING[..], flags].concat();
    Sdk::start_with(&[("IS_SANDBOX", "1")], folder, &flags, script)
}

/// Begins the conversation anew, and says how its next one presents itself.
async fn clear(sdk: &mut Sdk) -> Value {
    sdk.prompt("/clear").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["local_command"], "clear");
    let mut inits = frames.into_iter().filter(|it| it["subtype"] == "init");
    inits.next().unwrap()
}

/// Asserts that the next thing to be asked is whether this tool may run, and says no.
async fn denies(sdk: &mut Sdk, tool: &str) {
    let asked = sdk.first("control_request can_use_tool").await;
    assert_eq!(asked["request"]["tool_name"], tool);
    sdk.answer(&asked, json!({"behavior": "deny", "message": "no"}))
        .await;
}

#[tokio::test]
async fn perm_8_a_mode_that_was_set_holds_beyond_a_clear() {
    let mut sdk = bypassing(&[], json!([says("One."), touch(), says("Two.")]));
    sdk.initialize(json!({})).await;
    sdk.prompt("one").await;
    sdk.first("result").await;
    // It may not have reached the conversation that ends.
    sdk.request(json!({"subtype": "set_permission_mode", "mode": "default"}))
        .await;
    assert_eq!(clear(&mut sdk).await["permissionMode"], "default");
    assert_eq!(clear(&mut sdk).await["permissionMode"], "default");
    sdk.prompt("two").await;
    denies(&mut sdk, "Bash").await;
    sdk.first("result").await;
    assert!(!sdk.folder.path().join("made.txt").exists());
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn perm_8_a_mode_that_was_set_before_anything_was_said_holds_beyond_a_clear() {
    let mut sdk = bypassing(&[], json!([touch(), says("One.")]));
    sdk.initialize(json!({})).await;
    sdk.request(json!({"subtype": "set_permission_mode", "mode": "default"}))
        .await;
    clear(&mut sdk).await;
    sdk.prompt("one").await;
    denies(&mut sdk, "Bash").await;
    sdk.first("result").await;
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn api_3_a_guard_of_a_server_holds_beyond_a_clear() {
    let config = json!({"mcpServers": {"notes": {"command": "python3", "args": [NOTES]}}});
    let config = config.to_string();
    let read = calls("mcp__notes__read", json!({"name": "x"}));
    let script = json!([says("One."), read, says("Two.")]);
    let mut sdk = bypassing(&["--mcp-config", &config], script);
    sdk.initialize(json!({})).await;
    sdk.prompt("one").await;
    sdk.first("result").await;
    let guard = json!({"subtype": "set_mcp_permission_mode_override", "serverName": "notes", "mode": "default"});
    sdk.request(guard).await;
    clear(&mut sdk).await;
    sdk.prompt("two").await;
    denies(&mut sdk, "mcp__notes__read").await;
    sdk.first("result").await;
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn perm_6_rules_of_the_session_hold_beyond_a_clear() {
    let script = json!([touch(), says("One."), touch(), says("Two.")]);
    let mut sdk = Sdk::start(&["--permission-prompt-tool=stdio"], script);
    sdk.initialize(json!({})).await;
    sdk.prompt("one").await;
    let asked = sdk.first("control_request can_use_tool").await;
    let denied = json!({"behavior": "allow", "updatedInput": {"command": "true"}, "updatedPermissions": [
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch made.txt"}], "behavior": "deny", "destination": "session"}]});
    sdk.answer(&asked, denied).await;
    sdk.first("result").await;
    clear(&mut sdk).await;
    let listed = sdk
        .request(json!({"subtype": "list_permission_rules"}))
        .await;
    assert!(
        listed.to_string().contains("Bash(touch made.txt)"),
        "{listed}"
    );
    sdk.prompt("two").await;
    let frames = sdk.until("result").await;
    assert!(!kinds(&frames).contains(&"control_request can_use_tool".to_owned()));
    let refused = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(refused["message"]["content"][0]["is_error"], true);
    assert!(!result_text(refused).is_empty());
    assert!(!sdk.folder.path().join("made.txt").exists());
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn api_2_the_model_and_how_it_thinks_hold_beyond_a_clear() {
    let chosen = json!({"expect": {"model": "claude-haiku-4-5", "messages": 1, "fields": {"/thinking/budget_tokens": 2000}}, "respond": "Two."});
    let mut sdk = Sdk::start(&[], json!([says("One."), chosen]));
    sdk.initialize(json!({})).await;
    sdk.prompt("one").await;
    sdk.first("result").await;
    for request in [
        json!({"subtype": "set_model", "model": "claude-haiku-4-5"}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000}),
    ] {
        sdk.request(request).await;
    }
    assert_eq!(clear(&mut sdk).await["model"], "claude-haiku-4-5");
    sdk.prompt("two").await;
    assert_eq!(sdk.first("result").await["result"], "Two.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn mcp_2_a_session_begun_anew_does_not_wait_for_the_server_of_an_agent() {
    let agent = json!({"description": "d", "prompt": "p",
        "mcpServers": [{"slow": {"command": "sh", "args": ["-c", "touch started; cat > /dev/null; true"]}}]});
    let start = calls(
        "Agent",
        json!({"description": "d", "prompt": "p", "subagent_type": "keeper"}),
    );
    let mut sdk = Sdk::start(&[], json!([start, says("Anew.")]));
    sdk.initialize(json!({"agents": {"keeper": agent}})).await;
    sdk.prompt("go").await;
    while !sdk.folder.path().join("started").exists() {
        sdk.request(json!({"subtype": "get_session_cost"})).await;
    }
    sdk.request(json!({"subtype": "interrupt"})).await;
    sdk.first("result").await;
    clear(&mut sdk).await;
    sdk.prompt("and now?").await;
    assert_eq!(sdk.first("result").await["result"], "Anew.");
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    assert_eq!(status["response"]["mcpServers"][0]["status"], "pending");
    sdk.model.verify().unwrap();
}
