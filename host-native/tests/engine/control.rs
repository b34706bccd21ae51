//! Control requests: every one has a reply, during a turn too.

use serde_json::{Value, json};

use crate::support::{Sdk, calls, kinds, says};

/// A response that begins and never ends.
fn hangs() -> Value {
    json!({"respond": {"text": "w w w w", "stream": {"delta_chars": 2}, "faults": [{"after_events": 4, "hang": true}]}})
}

#[tokio::test]
async fn every_request_has_a_reply_before_and_after_the_first_prompt() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.initialize(json!({})).await;
    for round in 0..2 {
        for (request, check) in [
            (
                json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}),
                json!({"mode": "acceptEdits"}),
            ),
            (
                json!({"subtype": "set_model", "model": "claude-haiku-4-5"}),
                json!({"model": "claude-haiku-4-5"}),
            ),
            (
                json!({"subtype": "set_model", "model": null}),
                json!({"model": "claude-sonnet-4-6"}),
            ),
            (json!({"subtype": "stop_task", "task_id": "zzz"}), json!({})),
            (json!({"subtype": "interrupt"}), json!({"still_queued": []})),
            (
                json!({"subtype": "interrupt", "cancel_queued": true}),
                json!({"still_queued": [], "cancelled": []}),
            ),
            (json!({"subtype": "background_tasks"}), json!({})),
            (
                json!({"subtype": "background_tasks", "tool_use_id": "toolu_nobody"}),
                json!({"backgrounded": false}),
            ),
            (
                json!({"subtype": "cancel_async_message", "message_uuid": "x"}),
                json!({"cancelled": false}),
            ),
            (json!({"subtype": "mcp_status"}), json!({"mcpServers": []})),
        ] {
            let reply = sdk.request(request.clone()).await;
            assert_eq!(reply["response"], check, "{request}");
        }
        for request in [
            json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 1000}),
            json!({"subtype": "get_context_usage"}),
            json!({"subtype": "get_settings"}),
            json!({"subtype": "apply_flag_settings", "settings": {"model": "claude-haiku-4-5"}}),
            json!({"subtype": "list_models"}),
            json!({"subtype": "get_binary_version"}),
            json!({"subtype": "get_session_cost"}),
            json!({"subtype": "get_usage"}),
            json!({"subtype": "list_permission_rules"}),
            json!({"subtype": "get_hooks_listing"}),
            json!({"subtype": "rename_session", "title": "My title"}),
            json!({"subtype": "file_suggestions", "query": "he"}),
            json!({"subtype": "seed_read_state", "path": "x", "mtime": 1}),
            json!({"subtype": "reload_skills"}),
            json!({"subtype": "reload_output_styles"}),
            json!({"subtype": "reload_plugins"}),
            json!({"subtype": "set_has_subscribers", "has_subscribers": false}),
            json!({"subtype": "set_max_thinking_tokens", "thinking_display": "omitted"}),
            json!({"subtype": "set_mcp_permission_mode_override", "serverName": "x", "mode": "default"}),
            json!({"subtype": "set_mcp_permission_mode_override", "serverName": "x", "mode": null}),
        ] {
            let reply = sdk.request(request.clone()).await;
            assert_eq!(reply["subtype"], "success", "{request}: {reply}");
        }
        for (request, code) in [
            (json!({"subtype": "no_such_subtype"}), "unsupported_request"),
            (
                json!({"subtype": "set_permission_mode", "mode": "bogus"}),
                "invalid_mode",
            ),
            (
                json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}),
                "bypass_not_launched",
            ),
            (
                json!({"subtype": "apply_flag_settings", "settings": {"model": "m", "cleanupPeriodDays": 3}}),
                "unsupported_settings",
            ),
            (
                json!({"subtype": "update_settings", "source": "localSettings", "settings": {"model": "m"}}),
                "unsupported_settings",
            ),
            (
                json!({"subtype": "set_mcp_permission_mode_override", "serverName": "x", "mode": "auto"}),
                "invalid_mode",
            ),
        ] {
            let reply = sdk.request(request.clone()).await;
            assert_eq!(reply["error_code"], code, "{request}: {reply}");
        }
        for (request, word) in [
            (
                json!({"subtype": "rename_session", "title": "x", "session_id": "00000000-0000-4000-8000-000000000000"}),
                "does not run here",
            ),
            (json!({"subtype": "rename_session", "title": " "}), "empty"),
            (json!({"subtype": "get_task_output", "task_id": "b0"}), "b0"),
            (
                json!({"subtype": "mcp_call", "tool": "mcp__a__b"}),
                "mcp__a__b",
            ),
            (
                json!({"subtype": "mcp_read_resource", "serverName": "a", "uri": "ui://x"}),
                "Server not found: a",
            ),
            (
                json!({"subtype": "mcp_read_resource", "serverName": "a", "uri": "file:///x"}),
                "ui://",
            ),
            (
                json!({"subtype": "register_repo_root", "directory": "/"}),
                "does not lie below",
            ),
            (
                json!({"subtype": "register_repo_root", "directory": "."}),
                "already",
            ),
            (
                json!({"subtype": "reload_plugins", "add_plugins": [{"type": "local", "path": "/p"}]}),
                "plugins",
            ),
        ] {
            let reply = sdk.request(request.clone()).await;
            assert_eq!(reply["subtype"], "error", "{request}: {reply}");
            let text = reply["error"].as_str().unwrap();
            assert!(text.contains(word), "{request}: {text}");
        }
        let second = sdk.initialize(json!({})).await;
        assert_eq!(second["current_permission_mode"], "acceptEdits");
        if round == 0 {
            sdk.prompt("go").await;
            let frames = sdk.until("system idle").await;
            let init = frames
                .iter()
                .find(|frame| frame["subtype"] == "init")
                .unwrap();
            assert_eq!(init["permissionMode"], "acceptEdits");
            assert_eq!(init["model"], "claude-haiku-4-5");
        }
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_the_session_goes_on() {
    let mut sdk = Sdk::start(
        &["--include-partial-messages"],
        json!([hangs(), says("Here.")]),
    );
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    // Something of the answer is there.
    sdk.first("stream_event").await;
    let receipt = sdk.request(json!({"subtype": "interrupt"})).await;
    assert_eq!(receipt["response"], json!({"still_queued": []}));
    let frames = sdk.until("system idle").await;
    let marker = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(
        marker["message"]["content"][0]["text"],
        "[Request interrupted by user]"
    );
    let result = frames
        .iter()
        .find(|frame| frame["type"] == "result")
        .unwrap();
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    sdk.prompt("again").await;
    assert_eq!(sdk.first("result").await["result"], "Here.");
}

