//! Files are taken back to what they were when a prompt came.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, calls, expecting, says};

const ON: [(&str, &str); 1] = [("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")];

fn folder() -> Arc<tempfile::TempDir> {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    fs::write(folder.path().join("poem.txt"), "Roses are red.\n").unwrap();
    folder
}

fn writes(name: &str, text: &str) -> Value {
    calls(
        "Write",
        json!({"file_path": format!("${{cwd}}/{name}"), "content": text}),
    )
}

fn reads() -> Value {
    calls("Read", json!({"file_path": "${cwd}/poem.txt"}))
}

fn edits(from: &str, to: &str) -> Value {
    let input = json!({"file_path": "${cwd}/poem.txt", "old_string": from, "new_string": to});
    calls("Edit", input)
}

async fn prompt(sdk: &mut Sdk, text: &str, uuid: &str) -> Value {
    sdk.send(
        json!({"type": "user", "session_id": "", "uuid": uuid, "parent_tool_use_id": null,
        "message": {"role": "user", "content": text}}),
    )
    .await;
    sdk.first("result").await
}

async fn rewinds(sdk: &mut Sdk, to: &str, dry_run: bool) -> Value {
    sdk.request(json!({"subtype": "rewind_files", "user_message_id": to, "dry_run": dry_run}))
        .await
}

fn poem(folder: &Path) -> String {
    fs::read_to_string(folder.join("poem.txt")).unwrap()
}

const FIRST: &str = "c591e35e-f9f1-40ee-95be-8675bf8c3f81";
const SECOND: &str = "d591e35e-f9f1-40ee-95be-8675bf8c3f82";

#[tokio::test]
async fn sess_3_files_go_back_to_a_prompt_also_after_a_resume() {
    let folder = folder();
    let flags = ["--permission-mode", "acceptEdits"];
    let first = [
        reads(),
        edits("red", "blue"),
        writes("new.txt", "x\n"),
        says("1"),
    ];
    let second = [edits("Roses", "Violets"), says("2")];
    let exchanges = json!([first.as_slice(), second.as_slice()].concat());
    let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, exchanges);
    let result = prompt(&mut sdk, "one", FIRST).await;
    prompt(&mut sdk, "two", SECOND).await;
    assert_eq!(poem(folder.path()), "Violets are blue.\n");

    let preview = rewinds(&mut sdk, SECOND, true).await;
    let cwd = folder.path().canonicalize().unwrap();
    let expected = json!({"canRewind": true, "filesChanged": [cwd.join("poem.txt")], "insertions": 1, "deletions": 1});
    assert_eq!(preview["response"], expected);
    assert_eq!(poem(folder.path()), "Violets are blue.\n", "only asked");
    let done = rewinds(&mut sdk, SECOND, false).await;
    assert_eq!(
        done["response"],
        json!({"canRewind": true, "skippedLinks": 0})
    );
    assert_eq!(poem(folder.path()), "Roses are blue.\n");
    sdk.close().await;

    let id = result["session_id"].as_str().unwrap();
    for flags in [
        vec![format!("--resume={id}"), "--fork-session".to_owned()],
        vec![
            format!("--resume={id}"),
            "--no-session-persistence".to_owned(),
        ],
        vec![format!("--resume={id}")],
    ] {
        fs::write(folder.path().join("new.txt"), "x\n").unwrap();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, json!([says("3")]));
        sdk.initialize(json!({})).await;
        let done = rewinds(&mut sdk, FIRST, false).await;
        assert_eq!(done["subtype"], "success", "{done}");
        assert_eq!(poem(folder.path()), "Roses are red.\n");
        assert!(!folder.path().join("new.txt").exists());
        sdk.close().await;
    }
}

#[tokio::test]
async fn sess_3_what_a_subagent_changes_goes_back_too_and_the_transcript_says_so() {
    let folder = folder();
    let flags = ["--permission-mode", "acceptEdits", "--allowedTools", "Task"];
    let task = calls(
        "Task",
        json!({"description": "write", "prompt": "write it", "subagent_type": "general-purpose"}),
    );
    let exchanges = json!([task, writes("new.txt", "x\n"), says("wrote"), says("done")]);
    let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, exchanges);
    prompt(&mut sdk, "go", FIRST).await;
    assert!(folder.path().join("new.txt").exists());
    rewinds(&mut sdk, FIRST, false).await;
    assert!(!folder.path().join("new.txt").exists());
    sdk.close().await;

    let project = fs::read_dir(folder.path().join(".config/projects")).unwrap();
    let files = project.flat_map(|project| fs::read_dir(project.unwrap().path()).unwrap());
    let texts = files.filter_map(|file| fs::read_to_string(file.unwrap().path()).ok());
    let lines: Vec<Value> = texts
        .flat_map(|text| text.lines().map(ToOwned::to_owned).collect::<Vec<_>>())
        .map(|line| serde_json::from_str(&line).unwrap())
        .filter(|line: &Value| line["type"] == "file-history-snapshot")
        .collect();
    let updates: Vec<&Value> = lines.iter().map(|line| &line["isSnapshotUpdate"]).collect();
    assert_eq!(updates, [false, true]);
    assert!(lines.iter().all(|line| line["messageId"] == FIRST));
    let backup = &lines[1]["snapshot"]["trackedFileBackups"]["new.txt"];
    assert_eq!(backup["backupFileName"], Value::Null);
}

