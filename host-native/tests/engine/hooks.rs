//! Hooks that are callbacks of the SDK.

use serde_json::{Value, json};

use crate::support::{Sdk, calls, kinds, result_text, says};

fn read() -> Value {
    calls("Read", json!({"file_path": "${cwd}/hello.txt"}))
}

fn hooks(event: &str, more: Value) -> Value {
    let mut matcher = json!({"matcher": null, "hookCallbackIds": ["hook_0"]});
    for (name, value) in more.as_object().unwrap() {
        matcher[name] = value.clone();
    }
    json!({"hooks": {event: [matcher]}})
}

async fn begun(event: &str, more: Value, exchanges: Value) -> Sdk {
    let mut sdk = Sdk::start(&[], exchanges);
    std::fs::write(sdk.folder.path().join("hello.txt"), "hello\n").unwrap();
    let reply = sdk.initialize(hooks(event, more)).await;
    assert_eq!(reply["hooks_applied"], true);
    sdk.prompt("go").await;
    sdk
}

#[tokio::test]
async fn hook_5_a_callback_is_told_of_a_call_and_denies_it() {
    let after = json!({"expect": {"tool_results": [{"contains": "not this one", "is_error": true}]}, "respond": "Well."});
    let mut sdk = begun(
        "PreToolUse",
        json!({"matcher": "Read|Bash"}),
        json!([read(), after]),
    )
    .await;
    let frames = sdk.until("control_request hook_callback").await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "control_request hook_callback"
        ]
    );
    let asked = frames.last().unwrap().clone();
    let request = &asked["request"];
    assert_eq!(
        (&request["callback_id"], &request["tool_use_id"]),
        (&json!("hook_0"), &json!("toolu_1_1"))
    );
    assert_eq!(request["input"]["hook_event_name"], "PreToolUse");
    assert_eq!(request["input"]["tool_name"], "Read");
    let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": "not this one"}});
    sdk.answer(&asked, output).await;
    sdk.first("result").await;
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn hook_5_all_callbacks_of_an_event_are_asked_at_once() {
    let two = json!({"hookCallbackIds": ["hook_0", "hook_1"]});
    let mut sdk = begun("PreToolUse", two, json!([read(), says("Done.")])).await;
    let first = sdk.first("control_request hook_callback").await;
    let second = sdk.first("control_request hook_callback").await;
    assert_ne!(
        first["request"]["callback_id"],
        second["request"]["callback_id"]
    );
    sdk.answer(&second, json!({})).await;
    sdk.answer(&first, json!({})).await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
}

#[tokio::test]
async fn a_callback_that_fails_is_as_if_it_had_not_been_there() {
    let mut sdk = begun("PreToolUse", json!({}), json!([read(), says("Done.")])).await;
    let asked = sdk.first("control_request hook_callback").await;
    sdk.fail(&asked, "boom").await;
    let frames = sdk.until("result").await;
    let word = frames
        .iter()
        .find(|frame| frame["subtype"] == "informational")
        .unwrap();
    assert!(word["content"].as_str().unwrap().contains("boom"), "{word}");
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(result_text(result).contains("hello"));
}

#[tokio::test]
async fn a_callback_that_must_not_fail_blocks_when_it_does() {
    let mut sdk = begun(
        "PreToolUse",
        json!({"onFailure": "block"}),
        json!([read(), says("Done.")]),
    )
    .await;
    let asked = sdk.first("control_request hook_callback").await;
    sdk.fail(&asked, "boom").await;
    let result = sdk.first("user").await;
    assert_eq!(result["message"]["content"][0]["is_error"], true);
    assert!(!result_text(&result).contains("hello"));
}

#[tokio::test]
async fn a_callback_that_answers_nonsense_allows_nothing() {
    let mut sdk = begun("PreToolUse", json!({}), json!([read(), says("Done.")])).await;
    let asked = sdk.first("control_request hook_callback").await;
    sdk.answer(&asked, json!({"decision": 7})).await;
    let result = sdk.first("user").await;
    assert_eq!(result["message"]["content"][0]["is_error"], true);
    assert!(!result_text(&result).contains("hello"));
}

#[tokio::test]
async fn hook_5_a_callback_without_an_answer_in_time_is_given_up_and_the_call_does_not_run() {
    let mut sdk = begun(
        "PreToolUse",
        json!({"timeout": 0.05}),
        json!([read(), says("Done.")]),
    )
    .await;
    let asked = sdk.first("control_request hook_callback").await;
    let frames = sdk.until("result").await;
    let cancel = frames
        .iter()
        .find(|frame| frame["type"] == "control_cancel_request")
        .unwrap();
    assert_eq!(cancel["request_id"], asked["request_id"]);
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(result["message"]["content"][0]["is_error"], true);
    assert!(!result_text(result).contains("hello"));
}

#[tokio::test]
async fn hook_5_a_prompt_that_a_callback_blocks_is_no_turn() {
    let mut sdk = begun("UserPromptSubmit", json!({}), json!([says("never")])).await;
    let asked = sdk.first("control_request hook_callback").await;
    assert_eq!(asked["request"]["input"]["prompt"], "go");
    assert!(!asked["request"]["tool_use_id"].as_str().unwrap().is_empty());
    sdk.answer(&asked, json!({"decision": "block", "reason": "not today"}))
        .await;
    let result = sdk.first("result").await;
    assert_eq!(
        (&result["is_error"], &result["num_turns"]),
        (&json!(false), &json!(0))
    );
    assert!(sdk.model.requests().is_empty());
}

#[tokio::test]
async fn hook_5_a_callback_can_end_the_turn_behind_the_call() {
    let mut sdk = begun("PostToolUse", json!({}), json!([read()])).await;
    let asked = sdk.first("control_request hook_callback").await;
    assert!(
        asked["request"]["input"]["tool_response"]
            .to_string()
            .contains("hello")
    );
    sdk.answer(&asked, json!({"continue": false, "stopReason": "enough"}))
        .await;
    let result = sdk.first("result").await;
    assert_eq!(result["is_error"], false);
    assert_eq!(result["terminal_reason"], "hook_stopped");
    assert_eq!(result["stop_reason"], "tool_use");
}
