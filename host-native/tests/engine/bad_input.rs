//! What an SDK should not send.

use serde_json::json;

use crate::support::{Sdk, calls, says};

#[tokio::test]
async fn a_line_that_is_no_json_is_an_error_in_the_place_of_an_answer_and_the_session_goes_on() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.write(b"this is not json\n").await;
    let error = sdk.first("result").await;
    assert_eq!(
        (&error["subtype"], &error["is_error"]),
        (&json!("error_during_execution"), &json!(true))
    );
    assert!(
        error["errors"][0]
            .as_str()
            .unwrap()
            .contains("line of 16 bytes"),
        "{error}"
    );
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Hello.");
}

#[tokio::test]
async fn a_control_request_that_is_broken_has_a_reply_all_the_same() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.write(b"{\"type\":\"control_request\",\"request_id\":\"r7\",\"request\":{\"sub\n")
        .await;
    let reply = sdk.reply_to("r7").await;
    assert_eq!(reply["subtype"], "error");
    sdk.send(json!({"type": "control_request", "request_id": "r8"}))
        .await;
    assert_eq!(sdk.reply_to("r8").await["subtype"], "error");
}

#[tokio::test]
async fn a_line_of_more_than_ten_megabytes_is_one_error() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    let text = "x".repeat(11 * 1024 * 1024);
    sdk.prompt(&text).await;
    let error = sdk.first("result").await;
    assert!(
        error["errors"][0]
            .as_str()
            .unwrap()
            .contains("the longest may have 10485760"),
        "{error}"
    );
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Hello.");
}

#[tokio::test]
async fn half_a_line_at_the_end_is_one_error() {
    let mut sdk = Sdk::start(&[], json!([says("never")]));
    sdk.write(b"{\"type\":\"user\",\"message\":{\"role\":\"us")
        .await;
    let (frames, ending) = sdk.close().await;
    let error = frames
        .iter()
        .find(|frame| frame["type"] == "result")
        .unwrap();
    assert!(
        error["errors"][0]
            .as_str()
            .unwrap()
            .contains("middle of a line"),
        "{error}"
    );
    assert_eq!(ending, windlass::engine::Ending::Done { failed: true });
}

#[tokio::test]
async fn answers_that_nobody_asked_for_and_types_of_tomorrow_are_nothing() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    for frame in [
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "unknown", "response": {}}}),
        json!({"type": "control_cancel_request", "request_id": "unknown"}),
        json!({"type": "keep_alive"}),
        json!({"type": "of_tomorrow", "anything": [1]}),
    ] {
        sdk.send(frame).await;
    }
    sdk.write(b"\n\r\n").await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames[0]["state"], "running", "nothing came before");
}

#[tokio::test]
async fn a_prompt_without_content_is_an_error() {
    let mut sdk = Sdk::start(&[], json!([says("never")]));
    sdk.send(json!({"type": "user", "message": {"role": "user", "content": 7}}))
        .await;
    let error = sdk.first("result").await;
    assert!(
        error["errors"][0].as_str().unwrap().contains("content"),
        "{error}"
    );
}

#[tokio::test]
async fn a_hook_that_cannot_be_used_leaves_nothing_to_run_without_it() {
    let call = calls("Bash", json!({"command": "touch ran"}));
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let mut sdk = Sdk::start_in(
        folder.clone(),
        &["--allowedTools", "Bash"],
        json!([call, says("never")]),
    );
    let hooks = json!({"PreToolUse": [{"matcher": "(", "hookCallbackIds": ["hook_0"]}]});
    let reply = sdk
        .request(json!({"subtype": "initialize", "hooks": hooks}))
        .await;
    assert_eq!(reply["subtype"], "error");
    let reason = reply["error"].as_str().unwrap();
    assert!(reason.contains("a hook of PreToolUse"), "{reason}");
    sdk.prompt("go").await;
    let refusal = sdk.first("result").await;
    assert_eq!(refusal["is_error"], true, "{refusal}");
    assert!(!folder.path().join("ran").exists());
}

#[tokio::test]
async fn what_is_brought_along_after_the_first_prompt_is_not_said_to_count() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.prompt("go").await;
    sdk.first("result").await;
    let hooks = json!({"PreToolUse": [{"matcher": null, "hookCallbackIds": ["hook_0"]}]});
    let reply = sdk
        .request(json!({"subtype": "initialize", "hooks": hooks, "disallowedTools": ["Bash"]}))
        .await;
    for name in ["hooks_applied", "disallowed_tools_applied"] {
        assert!(reply["response"].get(name).is_none(), "{reply}");
    }
}

#[tokio::test]
async fn conf_3_every_word_of_a_list_counts() {
    for flags in [
        &["--disallowedTools", "Bash", "Write", "Edit"][..],
        &[
            "--disallowed-tools",
            "Bash, Write",
            "--disallowedTools=Edit",
        ],
        &["--disallowedTools=Bash Write,Edit"],
    ] {
        let mut sdk = Sdk::start(flags, json!([says("Hello.")]));
        sdk.prompt("go").await;
        let tools = sdk.first("system init").await["tools"].clone();
        for name in ["Bash", "Write", "Edit"] {
            let offered = tools.as_array().unwrap().iter().any(|tool| tool == name);
            assert!(!offered, "{flags:?}: {name} is among {tools}");
        }
        assert!(tools.as_array().unwrap().iter().any(|tool| tool == "Read"));
        sdk.first("result").await;
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_failure_to_whoever_waits_for_it() {
    let call = calls("Bash", json!({"command": "touch ran"}));
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let flags = ["--permission-prompt-tool", "stdio"];
    let mut sdk = Sdk::start_in(folder.clone(), &flags, json!([call, says("Done.")]));
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    let id = question["request_id"].as_str().unwrap();
    let half =
        format!("{{\"type\":\"control_response\",\"response\":{{\"request_id\":\"{id}\",\"resp\n");
    sdk.write(half.as_bytes()).await;
    let result = sdk.first("result").await;
    assert_eq!(result["result"], "Done.");
    assert!(!folder.path().join("ran").exists());
}
