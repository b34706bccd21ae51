//! What hooks answer, and what becomes of it.

use std::{fs, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, all, calls, expecting, kinds, result_text, says};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

const HOOK: &str = "control_request hook_callback";
const ASKING: [&str; 1] = ["--permission-prompt-tool=stdio"];

fn read(name: &str) -> Value {
    calls("Read", json!({"file_path": format!("${{cwd}}/{name}")}))
}

fn touch(name: &str) -> Value {
    calls("Bash", json!({"command": format!("touch {name}")}))
}

/// An engine with one callback for an event, in a folder with two files.
async fn begun(flags: &[&str], event: &str, script: Value) -> Sdk {
    let mut sdk = Sdk::start(flags, script);
    for name in ["hello", "other"] {
        let file = sdk.folder.path().join(format!("{name}.txt"));
        fs::write(file, format!("{name}\n")).unwrap();
    }
    let hooks = json!({event: [{"hookCallbackIds": ["hook_0"]}]});
    sdk.initialize(json!({ "hooks": hooks })).await;
    sdk.prompt("go").await;
    sdk
}

/// Of an event the part of an output that is about it.
fn specific(event: &str, mut fields: Value) -> Value {
    fields["hookEventName"] = event.into();
    json!({ "hookSpecificOutput": fields })
}

#[tokio::test]
async fn hook_2_matchers_choose_hooks_which_run_together_and_the_strictest_wins() {
    let after = json!({"tool_results": [{"contains": "not this one", "is_error": true}]});
    let script = json!([read("hello.txt"), expecting(says("Well."), after)]);
    let mut sdk = Sdk::start(&ASKING, script);
    let hooks = json!({"PreToolUse": [
        {"matcher": "Read|Edit", "hookCallbackIds": ["names"]},
        {"matcher": "^Re.d$", "hookCallbackIds": ["pattern"]},
        {"hookCallbackIds": ["any"]},
        {"matcher": "Bash", "hookCallbackIds": ["another"]},
    ]});
    sdk.initialize(json!({ "hooks": hooks })).await;
    sdk.prompt("go").await;
    // All of them are asked before any has answered.
    let mut asked = Vec::new();
    for _ in 0..3 {
        asked.push(sdk.first(HOOK).await);
    }
    let decisions = |callback: &str| match callback {
        "names" => json!({"permissionDecision": "ask"}),
        "pattern" => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": "not this one"})
        }
        "any" => json!({"permissionDecision": "allow"}),
        other => panic!("{other} is for another tool"),
    };
    for asked in &asked {
        let callback = asked["request"]["callback_id"].as_str().unwrap();
        sdk.answer(asked, specific("PreToolUse", decisions(callback)))
            .await;
    }
    let frames = sdk.until("result").await;
    let kinds = kinds(&frames);
    assert!(!kinds.contains(&HOOK.to_owned()), "{kinds:?}");
    assert!(
        !kinds.contains(&"control_request can_use_tool".to_owned()),
        "{kinds:?}"
    );
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn hook_4_an_output_can_stop_block_explain_add_and_change() {
    let contains = |text: &str| json!({"tool_results": [{"contains": text}]});
    let last = |text: &str| json!({"last_user_contains": text});
    for (event, output, expected) in [
        (
            "PreToolUse",
            json!({"decision": "block", "reason": "House rules."}),
            contains("House rules."),
        ),
        (
            "PreToolUse",
            specific(
                "PreToolUse",
                json!({"updatedInput": {"file_path": "${cwd}/other.txt"}}),
            ),
            contains("other"),
        ),
        (
            "PreToolUse",
            specific(
                "PreToolUse",
                json!({"additionalContext": "It is an old one."}),
            ),
            last("It is an old one."),
        ),
        (
            "PostToolUse",
            json!({"decision": "block", "reason": "Run the linter."}),
            last("Run the linter."),
        ),
        // It goes on by itself: the call waits for nothing that it has to say.
        (
            "PreToolUse",
            json!({"async": true, "asyncTimeout": 60_000}),
            contains("hello"),
        ),
    ] {
        let script = json!([read("hello.txt"), expecting(says("Done."), expected)]);
        let mut sdk = begun(&[], event, script).await;
        let asked = sdk.first(HOOK).await;
        let cwd = sdk.folder.path().canonicalize().unwrap();
        let output = output
            .to_string()
            .replace("${cwd}", &cwd.display().to_string());
        sdk.answer(&asked, serde_json::from_str(&output).unwrap())
            .await;
        assert_eq!(sdk.first("result").await["result"], "Done.", "{output}");
        sdk.model.verify().unwrap();
    }
    // And what has not begun does not begin.
    let mut sdk = begun(&[], "PreToolUse", json!([read("hello.txt")])).await;
    let asked = sdk.first(HOOK).await;
    sdk.answer(&asked, json!({"continue": false, "stopReason": "Enough."}))
        .await;
    let frames = sdk.until("result").await;
    let refused = all(&frames, "user");
    assert!(
        refused
            .iter()
            .all(|frame| !result_text(frame).contains("hello"))
    );
    assert_eq!(frames.last().unwrap()["terminal_reason"], "hook_stopped");
}

