//! Subagents, as an SDK meets them.

use serde_json::{Value, json};

use crate::support::{Sdk, calls, expecting, kinds, says};

/// A call that starts an agent, by either of the tool's names.
fn delegate(tool: &str) -> Value {
    let input = json!({"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"});
    calls(tool, input)
}

fn touch() -> Value {
    calls(
        "Bash",
        json!({"command": "touch made.txt", "description": "make a file"}),
    )
}

#[tokio::test]
async fn sub_7_an_agent_starts_unasked_and_its_own_calls_are_judged() {
    let offered = json!({"tools_include": ["Agent"], "tools_exclude": ["Task"]});
    let mut first = delegate("Agent");
    first["expect"] = offered;
    let denied = json!({"expect": {"tool_results": [{"is_error": true}]}, "respond": "I may not."});
    let mut sdk = Sdk::start(&[], json!([first, touch(), denied, says("A pity.")]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    let tools = init["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("Task")) && !tools.contains(&json!("Agent")));
    let call = frames
        .iter()
        .find(|frame| frame["type"] == "assistant")
        .unwrap();
    assert_eq!(call["message"]["content"][0]["name"], "Agent");
    let result = frames.last().unwrap();
    assert_eq!(result["result"], "A pity.");
    let denials = result["permission_denials"].as_array().unwrap();
    assert_eq!(denials.len(), 1);
    assert_eq!(denials[0]["tool_name"], "Bash");
    assert!(!sdk.folder.path().join("made.txt").exists());
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn tool_13_task_runs_a_subagent_under_either_name() {
    for name in ["Agent", "Task"] {
        let asked = json!({"messages": 1, "last_user_contains": "Look around."});
        let told = json!({"tool_results": [{"contains": "Nothing here.", "is_error": false}]});
        let script = json!([
            delegate(name),
            expecting(says("Nothing here."), asked),
            expecting(says("Nothing."), told),
        ]);
        let mut sdk = Sdk::start(&[], script);
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        assert_eq!(
            (&result["result"], &result["permission_denials"]),
            (&json!("Nothing."), &json!([]))
        );
        sdk.model.verify().unwrap();
    }
}

#[tokio::test]
async fn sub_7_rules_and_hooks_are_above_what_starts_agents_unasked() {
    for rule in ["Task(general-purpose)", "Agent(general-purpose)"] {
        let refused = json!({"expect": {"tool_results": [{"is_error": true}]}, "respond": "No."});
        let flags = ["--disallowedTools", rule];
        let mut sdk = Sdk::start(&flags, json!([delegate("Agent"), refused]));
        sdk.prompt("go").await;
        let result = sdk.first("result").await;
        assert_eq!(result["result"], "No.", "{rule}");
        sdk.model.verify().unwrap();
    }
    // Under the name by which lists of tools know it.
    for rule in ["Task(general-purpose)", "Agent"] {
        let settings = json!({"permissions": {"ask": [rule]}}).to_string();
        let flags = ["--settings", settings.as_str()];
        let refused = json!({"expect": {"tool_results": [{"is_error": true}]}, "respond": "No."});
        let mut sdk = Sdk::start(&flags, json!([delegate("Agent"), refused]));
        sdk.prompt("go").await;
        let denials = sdk.first("result").await["permission_denials"].clone();
        assert_eq!(denials[0]["tool_name"], "Task", "{rule}: {denials}");
    }
    for matcher in ["Task", "Agent"] {
        let refused = json!({"expect": {"tool_results": [{"contains": "not now", "is_error": true}]}, "respond": "No."});
        let mut sdk = Sdk::start(&[], json!([delegate("Agent"), refused]));
        let hooks = json!({"PreToolUse": [{"matcher": matcher, "hookCallbackIds": ["hook_0"]}]});
        sdk.initialize(json!({"hooks": hooks})).await;
        sdk.prompt("go").await;
        let question = sdk.first("control_request hook_callback").await;
        assert_eq!(question["request"]["input"]["tool_name"], "Agent");
        let decision = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": "not now"}});
        sdk.answer(&question, decision).await;
        let frames = sdk.until("result").await;
        assert!(!kinds(&frames).contains(&"system task_started".to_owned()));
        sdk.model.verify().unwrap();
    }
}

#[tokio::test]
async fn sub_1_what_an_agent_was_started_for_lies_beside_its_transcript_and_is_mirrored() {
    let script = json!([delegate("Agent"), says("Nothing here."), says("Nothing.")]);
    let mut sdk = Sdk::start(&["--session-mirror"], script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let of = |kind: &'static str| frames.iter().filter(move |frame| frame["subtype"] == kind);
    let started = of("task_started").next().unwrap();
    assert_eq!(started["is_backgrounded"], false);
    assert_eq!(
        of("task_notification").next().unwrap()["summary"],
        "Nothing here."
    );
    assert_eq!(of("background_tasks_changed").count(), 0);
    let entries = frames
        .iter()
        .filter(|frame| frame["type"] == "transcript_mirror")
        .flat_map(|frame| {
            let path = frame["filePath"].as_str().unwrap();
            let entries = frame["entries"].as_array().unwrap().iter();
            entries.map(move |entry| (path, entry))
        });
    let told: Vec<_> = entries
        .filter(|(_, entry)| entry["type"] == "agent_metadata")
        .collect();
    let [(path, meta)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(meta["toolUseId"], "toolu_1_1");
    assert_eq!(meta["agentType"], "general-purpose");
    let id = started["task_id"].as_str().unwrap();
    assert!(
        path.ends_with(&format!("subagents/agent-{id}.jsonl")),
        "{path}"
    );
    let beside = path.replace(".jsonl", ".meta.json");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(beside).unwrap()).unwrap();
    assert_eq!(written["toolUseId"], "toolu_1_1");
}
