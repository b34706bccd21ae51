//! Recording a run, and replaying it.

use serde_json::json;

use crate::support::{Windlass, calling, saying};

/// Records a run that reads a file, and gives the workspace with its journal.
fn recorded() -> Windlass {
    let windlass = Windlass::new();
    windlass.write("note.txt", "buy milk\n");
    let server = calling(
        "Read",
        &json!({"file_path": "note.txt"}),
        "It says: buy milk.",
    );
    let done = windlass
        .command(&[
            "run",
            "-p",
            "--record",
            "run.ndjson",
            "What does the note say?",
        ])
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "sk-very-secret")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        "It says: buy milk.\n",
        "{done:?}"
    );
    windlass
}

#[test]
fn card_6_a_recorded_run_is_replayed_without_a_network_or_a_key() {
    let windlass = recorded();
    let journal = windlass.file("run.ndjson");
    assert!(
        journal.starts_with("{\"windlass\":\"journal\",\"version\":1,"),
        "{journal}"
    );
    assert!(
        !journal.contains("sk-very-secret"),
        "the key is in the journal"
    );
    use std::os::unix::fs::PermissionsExt as _;
    let file = windlass.workspace.path().join("run.ndjson");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let done = windlass.run(&["replay", "run.ndjson"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.starts_with("the same: "), "{done:?}");

    windlass.write(
        "run.ndjson",
        &journal.replacen("claude-sonnet", "claude-opus", 1),
    );
    let done = windlass.run(&["replay", "run.ndjson"]);
    assert!(
        done.complaint(1).contains("line 3 of the journal"),
        "{done:?}"
    );
}

#[test]
fn card_6_live_tools_are_held_against_what_was_recorded() {
    let windlass = recorded();
    let done = windlass.run(&["replay", "--live-tools", "run.ndjson"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "no drift: 1 tool calls\n"),
        "{done:?}"
    );

    windlass.write("note.txt", "buy bread\n");
    let done = windlass.run(&["replay", "--live-tools", "run.ndjson"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.stdout.starts_with("Read toolu_1_1: recorded "),
        "{done:?}"
    );
    assert!(
        done.stdout.contains("milk") && done.stdout.contains("bread"),
        "{done:?}"
    );
}

#[test]
fn a_journal_that_cannot_be_used_is_named_with_its_line() {
    let windlass = Windlass::new();
    let done = windlass.run(&["replay", "nowhere.ndjson"]);
    assert!(done.complaint(3).contains("nowhere.ndjson"), "{done:?}");
    windlass.write(
        "other.ndjson",
        "{\"windlass\":\"journal\",\"version\":99}\n",
    );
    let done = windlass.run(&["replay", "other.ndjson"]);
    assert!(done.complaint(3).contains("version 99"), "{done:?}");
    let server = saying([]);
    let done = Windlass::asking(&server).run(&["-p", "hi", "--record", "no/such/folder/x"]);
    assert!(done.complaint(3).contains("--record"), "{done:?}");
}
