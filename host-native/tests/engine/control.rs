//! Control requests: every one has a reply, during a turn too.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Sdk, calls, kinds, result_text, says};

/// A program that is a server.
const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

/// The flag for such a program.
fn notes() -> String {
    json!({"mcpServers": {"notes": {"command": "python3", "args": [NOTES], "env": {"NOTE": "here"}}}})
        .to_string()
}

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
                json!({"model": "claude-opus-5-5"}),
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
            json!({"subtype": "apply_flag_settings", "settings": {"ultracode": false, "fastMode": null}}),
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
                json!({"subtype": "reload_plugins", "add_plugins": [{"type": "git", "path": "/p"}]}),
                "`git`",
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
    assert_eq!(usage["maxTokens"], 1_000_000);
    for name in [
        "categories",
        "gridRows",
        "memoryFiles",
        "mcpTools",
        "agents",
    ] {
        assert!(usage[name].is_array(), "{name}");
    }
    let agents = usage["agents"].as_array().unwrap();
    assert!(agents.iter().all(|agent| agent["source"] == "built-in"));
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

#[tokio::test]
async fn api_9_a_tool_of_a_server_is_called_by_the_sdk_itself() {
    let mut sdk = Sdk::start(&["--mcp-config", &notes()], json!([says("Unasked.")]));
    sdk.initialize(json!({})).await;
    let reconnect = json!({"subtype": "mcp_reconnect", "serverName": "notes"});
    assert_eq!(sdk.request(reconnect).await["subtype"], "success");
    // No rule allows it, and nobody is asked: it is not the model that calls.
    let call =
        json!({"subtype": "mcp_call", "tool": "mcp__notes__read", "arguments": {"name": "x"}});
    let reply = sdk.request(call).await;
    assert_eq!(
        reply["response"]["content"][0]["text"], "here (x)",
        "{reply}"
    );
}

