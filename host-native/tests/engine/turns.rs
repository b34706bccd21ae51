//! What a turn looks like to an SDK: results, counts, input in mid-turn, and what is told beside the conversation.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, calls_all, expecting, kinds, result_text, says};

#[tokio::test]
async fn loop_3_each_tool_result_is_a_user_message_with_its_output_as_data() {
    let read = |name: &str| ("Read", json!({"file_path": format!("${{cwd}}/{name}")}));
    let both = calls_all(&[read("a.txt"), read("b.txt")]);
    let mut sdk = Sdk::start(&[], json!([both, says("Read.")]));
    for (name, text) in [("a.txt", "first\n"), ("b.txt", "second\n")] {
        fs::write(sdk.folder.path().join(name), text).unwrap();
    }
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let results = all(&frames, "user");
    assert_eq!(results.len(), 2, "{:?}", kinds(&frames));
    for (id, text) in [("toolu_1_1", "first\n"), ("toolu_1_2", "second\n")] {
        let of_call = |frame: &&&Value| frame["message"]["content"][0]["tool_use_id"] == id;
        let result = results.iter().find(of_call).unwrap();
        let content = result["message"]["content"].as_array().unwrap();
        assert_eq!(content.len(), 1);
        assert_eq!(content[0]["type"], "tool_result");
        assert!(result_text(result).contains(text.trim()), "{result}");
        assert_eq!(result["tool_use_result"]["file"]["content"], text);
    }
}

#[tokio::test]
async fn loop_25_turns_are_responses_and_without_a_limit_nothing_ends_the_loop() {
    let mut read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    read["repeat"] = json!(30);
    let mut sdk = Sdk::start(&[], json!([read, says("There is none.")]));
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(
        (&result["subtype"], &result["num_turns"]),
        (&json!("success"), &json!(31))
    );
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn loop_23_input_in_mid_loop_and_what_the_engine_writes_are_in_the_stream_and_marked() {
    const ID: &str = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    let waits = calls(
        "Bash",
        json!({"command": "while ! test -e go; do sleep 0.01; done"}),
    );
    let steered = expecting(
        says("The kitchen is tidy."),
        json!({"last_user_contains": "Only the kitchen.", "tool_results": [{"id": "toolu_1_1"}]}),
    );
    let urged = expecting(says("Now it is."), json!({"last_user_contains": "not yet"}));
    let flags = ["--allowedTools=Bash", "--replay-user-messages"];
    let mut sdk = Sdk::start(&flags, json!([waits, steered, urged]));
    let stop = json!({"Stop": [{"hookCallbackIds": ["stop"]}]});
    sdk.initialize(json!({ "hooks": stop })).await;
    sdk.prompt("Tidy up.").await;
    sdk.first("assistant").await;
    let said = json!({"type": "user", "uuid": ID, "message": {"role": "user", "content": "Only the kitchen."}});
    sdk.send(said).await;
    // It has been read once what was sent behind it is answered.
    sdk.request(json!({"subtype": "get_session_cost"})).await;
    fs::write(sdk.folder.path().join("go"), "").unwrap();
    let mut frames = Vec::new();
    for answer in [json!({"decision": "block", "reason": "not yet"}), json!({})] {
        frames.extend(sdk.until("control_request hook_callback").await);
        let asked = frames.last().unwrap().clone();
        sdk.answer(&asked, answer).await;
    }
    frames.extend(sdk.until("result").await);
    let users = all(&frames, "user");
    let input = users.iter().find(|frame| frame["uuid"] == ID).unwrap();
    assert_eq!(input["isReplay"], true);
    assert_eq!(input["parent_tool_use_id"], Value::Null);
    assert!(input["message"].to_string().contains("Only the kitchen."));
    let written = users.iter().find(|frame| frame["isSynthetic"] == true);
    let written = written.expect("what the engine wrote for the hook");
    assert!(written["message"].to_string().contains("not yet"));
    assert_eq!(frames.last().unwrap()["result"], "Now it is.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn loop_30_status_tells_of_a_compaction_and_of_another_mode() {
    let long = format!("answer {}", "y".repeat(400));
    let mut sdk = Sdk::start(&[], json!([says(&long), says(&long), says("In short.")]));
    sdk.initialize(json!({})).await;
    for _ in 0..2 {
        sdk.prompt(&format!("question {}", "x".repeat(400))).await;
        sdk.first("result").await;
    }
    sdk.prompt("/compact").await;
    let frames = sdk.until("result").await;
    let statuses: Vec<&Value> = all(&frames, "system status")
        .into_iter()
        .map(|frame| &frame["status"])
        .collect();
    assert_eq!(statuses, [&json!("compacting"), &Value::Null]);
    sdk.request(json!({"subtype": "set_permission_mode", "mode": "plan"}))
        .await;
    let told = sdk.first("system status").await;
    assert_eq!(told["permissionMode"], "plan");
    assert_eq!(told["status"], Value::Null);
}

#[tokio::test]
async fn loop_34_headers_about_rate_limits_become_events() {
    let limited = json!({"respond": {"text": "Yes.", "headers": {
        "content-type": "text/event-stream",
        "anthropic-ratelimit-tokens-limit": "1000",
        "anthropic-ratelimit-tokens-remaining": "100",
        "anthropic-ratelimit-tokens-reset": "2026-01-02T03:04:05Z",
    }}});
    let refused =
        json!({"respond": {"error": {"type": "rate_limit_error", "message": "slow down"}}});
    let mut sdk = Sdk::start(&[], json!([limited, refused]));
    let mut told = Vec::new();
    for _ in 0..2 {
        sdk.prompt("go").await;
        let frames = sdk.until("result").await;
        let events = all(&frames, "rate_limit_event");
        told.extend(events.iter().map(|frame| frame["rate_limit_info"].clone()));
    }
    let warning =
        json!({"status": "allowed_warning", "resetsAt": 1_767_323_045, "utilization": 0.9});
    assert_eq!(told, [warning, json!({"status": "rejected"})]);
}
