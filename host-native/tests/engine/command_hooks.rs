//! Hooks that are shell commands of settings files, beside the callbacks of the SDK.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, calls, result_text, says};

fn folder(settings: &Value) -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join(".claude")).unwrap();
    fs::write(
        folder.path().join(".claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    fs::write(folder.path().join("hello.txt"), "hello\n").unwrap();
    folder
}

fn command(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

fn on(event: &str, matcher: &str, hook: Value) -> Value {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}})
}

fn reads() -> Value {
    calls("Read", json!({"file_path": "${cwd}/hello.txt"}))
}

/// A command that writes down what it is told.
fn notes(event: &str) -> Value {
    command(&format!("cat > \"$CLAUDE_PROJECT_DIR/{event}.json\""))
}

fn noted(folder: &Path, event: &str) -> Value {
    let text = fs::read_to_string(folder.join(format!("{event}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// One call of Read under these settings; its result.
async fn read_under(settings: &Value) -> (Value, Arc<tempfile::TempDir>) {
    let folder = folder(settings);
    let mut sdk = Sdk::start_in(folder.clone(), &[], json!([reads(), says("Done.")]));
    sdk.prompt("go").await;
    let result = sdk.first("user").await;
    sdk.close().await;
    (result, folder)
}

#[tokio::test]
async fn hook_5_commands_of_a_settings_file_hear_of_everything() {
    let events = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ];
    let hooks: serde_json::Map<String, Value> = events
        .iter()
        .map(|event| ((*event).to_owned(), json!([{"hooks": [notes(event)]}])))
        .collect();
    let (_, folder) = read_under(&json!({ "hooks": hooks })).await;
    let heard: BTreeMap<&str, Value> = events
        .iter()
        .map(|event| (*event, noted(folder.path(), event)))
        .collect();
    let cwd = folder.path().canonicalize().unwrap();
    for (event, note) in &heard {
        assert_eq!(note["hook_event_name"], *event);
        assert_eq!(note["cwd"], cwd.display().to_string());
        let transcript = note["transcript_path"].as_str().unwrap();
        assert!(transcript.ends_with(&format!("{}.jsonl", note["session_id"].as_str().unwrap())));
    }
    assert_eq!(heard["SessionStart"]["source"], "startup");
    assert_eq!(heard["UserPromptSubmit"]["prompt"], "go");
    assert_eq!(heard["PreToolUse"]["tool_name"], "Read");
    assert!(
        heard["PostToolUse"]["tool_response"]
            .to_string()
            .contains("hello")
    );
    assert_eq!(heard["Stop"]["last_assistant_message"], "Done.");
    assert_eq!(heard["SessionEnd"]["reason"], "other");
}

#[tokio::test]
async fn hook_5_a_command_answers_by_its_exit_code_or_in_json() {
    let deny = r#"echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not this one"}}'"#;
    for (says, refused) in [
        ("echo not this one >&2; exit 2", Some("not this one")),
        (deny, Some("not this one")),
        ("echo broken >&2; exit 1", None),
        ("true", None),
        ("/no/such/program", None),
        (r#"echo '{"async": true}'; sleep 600"#, None),
    ] {
        let (result, _) = read_under(&on("PreToolUse", "Read|Edit", command(says))).await;
        let text = result_text(&result);
        match refused {
            Some(reason) => assert!(text.contains(reason), "{says}: {text}"),
            None => assert!(text.contains("hello"), "{says}: {text}"),
        }
    }
    // For other tools it is not even asked.
    let (result, _) = read_under(&on("PreToolUse", "Bash", command("exit 2"))).await;
    assert!(result_text(&result).contains("hello"));
}

#[tokio::test]
async fn hook_5_a_command_that_does_not_end_is_stopped_at_its_time() {
    let mut hook = command("sleep 600");
    hook["timeout"] = json!(0.05);
    let (result, _) = read_under(&on("PreToolUse", "Read", hook)).await;
    assert!(result_text(&result).contains("hello"));
}

#[tokio::test]
async fn hook_5_a_command_adds_context_and_keeps_the_loop_going() {
    let settings = json!({"hooks": {
        "SessionStart": [{"hooks": [command("echo The sky is green.")]}],
        "PostToolUse": [{"matcher": "Read", "hooks": [
            command(r#"echo '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "It was read."}}'"#),
        ]}],
        "Stop": [{"hooks": [command("test -e stopped && exit 0; touch stopped; echo once more >&2; exit 2")]}],
    }});
    let folder = folder(&settings);
    let sky = json!({"expect": {"last_user_contains": "The sky is green."},
        "respond": {"content": [{"type": "tool_use", "name": "Read", "input": {"file_path": "${cwd}/hello.txt"}}]}});
    let read = json!({"expect": {"last_user_contains": "It was read."}, "respond": "first"});
    let more = json!({"expect": {"last_user_contains": "once more"}, "respond": "second"});
    let mut sdk = Sdk::start_in(folder, &[], json!([sky, read, more]));
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(result["result"], "second");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn hook_5_a_command_and_a_callback_judge_together() {
    let allow = r#"echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'"#;
    let folder = folder(&on("PreToolUse", "Read", command(allow)));
    let mut sdk = Sdk::start_in(folder, &[], json!([reads(), says("Done.")]));
    let callback = json!({"PreToolUse": [{"matcher": null, "hookCallbackIds": ["hook_0"]}]});
    sdk.initialize(json!({"hooks": callback})).await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request hook_callback").await;
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "says the program"}});
    sdk.answer(&asked, deny).await;
    let result = sdk.first("user").await;
    assert!(result_text(&result).contains("says the program"));
}

#[tokio::test]
async fn conf_1_hooks_of_settings_can_be_turned_off_and_have_their_variables() {
    let mut settings = on("PreToolUse", "", command("echo $APP_ENV >&2; exit 2"));
    // One that a folder may set which nobody has trusted.
    settings["env"] = json!({"APP_ENV": "of the settings"});
    let (result, _) = read_under(&settings).await;
    assert!(result_text(&result).contains("of the settings"));
    settings["disableAllHooks"] = true.into();
    let (result, _) = read_under(&settings).await;
    assert!(result_text(&result).contains("hello"));
}