#[tokio::test]
async fn api_3_a_guarded_server_is_asked_about_where_permissions_are_bypassed_and_no_rule_allows() {
    let read = || calls("mcp__notes__read", json!({"name": "x"}));
    let whoami = || calls("mcp__notes__whoami", json!({}));
    let config = notes();
    let flags = [
        "--mcp-config",
        &config,
        "--permission-mode=bypassPermissions",
        "--allow-dangerously-skip-permissions",
        "--permission-prompt-tool=stdio",
        "--allowedTools=mcp__notes__whoami",
    ];
    let script = json!([read(), whoami(), says("Guarded."), read(), says("Free.")]);
    let variables = [("IS_SANDBOX", "1")];
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let mut sdk = Sdk::start_with(&variables, folder, &flags, script);
    sdk.initialize(json!({})).await;
    let guard = |mode: Value| json!({"subtype": "set_mcp_permission_mode_override", "serverName": "notes", "mode": mode});
    let reply = sdk.request(guard("default".into())).await;
    assert_eq!(reply["response"], json!({}));
    sdk.prompt("go").await;
    let asked = sdk.first("control_request can_use_tool").await;
    assert_eq!(asked["request"]["tool_name"], "mcp__notes__read");
    sdk.answer(&asked, json!({"behavior": "deny", "message": "no"}))
        .await;
    // A rule that allows still does.
    let frames = sdk.until("result").await;
    assert!(!kinds(&frames).contains(&"control_request can_use_tool".to_owned()));
    assert_eq!(frames.last().unwrap()["result"], "Guarded.");
    sdk.request(guard(Value::Null)).await;
    sdk.prompt("again").await;
    let frames = sdk.until("result").await;
    assert!(!kinds(&frames).contains(&"control_request can_use_tool".to_owned()));
    let answer = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(result_text(answer), "here (x)");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn a_folder_below_the_working_directory_becomes_one_by_itself() {
    let mut sdk = Sdk::start(&[], json!([says("Unasked.")]));
    let part = sdk.folder.path().canonicalize().unwrap().join("part");
    fs::create_dir(&part).unwrap();
    sdk.initialize(json!({})).await;
    let register = json!({"subtype": "register_repo_root", "directory": "part"});
    let reply = sdk.request(register.clone()).await;
    assert_eq!(reply["subtype"], "success", "{reply}");
    let listed = sdk
        .request(json!({"subtype": "list_permission_rules"}))
        .await;
    assert_eq!(
        listed["response"]["state"]["workspaceDirectories"],
        json!([{"path": part, "source": "session"}])
    );
    let again = sdk.request(register).await;
    assert!(again["error"].as_str().unwrap().contains("already"));
}

#[tokio::test]
async fn api_11_the_end_of_what_a_command_in_the_background_has_put_out_can_be_read() {
    // More than is given: only the end of it comes.
    let command = "yes line | head -n 4000; echo last; touch out; sleep 1000000";
    let run = calls(
        "Bash",
        json!({"command": command, "run_in_background": true}),
    );
    let wait = calls(
        "Bash",
        json!({"command": "while ! test -e out; do sleep 0.01; done"}),
    );
    let script = json!([run, wait, says("It runs.")]);
    let mut sdk = Sdk::start(&["--allowedTools", "Bash"], script);
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let started = frames
        .iter()
        .find(|frame| frame["subtype"] == "task_started")
        .unwrap();
    let read = json!({"subtype": "get_task_output", "task_id": started["task_id"]});
    // What was written reaches the engine by itself: nothing says when.
    let reply = loop {
        let reply = sdk.request(read.clone()).await;
        let output = reply["response"]["output"].as_str().unwrap();
        if output.ends_with("last\n") {
            break reply;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(reply["response"]["total_bytes"], 4000 * 5 + 5);
    assert_eq!(reply["response"]["truncated"], true);
    assert_eq!(
        reply["response"]["output"].as_str().unwrap().len(),
        8 * 1024
    );
    let stop = json!({"subtype": "stop_task", "task_id": started["task_id"]});
    assert_eq!(sdk.request(stop).await["subtype"], "success");
}

#[tokio::test]
async fn hook_1_the_hooks_there_are_can_be_listed_with_their_sources_and_what_keeps_them() {
    let listing = async |flags: &[&str]| {
        let mut sdk = Sdk::start(flags, json!([says("Unasked.")]));
        let callback = json!({"PreToolUse": [{"matcher": "Read|Bash", "hookCallbackIds": ["hook_0"], "timeout": 5}]});
        sdk.initialize(json!({ "hooks": callback })).await;
        let reply = sdk.request(json!({"subtype": "get_hooks_listing"})).await;
        reply["response"].clone()
    };
    let hook = |more: Value| {
        let mut hook = json!({"type": "command", "command": "echo hi"});
        hook.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        hook
    };
    let hooks = json!({"PreToolUse": [{"matcher": "Edit", "hooks": [hook(json!({"timeout": 2.5}))]}],
        "Stop": [{"hooks": [hook(json!({"async": true}))]}]});
    let settings = json!({ "hooks": hooks }).to_string();
    let listed = listing(&["--settings", &settings]).await;
    assert_eq!(
        listed["hooks"],
        json!([
            {"event": "PreToolUse", "matcher": "Edit", "source": "flagSettings", "sourceLabel": "options", "type": "command",
             "displayText": "echo hi", "commandText": "echo hi", "contentLabel": "Command", "timeout": 2.5},
            {"event": "PreToolUse", "matcher": "Read|Bash", "source": "sessionHook",
             "sourceLabel": "the program that uses the SDK", "type": "callback", "displayText": "hook_0",
             "commandText": "hook_0", "contentLabel": "Callback", "timeout": 5},
            {"event": "Stop", "matcher": "", "source": "flagSettings", "sourceLabel": "options", "type": "command",
             "displayText": "echo hi", "commandText": "echo hi", "contentLabel": "Command", "timeout": 60,
             "runsInBackground": true},
        ])
    );
    let events = listed["events"].as_array().unwrap();
    let counted: Vec<_> = events
        .iter()
        .map(|event| {
            (
                event["name"].clone(),
                event["supportsMatcher"].clone(),
                event["hookCount"].clone(),
            )
        })
        .collect();
    assert_eq!(
        counted,
        [
            (json!("PreToolUse"), json!(true), json!(2)),
            (json!("Stop"), json!(false), json!(1))
        ]
    );
    assert!(events.iter().all(|event| event["summary"].is_string()));
    assert!(listed["eventCatalog"].as_array().unwrap().len() > 20);
    assert_eq!(
        listed["policy"],
        json!({"disabledByPolicy": false, "managedOnly": false, "pluginOnly": false, "allDisabled": false,
            "policyHookCount": 0})
    );

    let managed = json!({"disableAllHooks": true, "hooks": hooks}).to_string();
    let listed = listing(&["--managed-settings", &managed]).await;
    assert_eq!(listed["policy"]["disabledByPolicy"], true);
    assert_eq!(listed["policy"]["allDisabled"], true);
    assert_eq!(listed["policy"]["policyHookCount"], 2);
    assert_eq!(listed["hooks"][0]["disabled"], true);
}

#[tokio::test]
async fn sess_5_a_title_is_made_without_a_model_and_kept_if_that_is_wanted() {
    let mut sdk = Sdk::start(&[], json!([says("Done.")]));
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    sdk.first("result").await;
    let mut title_of = async |description: &str, persist: bool| {
        let request = json!({"subtype": "generate_session_title", "description": description, "persist": persist});
        sdk.request(request).await["response"]["title"].clone()
    };
    assert_eq!(title_of("  \n", true).await, json!(null));
    assert_eq!(title_of("Only asked.", false).await, "Only asked.");
    assert_eq!(
        title_of("# Mend the parser\nIt fails.", true).await,
        "Mend the parser"
    );
    assert_eq!(sdk.bodies().len(), 1, "no request was made for it");
    let folder = sdk.folder.clone();
    sdk.close().await;
    let mut transcripts = Vec::new();
    for project in std::fs::read_dir(folder.path().join(".config/projects")).unwrap() {
        for file in std::fs::read_dir(project.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                transcripts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let [transcript] = transcripts.as_slice() else {
        panic!("one session: {transcripts:?}");
    };
    let summary = windlass::store::Summary::read(transcript);
    assert_eq!(summary.name(), Some("Mend the parser"));
}