#[tokio::test]
async fn an_interrupt_right_behind_the_prompt_has_a_result() {
    let mut sdk = Sdk::start(&[], json!([hangs()]));
    sdk.prompt("go").await;
    sdk.request(json!({"subtype": "interrupt"})).await;
    let result = sdk.first("result").await;
    assert_eq!(result["subtype"], "error_during_execution");
}

#[tokio::test]
async fn an_interrupt_in_the_middle_of_a_command_stops_it() {
    let sleep = calls("Bash", json!({"command": "sleep 600"}));
    let mut sdk = Sdk::start(&["--allowedTools", "Bash"], json!([sleep]));
    sdk.prompt("go").await;
    sdk.first("assistant").await;
    sdk.request(json!({"subtype": "interrupt"})).await;
    let frames = sdk.until("result").await;
    assert_eq!(
        kinds(&frames)[..2],
        ["user", "user"],
        "the call's result, then the marker"
    );
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_tools");
}

#[tokio::test]
async fn requests_are_answered_in_the_middle_of_a_turn() {
    let mut sdk = Sdk::start(&["--include-partial-messages"], json!([hangs()]));
    sdk.prompt("go").await;
    sdk.first("stream_event").await;
    let reply = sdk.request(json!({"subtype": "get_context_usage"})).await;
    let usage = &reply["response"];
    assert!(usage["totalTokens"].as_u64().unwrap() > 0);
    assert_eq!(usage["maxTokens"], 200_000);
    for name in [
        "categories",
        "gridRows",
        "memoryFiles",
        "mcpTools",
        "agents",
    ] {
        assert!(usage[name].is_array(), "{name}");
    }
    let file = sdk.folder.path().join("hello.txt");
    std::fs::write(&file, "hello\n").unwrap();
    let reply = sdk
        .request(json!({"subtype": "read_file", "path": "hello.txt"}))
        .await;
    assert_eq!(reply["response"]["contents"], "hello\n");
    let reply = sdk
        .request(json!({"subtype": "read_file", "path": "none.txt"}))
        .await;
    assert_eq!(reply["subtype"], "error");
}

