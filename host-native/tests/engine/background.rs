//! Commands in the background.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use crate::support::{Sdk, calls, expecting, kinds, result_text, says};

const ALLOWED: [&str; 2] = ["--allowedTools", "Bash"];

fn runs(command: &str) -> Value {
    calls(
        "Bash",
        json!({"command": command, "description": "run it", "run_in_background": true}),
    )
}

/// Ends when nothing of the process is left.
async fn gone(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).unwrap();
    let stat = format!("/proc/{}/stat", pid.trim());
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(" Z ")) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn tool_6_a_command_in_the_background_is_told_read_and_answered_when_it_ends() {
    let ends = json!({"expect": {"last_user_contains": "has completed"}, "respond": "I see."});
    let command = "echo begun; while ! test -e go; do sleep 0.01; done; echo over";
    let exchanges = json!([runs(command), says("It runs."), ends]);
    let mut sdk = Sdk::start(&ALLOWED, exchanges);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let started = frames
        .iter()
        .find(|frame| frame["subtype"] == "task_started")
        .unwrap();
    assert_eq!(started["task_type"], "local_bash");
    assert_eq!(started["description"], "run it");
    let answer = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(
        answer["tool_use_result"]["backgroundTaskId"],
        started["task_id"]
    );
    assert!(
        frames.last().unwrap()["result"] == "It runs.",
        "{:?}",
        kinds(&frames)
    );
    fs::write(sdk.folder.path().join("go"), "").unwrap();
    let ended = sdk.first("system task_notification").await;
    assert_eq!(
        (&ended["task_id"], &ended["status"]),
        (&started["task_id"], &json!("completed"))
    );
    let output = fs::read_to_string(ended["output_file"].as_str().unwrap()).unwrap();
    assert_eq!(output, "begun\nover\n");
    assert_eq!(sdk.first("result").await["result"], "I see.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn tool_24_what_a_command_in_the_background_has_put_out_is_read_while_it_runs() {
    let command = "echo early; echo 'and an error' >&2; touch out; sleep 1000000";
    let exchanges = json!([
        runs(command),
        calls(
            "Bash",
            json!({"command": "while ! test -e out; do sleep 0.01; done"})
        ),
        calls(
            "TaskOutput",
            json!({"task_id": "${result.backgroundTaskId}", "block": false})
        ),
        says("Read."),
    ]);
    // The id is that of the session's first call, which a session of this id always gives it.
    let id = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    let flags = [ALLOWED.as_slice(), &["--session-id", id]].concat();
    let task = {
        let mut sdk = Sdk::start(&flags, json!([runs("sleep 1000000"), says("It runs.")]));
        sdk.prompt("go").await;
        sdk.first("system task_started").await["task_id"].clone()
    };
    let exchanges = exchanges
        .to_string()
        .replace("${result.backgroundTaskId}", task.as_str().unwrap());
    let exchanges = serde_json::from_str(&exchanges).unwrap();
    let mut sdk = Sdk::start(&flags, exchanges);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let results: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "user")
        .collect();
    let read = result_text(results[2]);
    assert!(
        read.contains("early") && read.contains("and an error"),
        "{read}"
    );
    assert!(read.contains("running"), "{read}");
}

#[tokio::test]
async fn api_11_a_command_in_the_background_is_stopped_with_all_it_has_started() {
    let command = "sleep 1000000 & echo $! > part; mv part pid; wait";
    let mut sdk = Sdk::start(&ALLOWED, json!([runs(command), says("It runs.")]));
    let folder = sdk.folder.clone();
    sdk.prompt("go").await;
    let started = sdk.first("system task_started").await;
    while !folder.path().join("pid").exists() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let reply = sdk
        .request(json!({"subtype": "stop_task", "task_id": started["task_id"]}))
        .await;
    assert_eq!(reply["subtype"], "success");
    let ended = sdk.first("system task_notification").await;
    assert_eq!(ended["status"], "stopped");
    gone(folder.path()).await;
}

#[tokio::test]
async fn sdk_3_a_command_in_the_background_ends_with_the_input_and_with_the_engine() {
    for by_force in [false, true] {
        let command = "sleep 1000000 & echo $! > part; mv part pid; wait";
        let mut sdk = Sdk::start(&ALLOWED, json!([runs(command), says("It runs.")]));
        let folder = sdk.folder.clone();
        sdk.prompt("go").await;
        sdk.first("result").await;
        while !folder.path().join("pid").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        match by_force {
            true => drop(sdk.stop().await),
            false => drop(sdk.close().await),
        }
        gone(folder.path()).await;
    }
}

#[tokio::test]
async fn loop_31_a_task_announces_its_start_its_progress_and_its_end_under_one_id() {
    let input = json!({"description": "look around", "prompt": "Look at it.", "subagent_type": "general-purpose",
        "run_in_background": true});
    let read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let script = json!({"match": "any", "exchanges": [
        expecting(calls("Agent", input), json!({"last_user_contains": "go", "messages": 1})),
        expecting(says("It is at work."), json!({"tool_results": [{"id": "toolu_1_1"}]})),
        expecting(read, json!({"last_user_contains": "Look at it."})),
        expecting(says("It is not there."), json!({"messages_contain": "Look at it."})),
        expecting(says("A pity."), json!({"last_user_contains": "It is not there."})),
    ]});
    let mut sdk = Sdk::start(&[], script);
    sdk.prompt("go").await;
    let started = sdk.first("system task_started").await;
    assert_eq!(started["description"], "look around");
    assert_eq!(started["task_type"], "local_agent");
    let mut frames = sdk.until("system task_notification").await;
    let ended = frames.pop().unwrap();
    let progress = frames
        .iter()
        .find(|frame| frame["subtype"] == "task_progress");
    let progress = progress.expect("progress before the end");
    assert_eq!(progress["last_tool_name"], "Read");
    assert_eq!(progress["usage"]["tool_uses"], 1);
    assert!(progress["usage"]["total_tokens"].as_u64().unwrap() > 0);
    assert!(progress["usage"]["duration_ms"].is_number());
    assert_eq!(ended["status"], "completed");
    assert!(ended["summary"].as_str().unwrap().contains("look around"));
    assert!(ended["usage"]["total_tokens"].as_u64() > progress["usage"]["total_tokens"].as_u64());
    let output = fs::read_to_string(ended["output_file"].as_str().unwrap()).unwrap();
    assert!(output.contains("It is not there."), "{output}");
    for frame in [&started, progress, &ended] {
        assert_eq!(frame["task_id"], started["task_id"]);
        assert_eq!(frame["tool_use_id"], "toolu_1_1");
    }
    sdk.close().await;
}
