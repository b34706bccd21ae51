//! What an engine does, written down for people.

use std::fs;

use serde_json::json;

use crate::support::{Sdk, calls, says};

/// A run with a log, and what is in it.
async fn logged(more: &[&str]) -> String {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("logs/engine.log").display().to_string();
    let mut flags = vec!["--debug-file", file.as_str(), "--allowedTools", "Bash"];
    flags.extend(more);
    let command = calls("Bash", json!({"command": "echo hush-hush"}));
    let mut sdk = Sdk::start_in(folder.clone(), &flags, json!([command, says("Done.")]));
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["hook_0"]}]});
    sdk.initialize(json!({"hooks": hooks})).await;
    sdk.prompt("a quiet word").await;
    let question = sdk.first("control_request hook_callback").await;
    sdk.answer(&question, json!({})).await;
    sdk.first("result").await;
    sdk.close().await;
    fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn conf_7_what_happens_is_written_down_and_nothing_of_what_is_said() {
    let log = logged(&[]).await;
    for wanted in [
        "engine: windlass",
        "control: Initialize",
        "api: POST /v1/messages",
        "is answered with 200",
        "hooks: PreToolUse hook_0",
        "tools: Bash toolu_1_1",
        "is done after",
        "session: result Success",
        "engine: ends, failed: false",
    ] {
        assert!(log.contains(wanted), "no {wanted:?} in\n{log}");
    }
    for secret in ["sk-test", "hush-hush", "a quiet word", "Done."] {
        assert!(!log.contains(secret), "{secret:?} in\n{log}");
    }
}

#[tokio::test]
async fn conf_7_topics_are_chosen_or_left_out() {
    let topics = |log: String| {
        let names = log.lines().map(|line| {
            let (_, said) = line.split_once("[DEBUG] ").unwrap();
            said.split_once(':').unwrap().0.to_owned()
        });
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let some = topics(logged(&["--debug=api,tools"]).await);
    assert_eq!(some.into_iter().collect::<Vec<_>>(), ["api", "tools"]);
    let others = topics(logged(&["-d", "!api,!tools"]).await);
    assert!(others.contains("hooks") && !others.contains("api") && !others.contains("tools"));
}