#[tokio::test]
async fn a_prompt_that_waits_can_be_taken_back() {
    let mut sdk = Sdk::start(
        &["--include-partial-messages"],
        json!([hangs(), says("Here.")]),
    );
    sdk.prompt("go").await;
    sdk.first("stream_event").await;
    let id = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    sdk.send(
        json!({"type": "user", "uuid": id, "message": {"role": "user", "content": "and this"}}),
    )
    .await;
    let reply = sdk
        .request(json!({"subtype": "cancel_async_message", "message_uuid": id}))
        .await;
    assert_eq!(reply["response"], json!({"cancelled": true}));
    sdk.request(json!({"subtype": "interrupt"})).await;
    sdk.until("system idle").await;
    sdk.prompt("another").await;
    assert_eq!(sdk.first("result").await["result"], "Here.");
    assert!(!String::from_utf8_lossy(&sdk.model.requests()[1].body).contains("and this"));
}

#[tokio::test]
async fn rules_and_mode_can_be_set_while_a_session_runs() {
    let touch = || calls("Bash", json!({"command": "touch made.txt"}));
    let denied = json!({"expect": {"tool_results": [{"is_error": true}]}, "respond": "No."});
    let mut sdk = Sdk::start(&[], json!([touch(), says("Made."), touch(), denied]));
    sdk.initialize(json!({})).await;
    let apply = |permissions: Value| json!({"subtype": "apply_flag_settings", "settings": {"permissions": permissions}});
    let reply = sdk
        .request(apply(json!({"allow": ["Bash(touch:*)"]})))
        .await;
    assert_eq!(reply["subtype"], "success", "{reply}");
    sdk.prompt("make it").await;
    assert_eq!(sdk.first("result").await["permission_denials"], json!([]));
    assert!(sdk.folder.path().join("made.txt").exists());

    let reply = sdk.request(apply(json!({"deny": ["Bash(touch:*)"]}))).await;
    assert_eq!(reply["subtype"], "success", "{reply}");
    sdk.prompt("again").await;
    let denials = sdk.first("result").await["permission_denials"].clone();
    assert_eq!(denials.as_array().unwrap().len(), 1);

    // What cannot be read changes nothing and says why.
    let reply = sdk.request(apply(json!({"allow": ["Bash(("]}))).await;
    assert_eq!(reply["subtype"], "error");
    let reply = sdk
        .request(apply(json!({"defaultMode": "bypassPermissions"})))
        .await;
    assert_eq!(reply["error_code"], "bypass_not_launched");
}

#[tokio::test]
async fn conf_6_requests_say_on_whose_behalf_they_are_made() {
    let mut sdk = Sdk::start(&[], json!([says("Hello.")]));
    sdk.prompt("hi").await;
    sdk.first("result").await;
    let requests = sdk.model.requests();
    let agent = requests[0]
        .headers
        .iter()
        .find(|(name, _)| name == "user-agent");
    let agent = &agent.unwrap().1;
    assert!(agent.starts_with("windlass/"), "{agent}");
    assert!(agent.ends_with(" (cli, client-app/tests)"), "{agent}");
}