#[tokio::test]
async fn hook_6_a_stop_hook_that_blocks_keeps_the_loop_going_and_the_next_is_told() {
    let more = expecting(
        says("Now I am."),
        json!({"last_user_contains": "The tests are red."}),
    );
    let mut sdk = begun(&[], "Stop", json!([says("I am done."), more])).await;
    let first = sdk.first(HOOK).await;
    assert_eq!(first["request"]["input"]["stop_hook_active"], false);
    let block = json!({"decision": "block", "reason": "The tests are red."});
    sdk.answer(&first, block).await;
    let second = sdk.first(HOOK).await;
    let told = &second["request"]["input"];
    assert_eq!(told["stop_hook_active"], true);
    assert_eq!(told["last_assistant_message"], "Now I am.");
    sdk.answer(&second, json!({})).await;
    let result = sdk.first("result").await;
    assert_eq!(
        (&result["result"], &result["num_turns"]),
        (&json!("Now I am."), &json!(2))
    );
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn hook_12_after_a_call_a_hook_sees_the_output_and_may_replace_a_servers() {
    let config = json!({"mcpServers": {"notes": {"command": "python3", "args": [NOTES], "env": {"NOTE": "long"}}}});
    let config = config.to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__notes"];
    let note = calls("mcp__notes__read", json!({"name": "x"}));
    let replaced = json!({"tool_results": [{"contains": "the short one"}]});
    let script = json!([
        read("hello.txt"),
        note,
        expecting(calls("mcp__notes__fail", json!({})), replaced),
        says("Done."),
    ]);
    let mut sdk = Sdk::start(&flags, script);
    fs::write(sdk.folder.path().join("hello.txt"), "hello\n").unwrap();
    let each = json!([{"hookCallbackIds": ["hook_0"]}]);
    sdk.initialize(json!({"hooks": {"PostToolUse": each, "PostToolUseFailure": each}}))
        .await;
    sdk.prompt("go").await;
    let asked = sdk.first(HOOK).await;
    let told = &asked["request"]["input"];
    assert_eq!(
        told["tool_response"]["file"]["content"], "hello\n",
        "{told}"
    );
    sdk.answer(&asked, json!({})).await;
    let asked = sdk.first(HOOK).await;
    let told = &asked["request"]["input"];
    assert!(
        told["tool_response"].to_string().contains("long (x)"),
        "{told}"
    );
    let short =
        json!({"updatedMCPToolOutput": {"content": [{"type": "text", "text": "the short one"}]}});
    sdk.answer(&asked, specific("PostToolUse", short)).await;
    let asked = sdk.first(HOOK).await;
    let told = &asked["request"]["input"];
    assert_eq!(told["hook_event_name"], "PostToolUseFailure");
    assert_eq!(told["tool_name"], "mcp__notes__fail");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("There is no paper.")
    );
    assert_eq!(told["is_interrupt"], false);
    sdk.answer(&asked, json!({})).await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
    assert!(!sdk.bodies()[2].to_string().contains("long (x)"));

    let sleep = calls("Bash", json!({"command": "touch begun; sleep 600"}));
    let mut sdk = begun(
        &["--allowedTools=Bash"],
        "PostToolUseFailure",
        json!([sleep]),
    )
    .await;
    sdk.first("assistant").await;
    while !sdk.folder.path().join("begun").exists() {
        sdk.request(json!({"subtype": "get_session_cost"})).await;
    }
    sdk.send(
        json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}),
    )
    .await;
    let asked = sdk.first(HOOK).await;
    assert_eq!(asked["request"]["input"]["is_interrupt"], true);
}

