//! How an engine ends.

use serde_json::json;
use windlass::engine::Ending;

use crate::support::{Sdk, calls, kinds, says};

#[tokio::test]
async fn an_api_error_is_a_success_that_is_an_error_and_the_exit_code_says_so() {
    let refused =
        json!({"respond": {"error": {"type": "authentication_error", "message": "no such key"}}});
    let mut sdk = Sdk::start(&[], json!([refused]));
    sdk.prompt("go").await;
    let (frames, ending) = sdk.close().await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "result",
            "system idle"
        ]
    );
    assert_eq!(frames[2]["error"], "authentication_failed");
    let result = &frames[3];
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&json!("success"), &json!(true))
    );
    assert_eq!(result["api_error_status"], 401);
    assert!(result["result"].as_str().unwrap().contains("no such key"));
    assert_eq!(ending, Ending::Done { failed: true });
}

#[tokio::test]
async fn the_exit_code_follows_the_last_result() {
    let refused = json!({"respond": {"error": {"type": "invalid_request_error", "message": "no"}}});
    let mut sdk = Sdk::start(&[], json!([refused, says("yes")]));
    sdk.prompt("go").await;
    sdk.until("system idle").await;
    sdk.prompt("go").await;
    let (_, ending) = sdk.close().await;
    assert_eq!(ending, Ending::Done { failed: false });
}

#[tokio::test]
async fn limits_end_a_turn_with_an_error() {
    let read = || calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let mut sdk = Sdk::start(&["--max-turns", "2"], json!([read(), read()]));
    sdk.prompt("go").await;
    let (frames, ending) = sdk.close().await;
    let result = &frames[frames.len() - 2];
    assert_eq!(result["subtype"], "error_max_turns");
    assert_eq!(result["terminal_reason"], "max_turns");
    assert_eq!(result["num_turns"], 3);
    assert!(result["errors"][0].is_string());
    assert_eq!(ending, Ending::Done { failed: true });
}

#[tokio::test]
async fn the_end_of_the_input_cuts_no_answer() {
    let exchanges = json!([
        calls("Bash", json!({"command": "echo slow && sleep 0.3"})),
        says("one"),
        says("two")
    ]);
    let mut sdk = Sdk::start(&["--allowedTools=Bash"], exchanges);
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let later = json!({"type": "user", "priority": "later", "message": {"role": "user", "content": "and this"}});
    sdk.send(later).await;
    let (frames, ending) = sdk.close().await;
    let answers: Vec<&str> = frames
        .iter()
        .filter(|f| f["type"] == "result")
        .map(|f| f["result"].as_str().unwrap())
        .collect();
    assert_eq!(answers, ["one", "two"]);
    assert_eq!(kinds(&frames).last().unwrap(), "system idle");
    assert_eq!(ending, Ending::Done { failed: false });
}

#[tokio::test]
async fn questions_fail_once_the_input_has_ended() {
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start(
        &["--permission-prompt-tool=stdio"],
        json!([touch, says("Well.")]),
    );
    sdk.prompt("go").await;
    let (frames, _) = sdk.close().await;
    let result = frames
        .iter()
        .find(|frame| frame["type"] == "result")
        .unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    let denied = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(denied.to_string().contains("Stream closed"), "{denied}");
}

#[tokio::test]
async fn being_told_to_stop_ends_at_once_what_runs() {
    let sleep = calls("Bash", json!({"command": "sleep 600"}));
    let mut sdk = Sdk::start(&["--allowedTools", "Bash"], json!([sleep]));
    sdk.prompt("go").await;
    sdk.first("assistant").await;
    assert_eq!(sdk.stop().await, Ending::Stopped);
}

#[tokio::test]
async fn nobody_who_reads_is_a_reason_to_end() {
    let hangs = json!({"respond": {"text": "w", "faults": [{"after_events": 2, "hang": true}]}});
    let mut sdk = Sdk::start(&[], json!([says("one"), hangs]));
    sdk.prompt("go").await;
    sdk.until("system idle").await;
    sdk.prompt("go").await;
    assert_eq!(sdk.hang_up().await, Ending::Stopped);
}
