//! Recording a run, and replaying it.

use serde_json::json;
use windlass::{
    Agent, NoInput, Tool,
    core::{
        hook::{HookEvent, HookOutput},
        message::ResultSubtype,
    },
};

use crate::support::{Windlass, calling, model, saying};

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

/// The journal says what ran: the tree of a line that rules let pass, or that it ran as it was written.
#[test]
fn perm_3_what_was_approved_is_in_the_journal() {
    for (allowed, kept) in [
        ("Bash(cat:*)", "\"command\":{\"plan\":{"),
        ("Bash", "\"command\":\"as_written\""),
    ] {
        let windlass = Windlass::new();
        windlass.write("note.txt", "buy milk\n");
        let server = calling("Bash", &json!({"command": "cat note.txt"}), "Milk.");
        let args = [
            "-p",
            "What is it?",
            "--record",
            "run.ndjson",
            "--allowedTools",
            allowed,
        ];
        let mut command = windlass.command(&args);
        let done = command
            .env("ANTHROPIC_BASE_URL", server.url())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "Milk.\n", "{done:?}");
        let journal = windlass.file("run.ndjson");
        assert!(journal.contains(kept), "{journal}");
        let replayed = windlass.run(&["replay", "run.ndjson"]);
        assert_eq!(replayed.code, Some(0), "{replayed:?}");
    }
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
        &journal.replacen(
            "\"model\":\"claude-opus-5-5\"",
            "\"model\":\"claude-opus-5\"",
            1,
        ),
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

/// Records, through the library, a conversation in which a command was interrupted, a setting was changed, a hook was
/// asked, a tool of the program was called, and then a file was read.
#[tokio::main(flavor = "current_thread")]
async fn recorded_with_an_interrupt(windlass: &Windlass) {
    windlass.write("note.txt", "buy milk\n");
    let started = windlass.workspace.path().join("started");
    let command = format!("touch {}; sleep 600", started.display());
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": command}}]}},
        {"respond": {"content": [{"type": "tool_use", "name": "weigh", "input": {}}]}},
        {"respond": {"content": [{"type": "tool_use", "name": "Read", "input": {"file_path": "note.txt"}}]}},
        {"respond": "It says: buy milk."},
    ]});
    let server = model(&script.to_string());
    let (lines, mut journal) = tokio::sync::mpsc::unbounded_channel::<String>();
    let agent = Agent::builder()
        .base_url(server.url())
        .api_key("sk-test")
        .cwd(windlass.workspace.path())
        .builtin_tools()
        .tool(Tool::new("weigh", "Weighs", |_: NoInput| async { "7 kg" }))
        .allowed_tools(["Bash", "Read", "weigh"])
        .hook(HookEvent::PreToolUse, |_, _| async {
            HookOutput::default()
        })
        .record(move |_| {
            let lines = lines.clone();
            move |line: &str| lines.send(format!("{line}\n")).unwrap()
        })
        .build()
        .unwrap();
    let session = agent.session();
    let run = session.prompt("Wait a while.");
    while !started.exists() {
        tokio::task::yield_now().await;
    }
    session.interrupt();
    assert_eq!(
        run.result().await.unwrap().subtype,
        ResultSubtype::ErrorDuringExecution
    );
    session.set_max_thinking_tokens(Some(2_000));
    let result = session
        .prompt("What does the note say?")
        .result()
        .await
        .unwrap();
    assert_eq!(result.result.as_deref(), Some("It says: buy milk."));
    session.close().await;
    let mut text = String::new();
    while let Ok(line) = journal.try_recv() {
        text += &line;
    }
    windlass.write("run.ndjson", &text);
}

#[test]
fn card_6_live_tools_are_called_where_they_were_and_interrupts_come_again_in_their_places() {
    let windlass = Windlass::new();
    recorded_with_an_interrupt(&windlass);
    let journal = windlass.file("run.ndjson");
    for said in ["\"input\":\"interrupt\"", "\"set_thinking\"", "\"hook\""] {
        assert!(journal.contains(said), "{said} in {journal}");
    }
    std::fs::remove_file(windlass.workspace.path().join("started")).unwrap();
    let replay = || windlass.run(&["replay", "--live-tools", "run.ndjson"]);
    let repeated = "1 tool calls; as recorded: 1 calls that were stopped, 1 calls of weigh, which is not here, 3 answers of hooks\n";
    let done = replay();
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), format!("no drift: {repeated}").as_str()),
        "{done:?}"
    );
    // What was stopped is not begun again.
    assert!(!windlass.workspace.path().join("started").exists());

    // The call behind the interrupt is reached, and held against what was recorded.
    windlass.write("note.txt", "buy bread\n");
    let done = replay();
    assert_eq!(done.code, Some(1), "{done:?}");
    let (drift, rest) = done.stdout.split_once('\n').unwrap();
    assert!(
        drift.starts_with("Read toolu_") && drift.contains("bread"),
        "{done:?}"
    );
    assert_eq!(rest, repeated);

    // A journal in which something else was asked for is told apart from one whose tools answer otherwise.
    windlass.write(
        "run.ndjson",
        &journal.replace("\"stage\":\"run\"", "\"stage\":\"resolve\""),
    );
    let done = replay();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stdout.contains("the run goes another way"), "{done:?}");
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
