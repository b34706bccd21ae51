//! A session that goes on with another spec.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    ConfigureError, Input, Now, Prompt, Session, Spec,
    effect::Answer,
    journal::{Journal, JournalCall, Recorder},
    permission::{Destination, DirectoryChange, Mode, PermissionUpdate},
    tool::ToolResult,
};

use crate::harness::{Bench, Reply, SEED, session_id, spec_with, tool};

/// What it is told first: one tool.
fn before() -> Spec {
    let mut spec = spec_with(vec![tool("Note")]);
    spec.prompt.system = "Be brief.".into();
    spec
}

/// What it is told then: another prompt, another tool, no leave for the first.
fn after() -> Spec {
    let mut spec = spec_with(vec![tool("Note"), tool("Count")]);
    spec.prompt.system = "Be thorough.".into();
    spec
}

/// A session that has answered a prompt, with a call in it, and was told a few things.
fn used() -> Bench {
    let mut bench = Bench::new(before());
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({"text": "x"})));
    bench.finish("a", "noted");
    bench.says("Done.");
    bench.input(Input::SetModel(Some("another-model".into())));
    bench.input(Input::SetMode(Mode::AcceptEdits));
    bench
}

#[test]
fn the_next_prompt_is_answered_by_the_new_spec_and_what_was_chosen_stays() {
    let mut bench = used();
    bench.session.configure(Arc::new(after())).unwrap();
    assert_eq!(bench.session.mode(), Mode::AcceptEdits);
    bench.prompt("again");
    let body = bench.body();
    assert!(
        body["system"].to_string().contains("Be thorough."),
        "{body}"
    );
    let tools: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(tools.contains(&"Count"), "{tools:?}");
    assert_eq!(body["model"], "another-model");
    assert_eq!(body["messages"].as_array().unwrap().len(), 5);
    bench.says("Done again.");
    assert_eq!(bench.result().result.as_deref(), Some("Done again."));
}

#[test]
fn it_is_the_session_that_a_restart_with_the_new_spec_would_give() {
    let mut bench = used();
    let mut restored = {
        let snapshot = bench.session.snapshot().unwrap();
        Session::restore(Arc::new(after()), &snapshot).unwrap()
    };
    restored
        .handle(bench.now, Input::Resumed { live: Vec::new() })
        .unwrap();
    bench.session.configure(Arc::new(after())).unwrap();
    assert_eq!(
        bench.session.snapshot().unwrap(),
        restored.snapshot().unwrap()
    );
    for session in [&mut bench.session, &mut restored] {
        session
            .handle(bench.now, Input::Prompt(Prompt::text("again")))
            .unwrap();
    }
    loop {
        let (one, other) = (bench.session.poll(), restored.poll());
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        if one.is_none() {
            break;
        }
    }
}

#[test]
fn while_it_works_or_has_something_to_say_it_is_not_configured() {
    let mut bench = Bench::new(before());
    bench.prompt("go");
    let snapshot = bench.session.snapshot().unwrap();
    let refused = bench.session.configure(Arc::new(after()));
    assert_eq!(refused, Err(ConfigureError::Busy));
    assert_eq!(bench.session.snapshot().unwrap(), snapshot);
    bench.says("Done.");

    // Nobody has said what is still running.
    let snapshot = bench.session.snapshot().unwrap();
    let mut restored = Session::restore(Arc::new(before()), &snapshot).unwrap();
    let refused = restored.configure(Arc::new(after()));
    assert_eq!(refused, Err(ConfigureError::Busy));

    let now = bench.now;
    bench
        .session
        .handle(now, Input::SetMode(Mode::Plan))
        .unwrap();
    let refused = bench.session.configure(Arc::new(after()));
    assert_eq!(refused, Err(ConfigureError::NotDrained));
    while bench.session.poll().is_some() {}
    bench.session.configure(Arc::new(after())).unwrap();
}

#[test]
fn what_was_allowed_must_still_apply() {
    let mut bench = Bench::new(before());
    let directory = PermissionUpdate::AddDirectories(DirectoryChange {
        directories: vec!["/further".into()],
        destination: Destination::Session,
    });
    bench.input(Input::UpdatePermissions(vec![directory]));
    bench.input(Input::SetMode(Mode::AcceptEdits));
    bench.session.configure(Arc::new(after())).unwrap();
    let permissions = bench.session.permissions();
    assert!(
        (permissions.directories(&after().environment))
            .iter()
            .any(|directory| directory == "/further")
    );
    assert_eq!(permissions.mode(), Mode::AcceptEdits);
}

#[test]
fn what_runs_in_the_background_runs_on() {
    let mut bench = Bench::new(before());
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Note", json!({"text": "x"})));
    let (running, _) = bench.call("a");
    bench.input(Input::Background(Some("a".into())));
    bench.says("It goes on.");
    bench.session.configure(Arc::new(after())).unwrap();
    bench.answer(running, Answer::Tool(ToolResult::text("noted")));
    let heard: Vec<_> = bench
        .lines_of("system")
        .into_iter()
        .filter(|line| line["subtype"] == "task_notification")
        .collect();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["status"], "completed");
}

#[test]
fn a_journal_has_a_line_for_it_and_replays_it() {
    let mut lines = String::new();
    let mut recorder = Recorder::start(Arc::new(before()), session_id(), SEED, |line| {
        lines += line;
        lines += "\n";
    });
    recorder.configure(Arc::new(after())).unwrap();
    let prompt = Input::Prompt(Prompt::text("go"));
    recorder.handle(Now::default(), prompt).unwrap();
    while recorder.poll().is_some() {}
    assert_eq!(
        recorder.configure(Arc::new(before())),
        Err(ConfigureError::Busy)
    );
    drop(recorder);
    let journal = Journal::parse(&lines).unwrap();
    let calls: Vec<bool> = journal
        .steps
        .iter()
        .map(|step| matches!(step.call, JournalCall::Configure(_)))
        .collect();
    assert_eq!(calls, [true, false, true]);
    journal.replay().unwrap();
    assert!(lines.contains("Be thorough."));
    // Without it the replay is another one.
    let without: String = lines
        .lines()
        .filter(|line| !line.starts_with("{\"configure\":"))
        .map(|line| format!("{line}\n"))
        .collect();
    Journal::parse(&without).unwrap().replay().unwrap_err();
}
