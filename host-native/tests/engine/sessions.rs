//! Sessions on disk: written, taken up, forked, mirrored.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use windlass::engine::Ending;

use crate::support::{Sdk, calls, kinds, says};

/// The lines of a session's file.
fn lines(path: &PathBuf) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The files of sessions in the folder's configuration.
fn files(sdk_folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let projects = fs::read_dir(sdk_folder.path().join(".config/projects"))
        .into_iter()
        .flatten();
    let mut files: Vec<PathBuf> = projects
        .flat_map(|project| fs::read_dir(project.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn sess_1_a_session_is_written_with_the_ids_of_its_frames_and_taken_up() {
    let read = calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let mut sdk = Sdk::start(&[], json!([read, says("one")]));
    let folder = sdk.folder.clone();
    sdk.prompt("first").await;
    let (frames, _) = sdk.close().await;
    let id = frames[1]["session_id"].as_str().unwrap().to_owned();
    let [file] = files(&folder).try_into().unwrap();
    assert!(file.ends_with(format!("{id}.jsonl")));
    let written: Vec<Value> = lines(&file)
        .into_iter()
        .map(|line| line["uuid"].clone())
        .collect();
    for frame in frames
        .iter()
        .filter(|frame| matches!(frame["type"].as_str(), Some("assistant" | "user")))
    {
        assert!(
            written.contains(&frame["uuid"]),
            "{frame} is not in the file"
        );
    }

    let next = json!({"expect": {"messages": 5, "last_user_contains": "second"}, "respond": "two"});
    let resume = format!("--resume={id}");
    let mut sdk = Sdk::start_in(folder.clone(), &[&resume], json!([next]));
    sdk.initialize(json!({})).await;
    sdk.prompt("second").await;
    let result = sdk.first("result").await;
    assert_eq!(
        (&result["result"], &result["session_id"]),
        (&json!("two"), &json!(id))
    );
    sdk.model.verify().unwrap();
    drop(sdk);
    assert_eq!(files(&folder), [file], "the same file goes on");

    // A fork has an id and a file of its own.
    let next = json!({"expect": {"messages": 7}, "respond": "three"});
    let mut sdk = Sdk::start_in(
        folder.clone(),
        &["--continue", "--fork-session"],
        json!([next]),
    );
    sdk.prompt("third").await;
    let result = sdk.first("result").await;
    assert_ne!(result["session_id"], id.as_str());
    sdk.model.verify().unwrap();
    drop(sdk);
    assert_eq!(files(&folder).len(), 2);
}

#[tokio::test]
async fn an_unknown_session_is_a_result_and_no_answer_to_anything() {
    let unknown = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    let flag = format!("--resume={unknown}");
    let sdk = Sdk::start(&[&flag], json!([says("never")]));
    let (frames, ending) = sdk.close().await;
    assert_eq!(kinds(&frames), ["result"]);
    assert_eq!(
        frames[0]["errors"],
        json!([format!("No conversation found with session ID: {unknown}")])
    );
    assert_eq!(ending, Ending::Done { failed: true });
}

#[tokio::test]
async fn without_persistence_nothing_is_written() {
    let mut sdk = Sdk::start(&["--no-session-persistence"], json!([says("one")]));
    sdk.prompt("go").await;
    let folder = sdk.folder.clone();
    sdk.close().await;
    assert!(files(&folder).is_empty());
}

#[tokio::test]
async fn what_is_written_is_mirrored_before_the_result() {
    let mut sdk = Sdk::start(&["--session-mirror"], json!([says("one")]));
    let folder = sdk.folder.clone();
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let mirrored: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "transcript_mirror")
        .flat_map(|frame| frame["entries"].as_array().unwrap())
        .collect();
    let [file] = files(&folder).try_into().unwrap();
    let path = frames
        .iter()
        .find_map(|frame| frame["filePath"].as_str())
        .unwrap();
    assert_eq!(path, file.display().to_string());
    let written = lines(&file);
    assert_eq!(mirrored, written.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_session_has_the_id_it_is_given_and_a_title() {
    let id = "4d578cf2-9083-4bdd-9824-64cf7e68b1af";
    let mut sdk = Sdk::start(&["--session-id", id], json!([says("one")]));
    let folder = sdk.folder.clone();
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["session_id"], id);
    sdk.request(json!({"subtype": "rename_session", "title": "My title"}))
        .await;
    let [file] = files(&folder).try_into().unwrap();
    assert_eq!(lines(&file).last().unwrap()["customTitle"], "My title");
}

/// One writer at a time: the second engine says so, and a fork is not held up.
#[tokio::test]
async fn sess_4_a_session_that_an_engine_still_writes_to_is_refused_to_another() {
    let mut first = Sdk::start(&[], json!([says("one")]));
    let folder = first.folder.clone();
    first.prompt("first").await;
    let result = first.first("result").await;
    let id = result["session_id"].as_str().unwrap();
    let resume = format!("--resume={id}");
    let mut second = Sdk::start_in(folder.clone(), &[&resume], json!([says("never")]));
    let refused = second.first("result").await;
    let words = refused["errors"][0].as_str().unwrap_or_default();
    assert!(
        words.contains("is being written by somebody else"),
        "{refused}"
    );
    let flags = [resume.as_str(), "--fork-session"];
    let mut fork = Sdk::start_in(folder.clone(), &flags, json!([says("two")]));
    fork.prompt("second").await;
    assert_eq!(fork.first("result").await["result"], "two");
    first.close().await;
    let mut third = Sdk::start_in(folder, &[&resume], json!([says("three")]));
    third.prompt("third").await;
    assert_eq!(third.first("result").await["session_id"], id);
}

#[tokio::test]
async fn sess_1_what_was_spent_is_counted_on_when_a_session_is_taken_up() {
    let mut sdk = Sdk::start(&[], json!([says("one")]));
    let folder = sdk.folder.clone();
    sdk.prompt("first").await;
    let first = sdk.first("result").await;
    let (id, cost) = (
        first["session_id"].as_str().unwrap(),
        first["total_cost_usd"].as_f64().unwrap(),
    );
    assert!(cost > 0.0);
    let resume = format!("--resume={id}");
    sdk.close().await;
    for flags in [
        vec![resume.as_str()],
        vec![resume.as_str(), "--fork-session"],
    ] {
        let mut sdk = Sdk::start_in(folder.clone(), &flags, json!([says("two")]));
        sdk.initialize(json!({})).await;
        let said = sdk.request(json!({"subtype": "get_session_cost"})).await;
        let words = said["response"]["text"].as_str().unwrap().to_owned();
        assert!(!words.contains("$0\n"), "{words}");
        sdk.prompt("second").await;
        let result = sdk.first("result").await;
        assert!(result["total_cost_usd"].as_f64().unwrap() > cost);
        let usage = result["modelUsage"].as_object().unwrap().values().next();
        let tokens = |usage: &Value| usage["inputTokens"].as_u64().unwrap();
        let before = first["modelUsage"].as_object().unwrap().values().next();
        assert!(tokens(usage.unwrap()) > tokens(before.unwrap()));
        sdk.close().await;
    }

    // Spent money counts against a budget, too.
    let flags = [resume.as_str(), "--max-budget-usd", "0.000001"];
    let mut sdk = Sdk::start_in(folder, &flags, json!([says("never")]));
    sdk.prompt("third").await;
    let result = sdk.first("result").await;
    assert_eq!(result["subtype"], "error_max_budget_usd");
}

#[tokio::test]
async fn an_entry_that_is_too_long_for_a_frame_is_mirrored_with_its_texts_cut() {
    let long = "x".repeat(1_500_000);
    let flags = ["--session-mirror"];
    let mut sdk = Sdk::start(&flags, json!([says("Much.")]));
    sdk.prompt(&long).await;
    let frames = sdk.until("result").await;
    let mirrored = frames
        .iter()
        .filter(|frame| frame["type"] == "transcript_mirror")
        .map(Value::to_string);
    assert!(mirrored.clone().count() > 0);
    assert!(mirrored.map(|line| line.len()).max().unwrap() < 1024 * 1024);
    let [file] = files(&sdk.folder).try_into().unwrap();
    assert_eq!(lines(&file)[0]["message"]["content"], long);
}

/// Whatever ended the run before, by its own result.
#[tokio::test]
async fn sess_6_every_result_names_a_session_that_goes_on_with_a_higher_limit_if_that_was_it() {
    let read = || calls("Read", json!({"file_path": "${cwd}/none.txt"}));
    let refused =
        json!({"respond": {"error": {"type": "invalid_request_error", "message": "too odd"}}});
    for (flags, begins, subtype) in [
        (
            &["--max-turns", "1"][..],
            json!([read()]),
            "error_max_turns",
        ),
        (
            &["--max-budget-usd", "0.0000001"],
            json!([read()]),
            "error_max_budget_usd",
        ),
        (&[], json!([refused]), "success"),
    ] {
        let mut sdk = Sdk::start(flags, begins);
        let folder = sdk.folder.clone();
        sdk.prompt("Look for it.").await;
        let result = sdk.first("result").await;
        assert_eq!(
            (&result["subtype"], &result["is_error"]),
            (&json!(subtype), &json!(true))
        );
        let id = result["session_id"].as_str().unwrap().to_owned();
        sdk.close().await;
        let resume = format!("--resume={id}");
        let goes_on = json!({"messages_contain": ["Look for it.", "Go on."]});
        let mut more = read();
        more["expect"] = goes_on;
        let flags = [resume.as_str(), "--max-turns", "5", "--max-budget-usd", "5"];
        let mut sdk = Sdk::start_in(folder, &flags, json!([more, says("There is none.")]));
        sdk.prompt("Go on.").await;
        let result = sdk.first("result").await;
        assert_eq!(
            (&result["result"], &result["session_id"]),
            (&json!("There is none."), &json!(id)),
            "{subtype}"
        );
        sdk.model.verify().unwrap();
    }
}

#[tokio::test]
async fn sess_5_rename_gives_the_session_a_title_without_asking_the_model() {
    let mut sdk = Sdk::start(&[], json!([says("one")]));
    let folder = sdk.folder.clone();
    sdk.prompt("Tie it.").await;
    sdk.first("result").await;
    for (prompt, title) in [
        ("/rename", None),
        ("/rename  About knots ", Some("About knots")),
    ] {
        sdk.prompt(prompt).await;
        let frames = sdk.until("result").await;
        let changed = frames
            .iter()
            .find(|frame| frame["subtype"] == "session_title_changed");
        assert_eq!(changed.map(|frame| frame["title"].as_str().unwrap()), title);
        let result = frames.last().unwrap();
        assert_eq!(
            (&result["local_command"], &result["num_turns"]),
            (&json!("rename"), &json!(0))
        );
    }
    assert_eq!(sdk.model.requests().len(), 1);
    sdk.close().await;
    let [file] = files(&folder).try_into().unwrap();
    let titles: Vec<Value> = lines(&file)
        .into_iter()
        .filter(|line| line["type"] == "custom-title")
        .collect();
    assert_eq!(titles.len(), 1);
    assert_eq!(titles[0]["customTitle"], "About knots");
}
