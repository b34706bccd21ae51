//! Frames and requests as the official engine has them, where programs may rely on it.

use std::net::TcpListener;

use serde_json::json;

use crate::support::{Sdk, all, calls, kinds, says};

#[tokio::test]
async fn sdk_1_a_budget_that_is_used_up_leaves_no_result_of_a_call_that_did_not_run() {
    let read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let flags = ["--max-budget-usd", "0.000001", "--model", "claude-opus-4-8"];
    let mut sdk = Sdk::start(&flags, json!([read]));
    sdk.prompt("go").await;
    let frames = sdk.until("system idle").await;
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
    let result = &frames[3];
    assert_eq!(result["subtype"], "error_max_budget_usd");
    assert_eq!(result["terminal_reason"], "budget_exhausted");
    assert_eq!(result["num_turns"], 1);
}

#[tokio::test]
async fn sdk_1_a_model_that_is_not_there_is_told_apart() {
    let missing = json!({"type": "not_found_error", "message": "model: claude-none"});
    let mut sdk = Sdk::start(&[], json!([{"respond": {"error": missing}}]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let answer = all(&frames, "assistant")[0];
    assert_eq!(answer["error"], "model_not_found");
    let text = answer["message"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("API Error: 404 ("), "{text}");
    assert_eq!(frames.last().unwrap()["result"], text);
}

#[tokio::test]
async fn sdk_1_a_call_that_was_asked_about_when_an_interrupt_came_counts_as_denied() {
    let touch = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start(
        &["--permission-prompt-tool", "stdio"],
        json!([touch, says("Well.")]),
    );
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request can_use_tool").await;
    let interrupt = json!({"subtype": "interrupt"});
    sdk.send(json!({"type": "control_request", "request_id": "i", "request": interrupt}))
        .await;
    let frames = sdk.until("result").await;
    // The receipt comes first, then the question is withdrawn, then all that follows is said.
    assert_eq!(
        kinds(&frames)[..2],
        ["control_response", "control_cancel_request"]
    );
    assert_eq!(frames[1]["request_id"], asked["request_id"]);
    let result = frames.last().unwrap();
    assert_eq!(result["terminal_reason"], "aborted_tools");
    let denial = &result["permission_denials"][0];
    assert_eq!(denial["tool_name"], "Bash");
    assert_eq!(denial["tool_use_id"], asked["request"]["tool_use_id"]);
    assert_eq!(denial["tool_input"]["command"], "touch made.txt");
    // The next turn has none of that.
    sdk.prompt("and now?").await;
    assert_eq!(sdk.first("result").await["permission_denials"], json!([]));
}

#[tokio::test]
async fn sdk_1_init_follows_the_hooks_that_a_prompt_is_with() {
    let mut sdk = Sdk::start(&[], json!([says("one"), says("two")]));
    let hooks = json!({"UserPromptSubmit": [{"matcher": null, "hookCallbackIds": ["hook_0"]}]});
    sdk.initialize(json!({"hooks": hooks})).await;
    sdk.prompt("go").await;
    let frames = sdk
        .until_answering("system idle", |_| json!({"systemMessage": "seen"}))
        .await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "control_request hook_callback",
            "system init",
            "system informational",
            "assistant",
            "result",
            "system idle"
        ]
    );
    // A prompt that is stopped there has its `init`, too.
    sdk.prompt("again").await;
    let block = json!({"decision": "block", "reason": "no"});
    let frames = sdk.until_answering("result", |_| block.clone()).await;
    let kinds = kinds(&frames);
    let at = |kind: &str| kinds.iter().position(|it| it == kind);
    assert!(at("system init") > at("control_request hook_callback"));
}

#[tokio::test]
async fn sdk_1_results_say_how_long_it_took_and_what_agents_did() {
    let agent = calls(
        "Agent",
        json!({"description": "look", "prompt": "Look.", "subagent_type": "general-purpose", "run_in_background": false}),
    );
    let mut sdk = Sdk::start(
        &["--allowedTools", "Agent"],
        json!([agent, says("seen"), says("Done.")]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let ids: Vec<_> = (all(&frames, "assistant").iter())
        .map(|frame| frame["request_id"].clone())
        .collect();
    assert!(ids.iter().all(|id| id.is_string()), "{ids:?}");
    let mut distinct = ids.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "each response has its own");
    let result = frames.last().unwrap();
    let ms = |name: &str| result[name].as_u64().unwrap();
    let steps = [
        "time_to_request_ms",
        "ttft_stream_ms",
        "ttft_ms",
        "duration_ms",
    ];
    assert!(steps.map(ms).is_sorted(), "{result}");
    let stats = &result["subagent_stats"];
    assert_eq!(
        (&stats["spawned"], &stats["completed"], &stats["by_type"]),
        (&json!(1), &json!(1), &json!({"general-purpose": 1}))
    );
    assert_eq!(stats["requested"]["foreground"], 1);
    let created = &result["usage"]["cache_creation"];
    assert_eq!(
        created,
        &json!({"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0})
    );
}

#[tokio::test]
async fn loop_35_a_first_answer_is_followed_by_no_suggestion_and_no_call() {
    let script = json!([says("one"), says("two"), says("Go on."), says("three")]);
    let mut sdk = Sdk::start(&[], script);
    sdk.initialize(json!({"promptSuggestions": true})).await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "one");
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "two");
    let suggested = sdk.first("prompt_suggestion").await;
    assert_eq!(suggested["suggestion"], "Go on.");
}

#[tokio::test]
async fn loop_11_a_server_of_this_machine_that_is_not_there_is_tried_three_times() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let variables = [
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("CLAUDE_CODE_MAX_RETRIES", "10"),
    ];
    let mut sdk = Sdk::start_with(
        &variables,
        std::sync::Arc::new(tempfile::tempdir().unwrap()),
        &[],
        json!([says("never")]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(all(&frames, "system api_retry").len(), 2);
    let result = frames.last().unwrap();
    assert_eq!(result["is_error"], true);
    let text = result["result"].as_str().unwrap();
    assert!(text.contains("is the server running"), "{text}");
}
