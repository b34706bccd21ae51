//! Events of hooks that the engine knows of, beside those of the loop.

use std::{fs, sync::Arc};

use serde_json::{Map, Value, json};

use crate::support::{Sdk, calls, kind_of, says};

/// A callback for each of these events.
fn registered(events: &[&str]) -> Value {
    let matcher = |event: &str| json!([{"hookCallbackIds": [event]}]);
    let hooks: Map<String, Value> = events
        .iter()
        .map(|event| ((*event).to_owned(), matcher(event)))
        .collect();
    json!({ "hooks": hooks })
}

/// Answers whatever is asked with nothing to say, and allows, until a frame of this kind; the inputs of the hooks.
async fn until(sdk: &mut Sdk, kind: &str, allowed: &Value) -> Vec<Value> {
    let mut told = Vec::new();
    loop {
        let frame = sdk.next().await.unwrap();
        match kind_of(&frame).as_str() {
            "control_request hook_callback" => {
                told.push(frame["request"]["input"].clone());
                sdk.answer(&frame, json!({})).await;
            }
            "control_request can_use_tool" => sdk.answer(&frame, allowed.clone()).await,
            found if found == kind => return told,
            _ => {}
        }
    }
}

fn of<'a>(told: &'a [Value], event: &str) -> &'a Value {
    let found = told.iter().find(|input| input["hook_event_name"] == event);
    found.unwrap_or_else(|| panic!("no {event} in {told:?}"))
}

#[tokio::test]
async fn hook_17_a_session_tells_what_it_reads_is_set_up_with_and_writes() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".claude/commands")).unwrap();
    fs::write(root.join("CLAUDE.md"), "Be brief.").unwrap();
    fs::write(root.join(".claude/commands/ship.md"), "Ship $ARGUMENTS.").unwrap();
    let make = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start_in(
        folder,
        &["--permission-prompt-tool=stdio", "--init"],
        json!([make, says("Shipped."), says("Again.")]),
    );
    let events = [
        "Setup",
        "InstructionsLoaded",
        "UserPromptExpansion",
        "Notification",
        "ConfigChange",
        "PostToolBatch",
        "SessionEnd",
    ];
    sdk.initialize(registered(&events)).await;
    sdk.prompt("/ship it now").await;
    let rule = json!({"toolName": "Bash", "ruleContent": "touch made.txt"});
    let allowed = json!({"behavior": "allow", "updatedPermissions": [
        {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}]});
    let mut told = until(&mut sdk, "result", &allowed).await;
    assert_eq!(of(&told, "Setup")["trigger"], "init");
    let loaded = of(&told, "InstructionsLoaded");
    let file = root.join("CLAUDE.md").display().to_string();
    assert_eq!(loaded["file_path"], file);
    assert_eq!(loaded["memory_type"], "Project");
    assert_eq!(loaded["load_reason"], "session_start");
    let expanded = of(&told, "UserPromptExpansion");
    assert_eq!(expanded["command_name"], "ship");
    assert_eq!(expanded["command_args"], "it now");
    assert_eq!(expanded["command_source"], "project");
    assert_eq!(expanded["prompt"], "/ship it now");
    assert_eq!(
        of(&told, "Notification")["notification_type"],
        "permission_prompt"
    );
    let batch = of(&told, "PostToolBatch");
    assert_eq!(batch["tool_calls"][0]["tool_name"], "Bash");
    told.extend(until(&mut sdk, "system idle", &allowed).await);
    sdk.prompt("/clear").await;
    told.extend(until(&mut sdk, "result", &allowed).await);
    let changed = of(&told, "ConfigChange");
    assert_eq!(changed["source"], "local_settings");
    assert!(
        changed["file_path"]
            .as_str()
            .unwrap()
            .ends_with(".claude/settings.local.json")
    );
    assert_eq!(of(&told, "SessionEnd")["reason"], "clear");
    // The next session reads its instructions anew, and is not set up again.
    sdk.prompt("go").await;
    let told = until(&mut sdk, "result", &allowed).await;
    of(&told, "InstructionsLoaded");
    assert!(told.iter().all(|input| input["hook_event_name"] != "Setup"));
}

#[tokio::test]
async fn hook_10_a_deferred_call_is_in_the_result_that_says_so() {
    let make = calls("Bash", json!({"command": "touch made.txt"}));
    let mut sdk = Sdk::start(&["--allowedTools=Bash"], json!([make]));
    sdk.initialize(registered(&["PreToolUse"])).await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request hook_callback").await;
    let defer = json!({"hookEventName": "PreToolUse", "permissionDecision": "defer"});
    sdk.answer(&asked, json!({"hookSpecificOutput": defer}))
        .await;
    let result = sdk.first("result").await;
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["terminal_reason"], "tool_deferred");
    assert_eq!(result["deferred_tool_use"]["name"], "Bash");
    assert_eq!(
        result["deferred_tool_use"]["input"]["command"],
        "touch made.txt"
    );
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn hook_17_settings_and_skills_that_the_sdk_changes_are_told() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let root = folder.path().canonicalize().unwrap();
    let mut sdk = Sdk::start_in(folder, &[], json!([says("Hello.")]));
    sdk.initialize(registered(&["ConfigChange"])).await;
    sdk.prompt("go").await;
    sdk.first("result").await;
    let nothing = json!({});
    let style = json!({"subtype": "update_settings", "source": "localSettings", "settings": {"outputStyle": "terse"}});
    assert_eq!(sdk.request(style).await["subtype"], "success");
    let asked = sdk.first("control_request hook_callback").await;
    sdk.answer(&asked, nothing.clone()).await;
    let told = &asked["request"]["input"];
    assert_eq!(told["source"], "local_settings");
    let file = root.join(".claude/settings.local.json");
    assert_eq!(told["file_path"], file.display().to_string());

    let effort = json!({"subtype": "update_settings", "source": "userSettings", "settings": {"effortLevel": "low"}});
    assert_eq!(sdk.request(effort).await["subtype"], "success");
    let asked = sdk.first("control_request hook_callback").await;
    sdk.answer(&asked, nothing.clone()).await;
    assert_eq!(asked["request"]["input"]["source"], "user_settings");

    let skill = root.join(".claude/skills/knots");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: knots\ndescription: About knots\n---\nTie it.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    let reload = json!({"subtype": "reload_skills"});
    assert_eq!(sdk.request(reload.clone()).await["subtype"], "success");
    let asked = sdk.first("control_request hook_callback").await;
    sdk.answer(&asked, nothing).await;
    assert_eq!(asked["request"]["input"]["source"], "skills");
    // What has not changed is not told.
    sdk.request(reload).await;
    let (rest, _) = sdk.close().await;
    let told = rest
        .iter()
        .filter(|frame| kind_of(frame) == "control_request hook_callback");
    assert_eq!(told.count(), 0);
}