#[tokio::test]
async fn api_5_what_cannot_be_taken_back_is_refused_in_words() {
    let mut sdk = Sdk::start(&[], json!([says("1")]));
    prompt(&mut sdk, "one", FIRST).await;
    let refused = rewinds(&mut sdk, FIRST, false).await;
    assert_eq!(refused["error"], "File rewinding is not enabled.");
    let refused = rewinds(&mut sdk, FIRST, true).await;
    assert_eq!(refused["response"]["canRewind"], false);
    assert_eq!(
        refused["response"]["error"],
        "File rewinding is not enabled."
    );

    let mut sdk = Sdk::start_with(&ON, folder(), &[], json!([says("1")]));
    prompt(&mut sdk, "one", FIRST).await;
    for unknown in [SECOND, "none"] {
        let refused = rewinds(&mut sdk, unknown, false).await;
        let error = refused["error"].as_str().unwrap();
        assert!(error.contains("No file checkpoint found"), "{error}");
        let refused = rewinds(&mut sdk, unknown, true).await;
        assert_eq!(refused["response"]["canRewind"], false, "{refused}");
    }
    let nothing = rewinds(&mut sdk, FIRST, true).await;
    assert_eq!(nothing["response"]["filesChanged"], json!([]));
}

#[tokio::test]
async fn sess_3_nothing_is_left_of_a_session_that_is_not_kept() {
    let folder = folder();
    let flags = [
        "--permission-mode",
        "acceptEdits",
        "--no-session-persistence",
    ];
    let exchanges = json!([reads(), edits("red", "blue"), says("1")]);
    let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, exchanges);
    prompt(&mut sdk, "one", FIRST).await;
    assert_eq!(poem(folder.path()), "Roses are blue.\n");
    rewinds(&mut sdk, FIRST, false).await;
    assert_eq!(poem(folder.path()), "Roses are red.\n");
    let config = folder.path().join(".config");
    for kept in ["file-history", "projects"] {
        assert!(!config.join(kept).exists(), "{kept}");
    }
}

/// A cell is changed like any file: in acceptEdits without a question, after it was read, and it goes back.
#[tokio::test]
async fn tool_7_a_notebook_is_edited_like_a_file_and_goes_back() {
    let folder = folder();
    let notebook = r#"{"cells":[{"cell_type":"code","execution_count":1,"id":"a","metadata":{},"outputs":[],"source":["1"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    let place = folder.path().join("a.ipynb");
    fs::write(&place, notebook).unwrap();
    let edit = calls(
        "NotebookEdit",
        json!({"notebook_path": "${cwd}/a.ipynb", "cell_id": "a", "new_source": "2"}),
    );
    let unread = json!({"tool_results": [{"contains": "has not been read yet", "is_error": true}]});
    let changed = json!({"tool_results": [{"contains": "Replaced the cell a", "is_error": false}]});
    let exchanges = json!([
        edit,
        expecting(
            calls("Read", json!({"file_path": "${cwd}/a.ipynb"})),
            unread
        ),
        edit,
        expecting(says("done"), changed)
    ]);
    let flags = ["--permission-mode", "acceptEdits"];
    let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, exchanges);
    prompt(&mut sdk, "one", FIRST).await;
    sdk.model.verify().unwrap();
    assert!(
        fs::read_to_string(&place)
            .unwrap()
            .contains(r#""source":["2"]"#)
    );
    rewinds(&mut sdk, FIRST, false).await;
    assert_eq!(fs::read_to_string(&place).unwrap(), notebook);
}

/// Rules about edits are rules about notebooks.
#[tokio::test]
async fn tool_7_a_rule_about_edits_holds_for_notebooks() {
    let folder = folder();
    let place = folder.path().join("a.ipynb");
    let notebook = r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;
    fs::write(&place, notebook).unwrap();
    let insert = json!({"notebook_path": "${cwd}/a.ipynb", "new_source": "2", "cell_type": "code", "edit_mode": "insert"});
    let exchanges = json!([
        calls("Read", json!({"file_path": "${cwd}/a.ipynb"})),
        calls("NotebookEdit", insert),
        expecting(says("done"), json!({"tool_results": [{"is_error": true}]}))
    ]);
    let flags = [
        "--permission-mode",
        "acceptEdits",
        "--disallowedTools",
        "Edit(*.ipynb)",
    ];
    let mut sdk = Sdk::start_with(&ON, folder.clone(), &flags, exchanges);
    prompt(&mut sdk, "one", FIRST).await;
    sdk.model.verify().unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), notebook);
}
