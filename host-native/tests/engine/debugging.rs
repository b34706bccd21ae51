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
    // But commands, which are what runs.
    let (commands, rest): (Vec<&str>, Vec<&str>) = log
        .lines()
        .partition(|line| line.contains("[DEBUG] commands: "));
    assert!(commands.concat().contains("hush-hush"), "{commands:?}");
    for secret in ["sk-test", "hush-hush", "a quiet word", "Done."] {
        assert!(!rest.concat().contains(secret), "{secret:?} in\n{log}");
    }
    let without = logged(&["--debug=!commands"]).await;
    assert!(!without.contains("hush-hush"), "{without}");
}

/// Of a log what stands behind the topic of commands.
fn commands(log: &str) -> Vec<&str> {
    let said = |line: &'_ str| line.find("commands: ").map(|at| at + "commands: ".len());
    log.lines()
        .filter_map(|line| line.get(said(line)?..))
        .collect()
}

#[tokio::test]
async fn perm_3_people_see_the_text_of_the_model_and_the_log_what_ran() {
    const JUDGED: &str = "echo   a\"b\"'c'  $X  ;echo d";
    const ASKED: &str = "touch   \"made\"";
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let file = folder.path().join("engine.log").display().to_string();
    let flags = [
        "--debug-file",
        &file,
        "--allowedTools",
        "Bash(echo:*)",
        "--permission-prompt-tool",
        "stdio",
    ];
    let call = |command: &str| calls("Bash", json!({ "command": command }));
    let mut sdk = Sdk::start_in(
        folder.clone(),
        &flags,
        json!([call(JUDGED), call(ASKED), says("Done.")]),
    );
    let hooks = json!({
        "PreToolUse": [{"hookCallbackIds": ["before"]}],
        "PostToolUse": [{"hookCallbackIds": ["after"]}],
    });
    sdk.initialize(json!({ "hooks": hooks })).await;
    sdk.prompt("go").await;
    for (text, asks) in [(JUDGED, false), (ASKED, true)] {
        for callback in ["before", "after"] {
            let told = sdk.first("control_request hook_callback").await;
            assert_eq!(told["request"]["callback_id"], callback);
            assert_eq!(told["request"]["input"]["tool_input"]["command"], text);
            sdk.answer(&told, json!({})).await;
            if asks && callback == "before" {
                let question = sdk.first("control_request can_use_tool").await;
                assert_eq!(question["request"]["input"]["command"], text);
                sdk.answer(
                    &question,
                    json!({"behavior": "allow", "updatedInput": {"command": text}}),
                )
                .await;
            }
        }
    }
    sdk.first("result").await;
    sdk.close().await;
    let log = fs::read_to_string(file).unwrap();
    let [judged, asked] = commands(&log).try_into().unwrap();
    assert!(!judged.contains(JUDGED), "{judged}");
    assert!(
        judged.contains("runs as judged: ") && judged.contains("'abc'"),
        "{judged}"
    );
    assert!(
        asked.ends_with(&format!("runs as written: {ASKED}")),
        "{asked}"
    );
    let transcript = transcript(&folder.path().join(".config"));
    for text in [JUDGED, ASKED] {
        let written = serde_json::to_string(text).unwrap();
        assert!(
            transcript.contains(&written),
            "no {written} in\n{transcript}"
        );
    }
    assert!(!transcript.contains("'abc'"), "{transcript}");
}

/// What the one transcript below a folder says.
fn transcript(config: &std::path::Path) -> String {
    let mut folders = vec![config.join("projects")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                Some(extension) if extension == "jsonl" => {
                    return fs::read_to_string(path).unwrap();
                }
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    panic!("no transcript");
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
