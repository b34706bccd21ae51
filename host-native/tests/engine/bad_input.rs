//! What an SDK should not send.

use serde_json::json;

use crate::support::{Sdk, says};

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