#[tokio::test]
async fn hook_13_a_hook_settles_a_question_in_the_place_of_the_callback() {
    let event = "PermissionRequest";
    let decided = |decision: Value| specific(event, json!({ "decision": decision }));
    for (decision, made, expected) in [
        (
            json!({"behavior": "allow", "updatedInput": {"command": "touch other"}}),
            Some("other"),
            json!({"tool_results": [{"is_error": false}]}),
        ),
        (
            json!({"behavior": "deny", "message": "no files"}),
            None,
            json!({"tool_results": [{"contains": "no files", "is_error": true}]}),
        ),
    ] {
        let script = json!([touch("made"), expecting(says("Done."), expected)]);
        let mut sdk = begun(&ASKING, event, script).await;
        let asked = sdk.first(HOOK).await;
        let told = &asked["request"]["input"];
        assert_eq!(
            (&told["tool_name"], &told["tool_input"]["command"]),
            (&json!("Bash"), &json!("touch made"))
        );
        assert!(
            !told["permission_suggestions"]
                .as_array()
                .unwrap()
                .is_empty(),
            "{told}"
        );
        sdk.answer(&asked, decided(decision)).await;
        let frames = sdk.until("result").await;
        assert!(all(&frames, "control_request can_use_tool").is_empty());
        let is_there = |name: &str| sdk.folder.path().join(name).exists();
        assert!(!is_there("made") && made.is_none_or(is_there));
        sdk.model.verify().unwrap();
    }

    // A rule that it brings along holds: the next call is asked about by nobody.
    let rule = json!([{"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}]}]);
    let script = json!([touch("one"), touch("two"), says("Done.")]);
    let mut sdk = begun(&ASKING, event, script).await;
    let asked = sdk.first(HOOK).await;
    sdk.answer(
        &asked,
        decided(json!({"behavior": "allow", "updatedPermissions": rule})),
    )
    .await;
    let frames = sdk.until("result").await;
    assert!(all(&frames, HOOK).is_empty());
    assert!(sdk.folder.path().join("two").exists());

    let mut sdk = begun(&ASKING, event, json!([touch("made")])).await;
    let asked = sdk.first(HOOK).await;
    sdk.answer(
        &asked,
        decided(json!({"behavior": "deny", "interrupt": true})),
    )
    .await;
    assert_eq!(
        sdk.first("result").await["subtype"],
        "error_during_execution"
    );
    assert_eq!(sdk.bodies().len(), 1);
}

#[tokio::test]
async fn hook_14_a_hook_ends_the_run_hides_its_output_speaks_to_people_or_goes_on_by_itself() {
    let mut sdk = begun(&[], "PostToolUse", json!([read("hello.txt")])).await;
    let asked = sdk.first(HOOK).await;
    sdk.answer(
        &asked,
        json!({"continue": false, "stopReason": "Enough for today."}),
    )
    .await;
    let frames = sdk.until("result").await;
    let result = frames.last().unwrap();
    assert_eq!(
        (&result["result"], &result["terminal_reason"]),
        (&json!("Enough for today."), &json!("hook_stopped"))
    );
    assert_eq!(sdk.bodies().len(), 1);

    for hides in [false, true] {
        let flags = ["--include-hook-events"];
        let mut sdk = begun(
            &flags,
            "PostToolUse",
            json!([read("hello.txt"), says("Done.")]),
        )
        .await;
        let asked = sdk.first(HOOK).await;
        let output = json!({"systemMessage": "The disk is nearly full.", "suppressOutput": hides});
        sdk.answer(&asked, output).await;
        let frames = sdk.until("result").await;
        let told = all(&frames, "system informational");
        assert_eq!(told[0]["content"], "The disk is nearly full.");
        let response = all(&frames, "system hook_response")[0];
        assert_eq!(response["stdout"] == "", hides, "{response}");
        assert!(!sdk.bodies()[1].to_string().contains("nearly full"));
    }

    // A command that never ends, and that nobody waits for.
    let folder = Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join(".claude")).unwrap();
    let command = r#"echo '{"async": true, "asyncTimeout": 600000}'; sleep 600"#;
    let hook = json!({"type": "command", "command": command});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    fs::write(
        folder.path().join(".claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let mut sdk = Sdk::start_in(
        folder,
        &["--allowedTools=Bash"],
        json!([touch("made"), says("Done.")]),
    );
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    assert!(sdk.folder.path().join("made").exists());
    sdk.stop().await;
}

#[tokio::test]
async fn loop_32_hooks_announce_start_progress_and_outcome() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join(".claude")).unwrap();
    let command = "echo looking; while ! test -e go; do sleep 0.01; done; echo slow today >&2; echo fine; exit 1";
    let hook = json!({"type": "command", "command": command});
    let settings = json!({"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    fs::write(
        folder.path().join(".claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let flags = ["--include-hook-events", "--allowedTools=Bash"];
    let mut sdk = Sdk::start_in(folder, &flags, json!([touch("made"), says("Done.")]));
    sdk.prompt("go").await;
    let started = sdk.first("system hook_started").await;
    let progress = sdk.first("system hook_progress").await;
    assert_eq!(
        (&progress["stdout"], &progress["output"]),
        (&json!("looking\n"), &json!("looking\n"))
    );
    // It goes on once that was told.
    fs::write(sdk.folder.path().join("go"), "").unwrap();
    let response = sdk.first("system hook_response").await;
    for frame in [&started, &progress, &response] {
        assert_eq!(frame["hook_id"], started["hook_id"]);
        assert_eq!(frame["hook_name"], "PostToolUse:Bash");
        assert_eq!(frame["hook_event"], "PostToolUse");
    }
    assert_eq!(response["stdout"], "looking\nfine\n");
    assert_eq!(response["stderr"], "slow today\n");
    assert!(response["output"].as_str().unwrap().contains("fine"));
    assert_eq!(
        (&response["exit_code"], &response["outcome"]),
        (&json!(1), &json!("error"))
    );
    assert_eq!(sdk.first("result").await["result"], "Done.");
}
