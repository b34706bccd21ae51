//! Questions whether a call may run.

use serde_json::json;

use crate::support::{Sdk, all, calls, expecting, kinds, result_text, says};

fn touch() -> serde_json::Value {
    calls(
        "Bash",
        json!({"command": "touch made.txt", "description": "make a file"}),
    )
}

const ASKING: [&str; 2] = ["--permission-prompt-tool", "stdio"];

#[tokio::test]
async fn a_callback_allows_with_another_input() {
    let mut sdk = Sdk::start(&ASKING, json!([touch(), says("Done.")]));
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("control_request can_use_tool").await;
    assert_eq!(
        kinds(&frames),
        [
            "system running",
            "system init",
            "assistant",
            "system requires_action",
            "control_request can_use_tool"
        ]
    );
    let question = frames.last().unwrap().clone();
    let request = &question["request"];
    assert_eq!(
        (&request["tool_name"], &request["tool_use_id"]),
        (&json!("Bash"), &json!("toolu_1_1"))
    );
    assert_eq!(request["description"], "make a file");
    assert!(
        !request["permission_suggestions"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    sdk.answer(
        &question,
        json!({"behavior": "allow", "updatedInput": {"command": "touch other.txt"}}),
    )
    .await;
    assert_eq!(kinds(&[sdk.next().await.unwrap()]), ["system running"]);
    sdk.first("result").await;
    assert!(sdk.folder.path().join("other.txt").exists());
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn tool_2_nobody_is_asked_about_a_file_that_has_to_be_read_first() {
    let file = "${cwd}/there.txt";
    let write = || calls("Write", json!({"file_path": file, "content": "new"}));
    let unread = json!({"contains": "there.txt has not been read yet", "is_error": true});
    let mut read = calls("Read", json!({ "file_path": file }));
    read["expect"] = json!({"tool_results": [unread]});
    let mut sdk = Sdk::start(&ASKING, json!([write(), read, write(), says("Done.")]));
    let there = sdk.folder.path().join("there.txt");
    std::fs::write(&there, "old").unwrap();
    sdk.prompt("go").await;
    // The first question is about the change that can be made.
    let question = sdk.first("control_request can_use_tool").await;
    assert_eq!(question["request"]["tool_use_id"], "toolu_3_1");
    let input = &question["request"]["input"];
    let allow = json!({"behavior": "allow", "updatedInput": input});
    sdk.answer(&question, allow).await;
    sdk.first("result").await;
    assert_eq!(std::fs::read_to_string(there).unwrap(), "new");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn a_callback_denies_and_the_model_reads_why() {
    let after = json!({"expect": {"tool_results": [{"contains": "Not that.", "is_error": true}]}, "respond": "Well."});
    let mut sdk = Sdk::start(&ASKING, json!([touch(), after]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    sdk.answer(
        &question,
        json!({"behavior": "deny", "message": "Not that."}),
    )
    .await;
    let result = sdk.first("result").await;
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(result["is_error"], false);
    assert!(!sdk.folder.path().join("made.txt").exists());
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn a_denial_can_end_the_turn() {
    let mut sdk = Sdk::start(&ASKING, json!([touch(), says("Later.")]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    sdk.answer(
        &question,
        json!({"behavior": "deny", "message": "Stop.", "interrupt": true}),
    )
    .await;
    let result = sdk.first("result").await;
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["terminal_reason"], "aborted_tools");
    sdk.prompt("and now").await;
    assert_eq!(sdk.first("result").await["result"], "Later.");
}

#[tokio::test]
async fn a_callback_that_fails_or_answers_nonsense_denies() {
    let mut sdk = Sdk::start(&ASKING, json!([touch(), touch(), says("Well.")]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    sdk.fail(&question, "boom").await;
    let denied = sdk.first("user").await;
    assert_eq!(
        result_text(&denied),
        "Tool permission request failed: Error: boom"
    );
    let question = sdk.first("control_request can_use_tool").await;
    sdk.answer(&question, json!({"behaviour": "allow"})).await;
    assert!(result_text(&sdk.first("user").await).starts_with("Tool permission request failed"));
    sdk.first("result").await;
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn without_anybody_to_ask_nothing_runs_that_no_rule_allows() {
    let mut sdk = Sdk::start(&[], json!([touch(), says("Well.")]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert!(!kinds(&frames).contains(&"control_request can_use_tool".to_owned()));
    let denied = frames
        .iter()
        .find(|frame| frame["subtype"] == "permission_denied");
    let denied = denied.unwrap();
    assert_eq!(
        (
            &denied["tool_name"],
            &denied["tool_use_id"],
            &denied["decision_reason_type"]
        ),
        (&json!("Bash"), &json!("toolu_1_1"), &json!("mode"))
    );
    let answer = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(denied["message"], result_text(answer));
    assert_eq!(
        frames.last().unwrap()["permission_denials"][0]["tool_use_id"],
        "toolu_1_1"
    );
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn perm_12_an_interrupt_takes_the_question_back() {
    let mut sdk = Sdk::start(&ASKING, json!([touch(), says("Later.")]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    let receipt = sdk.request(json!({"subtype": "interrupt"})).await;
    assert_eq!(receipt["response"], json!({"still_queued": []}));
    let frames = sdk.until("system idle").await;
    let cancel = frames
        .iter()
        .find(|frame| frame["type"] == "control_cancel_request")
        .unwrap();
    assert_eq!(cancel["request_id"], question["request_id"]);
    let result = frames
        .iter()
        .find(|frame| frame["type"] == "result")
        .unwrap();
    assert_eq!(result["terminal_reason"], "aborted_tools");
    // An answer that comes too late changes nothing.
    sdk.answer(&question, json!({"behavior": "allow"})).await;
    sdk.prompt("and now").await;
    assert_eq!(sdk.first("result").await["result"], "Later.");
    assert!(!sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn perm_13_whoever_hands_the_suggestions_back_is_not_asked_again() {
    let other = || calls("Bash", json!({"command": "chmod 600 made.txt"}));
    let script = json!([
        touch(),
        touch(),
        says("One."),
        touch(),
        other(),
        says("Two.")
    ]);
    let mut sdk = Sdk::start(&ASKING, script);
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    let suggestions = &question["request"]["permission_suggestions"];
    let allow = json!({"behavior": "allow", "updatedPermissions": suggestions});
    sdk.answer(&question, allow).await;
    let frames = sdk.until("result").await;
    assert!(all(&frames, "control_request can_use_tool").is_empty());
    assert_eq!(frames.last().unwrap()["result"], "One.");
    // In the next turn neither; what the suggestions did not cover is still asked about.
    sdk.prompt("and again").await;
    let question = sdk.first("control_request can_use_tool").await;
    assert_eq!(
        question["request"]["input"]["command"],
        "chmod 600 made.txt"
    );
}

#[tokio::test]
async fn perm_15_in_dont_ask_mode_nobody_is_asked_and_what_no_rule_allows_is_denied() {
    let run = |name: &str| calls("Bash", json!({"command": format!("touch {name}")}));
    let result = |is_error: bool| json!({"tool_results": [{"is_error": is_error}]});
    let script = json!([
        run("allowed"),
        expecting(run("asked"), result(false)),
        expecting(run("other"), result(true)),
        expecting(says("Done."), result(true)),
    ]);
    let rules = json!({"permissions": {"allow": ["Bash(touch allowed)", "Bash(touch asked)"], "ask": ["Bash(touch asked)"]}});
    let rules = rules.to_string();
    let flags = [
        "--permission-mode=dontAsk",
        "--settings",
        &rules,
        ASKING[0],
        ASKING[1],
    ];
    let mut sdk = Sdk::start(&flags, script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert!(all(&frames, "control_request can_use_tool").is_empty());
    sdk.model.verify().unwrap();
    let denials = frames.last().unwrap()["permission_denials"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(denials, 2);
    for (name, is_there) in [("allowed", true), ("asked", false), ("other", false)] {
        assert_eq!(sdk.folder.path().join(name).exists(), is_there, "{name}");
    }
}

#[tokio::test]
async fn perm_12_the_question_says_why_and_allowing_without_an_input_runs_the_original() {
    let mut sdk = Sdk::start(&ASKING, json!([touch(), says("Done.")]));
    sdk.prompt("go").await;
    let question = sdk.first("control_request can_use_tool").await;
    let request = &question["request"];
    assert_eq!(request["tool_use_id"], "toolu_1_1");
    assert_eq!(request["input"]["command"], "touch made.txt");
    let reason = request["decision_reason"].as_str().unwrap_or_default();
    assert!(!reason.is_empty(), "{request}");
    let suggestions = request["permission_suggestions"].as_array();
    assert!(suggestions.is_some_and(|it| !it.is_empty()), "{request}");
    sdk.answer(&question, json!({"behavior": "allow"})).await;
    sdk.first("result").await;
    assert!(sdk.folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn perm_16_bypassing_asks_nobody_and_deny_rules_hold() {
    let remove = calls(
        "Bash",
        json!({"command": "rm made.txt", "description": "take it away"}),
    );
    let after = json!({"expect": {"tool_results": [{"contains": "denied", "is_error": true}]}, "respond": "Well."});
    let flags = [
        "--permission-mode=bypassPermissions",
        "--allow-dangerously-skip-permissions",
        "--disallowedTools=Bash(rm:*)",
        "--permission-prompt-tool",
        "stdio",
    ];
    // Root may bypass in a sandbox only.
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let script = json!([touch(), remove, after]);
    let mut sdk = Sdk::start_with(&[("IS_SANDBOX", "1")], folder, &flags, script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert!(all(&frames, "control_request can_use_tool").is_empty());
    assert!(sdk.folder.path().join("made.txt").exists());
    let denials = &frames.last().unwrap()["permission_denials"];
    assert_eq!(denials[0]["tool_use_id"], "toolu_2_1", "{denials}");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn perm_2_auto_is_told_and_what_no_rule_covers_is_denied_without_a_person() {
    let edit = calls(
        "Write",
        json!({"file_path": "${cwd}/a.txt", "content": "a"}),
    );
    let hook = calls(
        "Write",
        json!({"file_path": "${cwd}/.git/hooks/pre-commit", "content": "x"}),
    );
    let make = calls("Bash", json!({"command": "make all"}));
    let denied =
        json!({"tool_results": [{"contains": "no permission rule covers it", "is_error": true}]});
    let mut sdk = Sdk::start(
        &["--permission-mode=auto"],
        json!([
            edit,
            touch(),
            make,
            expecting(hook, denied),
            says("Some of it.")
        ]),
    );
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(all(&frames, "system init")[0]["permissionMode"], "auto");
    let denials = frames.last().unwrap()["permission_denials"].clone();
    let tools: Vec<_> = denials.as_array().unwrap().iter().collect();
    assert_eq!(tools.len(), 2, "{denials}");
    let folder = sdk.folder.path();
    assert!(folder.join("a.txt").exists() && folder.join("made.txt").exists());
    assert!(!folder.join(".git").exists());
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn perm_2_auto_is_set_while_a_session_runs_and_settings_can_disable_it() {
    let mut sdk = Sdk::start(&[], json!([says("One."), says("Two.")]));
    sdk.initialize(json!({})).await;
    let set = json!({"subtype": "set_permission_mode", "mode": "auto"});
    assert_eq!(sdk.request(set.clone()).await["response"]["mode"], "auto");
    sdk.prompt("go").await;
    assert_eq!(sdk.first("system init").await["permissionMode"], "auto");

    for settings in [
        r#"{"disableAutoMode": "disable"}"#,
        r#"{"permissions": {"disableAutoMode": "disable", "defaultMode": "auto"}}"#,
    ] {
        let flags = ["--permission-mode=auto", "--settings", settings];
        let mut sdk = Sdk::start(&flags, json!([says("One.")]));
        sdk.initialize(json!({})).await;
        let refused = sdk.request(set.clone()).await["error"].to_string();
        assert!(refused.contains("disableAutoMode"), "{refused}");
        sdk.prompt("go").await;
        assert_eq!(sdk.first("system init").await["permissionMode"], "default");
    }
}
