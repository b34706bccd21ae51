//! Journals: what was recorded is replayed with the same outputs, or the first difference is named.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Millis, Now, Prompt, Spec, UnixMillis,
    effect::{Answer, Stage},
    journal::{JOURNAL_VERSION, Journal, JournalCall, JournalError, Recorder},
    tool::{Access, ToolResult},
};

use crate::harness::{Bench, MODEL, Reply, SEED, asking_spec, file_tool, session_id, tool};

/// A journal of version 1, as it was written when that version was new.
const GOLDEN: &str = include_str!("golden/journal-1.ndjson");

/// A run with a retry, a question, a tool and a byte that is no text, recorded.
fn recorded() -> String {
    let mut lines = String::new();
    let mut spec: Spec = asking_spec(vec![file_tool("Read", Access::Read), tool("Note")]);
    spec.policy.persist = true;
    spec.prompt.system = "Be brief. Ü→𝄞".into();
    let mut bench = Bench::new(spec.clone());
    let mut recorder = Recorder::start(Arc::new(spec), session_id(), SEED, |line| {
        lines += line;
        lines += "\n";
    });
    let inputs: Vec<(Now, Input)> = inputs(&mut bench);
    for (now, input) in inputs {
        let _ = recorder.handle(now, input);
        while recorder.poll().is_some() {}
    }
    drop(recorder);
    lines
}

/// The inputs of the run; a session turned along says what there is to answer.
fn inputs(bench: &mut Bench) -> Vec<(Now, Input)> {
    let mut inputs = Vec::new();
    let mut give = |bench: &mut Bench, input: Input| {
        bench.wait(3);
        inputs.push((bench.now, input.clone()));
        match input {
            Input::Answer(id, answer) => bench.answer(id, answer),
            input => bench.input(input),
        }
    };
    let answers = [
        Reply::error(529, "overloaded_error", "full"),
        Reply::message(&[
            json!({"type": "text", "text": "Grüße 𝄞"}),
            json!({"type": "tool_use", "id": "toolu_1", "name": "Note", "input": {"a": 1}}),
        ]),
        Reply::text("Done."),
    ];
    give(bench, Input::Prompt(Prompt::text("Go – bitte.")));
    let mut answers = answers.into_iter();
    while !bench.session.is_idle() {
        let Some((id, _)) = bench.pending.front().cloned() else {
            let deadline = bench.session.deadline().unwrap();
            bench.wait(deadline.since(bench.now.mono));
            give(bench, Input::Tick);
            continue;
        };
        match id.stage {
            Stage::Model => {
                for answer in split(answers.next().unwrap().answers()) {
                    give(bench, Input::Answer(id, answer));
                }
            }
            Stage::Ask => {
                let allow = windlass_core::effect::PermissionResponse::allow();
                give(bench, Input::Answer(id, Answer::Permission(allow)));
            }
            Stage::Run => give(
                bench,
                Input::Answer(id, Answer::Tool(ToolResult::text("noted ✓"))),
            ),
            _ => give(bench, Input::Answer(id, Answer::Persisted)),
        }
    }
    // The host breaks the contract: that is written down as well.
    let nobody = windlass_core::EffectId {
        session: session_id(),
        agent: 0,
        turn: 99,
        call: 0,
        stage: Stage::Model,
        attempt: 1,
    };
    inputs.push((bench.now, Input::Answer(nobody, Answer::HttpEnd)));
    inputs
}

/// Bodies in pieces that end inside of characters.
fn split(answers: Vec<Answer>) -> Vec<Answer> {
    let mut out = Vec::new();
    for answer in answers {
        match answer {
            Answer::HttpBody(body) => {
                let at = body
                    .iter()
                    .position(|byte| *byte >= 0x80)
                    .map_or(0, |at| at + 1);
                out.push(Answer::HttpBody(body.slice(..at)));
                out.push(Answer::HttpBody(body.slice(at..)));
            }
            answer => out.push(answer),
        }
    }
    out
}

#[test]
fn card_6_a_recorded_session_is_replayed_with_the_same_outputs() {
    let lines = recorded();
    assert!(
        lines.contains("{\"base64\":"),
        "no piece ended inside of a character"
    );
    assert!(
        lines.contains("{\"refused\":"),
        "the refused input is missing"
    );
    let journal = Journal::parse(&lines).unwrap();
    assert_eq!(journal.request.spec.prompt.system, "Be brief. Ü→𝄞".into());
    let replayed = journal
        .replay()
        .unwrap_or_else(|difference| panic!("{difference}"));
    assert_eq!(replayed.inputs, journal.steps.len());
    assert!(replayed.outputs > 10);
    assert_eq!(replayed.session.phase(), windlass_core::Phase::Idle);
}

#[test]
fn card_6_a_replay_points_at_the_first_difference() {
    let lines = recorded();
    let mut spec = Journal::parse(&lines).unwrap().request.spec;
    spec.model.name = "claude-haiku-4-5".into();
    let difference = Journal::parse(&lines)
        .unwrap()
        .replay_with(spec)
        .unwrap_err();
    // The init message is the first output of the first input.
    assert_eq!(difference.line, 3);
    assert!(difference.expected.as_deref().unwrap().contains(MODEL));
    assert!(
        difference
            .found
            .as_deref()
            .unwrap()
            .contains("claude-haiku-4-5")
    );
    assert!(
        difference
            .to_string()
            .starts_with("line 3 of the journal: expected …"),
        "{difference}"
    );

    // A changed answer changes what follows from it, and nothing before.
    let at = lines
        .lines()
        .position(|line| line.contains("noted ✓") && line.contains("\"input\""))
        .unwrap();
    let changed = lines.replacen("noted ✓", "noted ✗", 1);
    let difference = Journal::parse(&changed).unwrap().replay().unwrap_err();
    assert!(difference.line > at + 1, "{difference}");
    assert!(difference.found.unwrap().contains("noted ✗"));
}

#[test]
fn card_6_a_recording_that_was_cut_is_replayed_up_to_there() {
    let lines = recorded();
    let whole: Vec<&str> = lines.lines().collect();
    for kept in 2..whole.len() {
        let journal = Journal::parse(&(whole[..kept].join("\n") + "\n")).unwrap();
        journal
            .replay()
            .unwrap_or_else(|difference| panic!("{kept} lines: {difference}"));
    }
    let half = &lines[..lines.len() - 9];
    let error = Journal::parse(half).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}", whole.len())), "{error}");
    assert!(error.contains("delete this line"), "{error}");
}

#[test]
fn card_6_a_session_taken_up_from_a_snapshot_is_recorded_from_there() {
    let mut bench = Bench::new(Spec::default());
    bench.prompt("One");
    bench.says("1");
    let snapshot = bench.session.snapshot().unwrap();
    let mut lines = String::new();
    let spec = Arc::new(Spec::default());
    let mut recorder = Recorder::resume(spec, &snapshot, |line| {
        lines += line;
        lines += "\n";
    })
    .unwrap();
    let now = Now {
        mono: Millis(9_000),
        wall: UnixMillis(1_700_000_009_000),
    };
    recorder
        .handle(now, Input::Resumed { live: vec![] })
        .unwrap();
    recorder
        .handle(now, Input::Prompt(Prompt::text("Two")))
        .unwrap();
    while recorder.poll().is_some() {}
    assert_eq!(recorder.into_session().history().message_count(), 3);
    let replayed = Journal::parse(&lines).unwrap().replay().unwrap();
    assert_eq!(replayed.session.history().message_count(), 3);
}

#[test]
fn what_is_no_journal_is_refused_with_its_line_and_a_remedy() {
    let lines = recorded();
    assert_eq!(Journal::parse("").unwrap_err(), JournalError::NotAJournal);
    assert_eq!(
        Journal::parse("{}\n").unwrap_err(),
        JournalError::NotAJournal
    );
    let snapshot = Bench::new(Spec::default()).session.snapshot().unwrap();
    let snapshot = String::from_utf8(snapshot).unwrap();
    assert_eq!(
        Journal::parse(&snapshot).unwrap_err(),
        JournalError::NotAJournal
    );
    let newer = lines.replacen(
        &format!("\"version\":{JOURNAL_VERSION}"),
        "\"version\":99",
        1,
    );
    assert_eq!(
        Journal::parse(&newer).unwrap_err(),
        JournalError::Version { found: 99 }
    );
    for (line, bad, named) in [
        (1, r#"{"windlass":"journal","version":1}"#, "task"),
        (
            1,
            r#"{"windlass":"journal","version":1,"task":{"seed":"7"}}"#,
            "64 hexadecimal digits",
        ),
        (2, r#"{"output":{}}"#, "before the first input"),
        (
            4,
            r#"{"now":{"mono":1,"wall":1},"input":{"sing":1}}"#,
            "sing",
        ),
        (5, "nonsense", "expected"),
        (6, r#"{"output":"#, "expected"),
    ] {
        let mut changed: Vec<&str> = lines.lines().collect();
        changed[line - 1] = bad;
        let error = Journal::parse(&(changed.join("\n") + "\n"))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("line {line}")), "{bad}: {error}");
        assert!(error.contains(named), "{bad}: {error}");
    }
}

#[test]
fn a_journal_of_version_1_still_loads() {
    let journal = Journal::parse(GOLDEN).unwrap();
    assert_eq!(journal.steps.len(), 21);
    // What a newer version says may differ in its details; what was said to it still makes sense.
    let mut session = windlass_core::Session::new(
        Arc::new(journal.request.spec.clone()),
        journal.request.session_id.unwrap(),
        journal.request.seed,
    );
    let mut results = 0;
    for step in &journal.steps {
        let refused = step
            .outputs
            .iter()
            .any(|line| line.starts_with("{\"refused\""));
        let JournalCall::Handle { now, input } = &step.call else {
            panic!("nobody configured it: {step:?}");
        };
        assert_eq!(
            session.handle(*now, input.clone()).is_err(),
            refused,
            "line {}",
            step.line
        );
        while let Some(output) = session.poll() {
            results += usize::from(matches!(
                output,
                windlass_core::Output::Message(windlass_core::Message::Result(_))
            ));
        }
    }
    assert_eq!(results, 1);
}

/// Writes the golden file: once for each version.
#[test]
#[ignore = "writes golden/journal-1.ndjson"]
fn write_the_golden_journal() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/machine/golden/journal-1.ndjson"
    );
    std::fs::write(path, recorded()).unwrap();
}

/// Written by serde, read back by a reader of the core's own.
#[test]
fn every_input_is_read_as_it_was_written() {
    let all = [
        json!({"prompt": {"content": [{"type": "text", "text": "Go."}]}}),
        json!({"withdraw": "0191f3a0-0000-7000-8000-000000000001"}),
        json!("interrupt"),
        json!({"stop_task": "a1"}),
        json!({"background": null}),
        json!("end"),
        json!({"set_mode": "plan"}),
        json!({"update_permissions": [
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}], "behavior": "allow", "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]}),
        json!({"set_model": MODEL}),
        json!({"set_thinking": {"enabled": {"budget_tokens": 2048}}}),
        json!({"set_effort": "high"}),
        json!({"seen": {"path": "/a.txt", "digest": "sha256:00", "whole": true}}),
        json!({"notice": {"auth_status": {"is_authenticating": false, "output": ["x"], "error": "no"}}}),
        json!({"occurred": {"hook_event_name": "Notification", "message": "m", "notification_type": "idle"}}),
        json!({"resumed": {"live": []}}),
        json!("tick"),
    ];
    for written in all {
        let theirs: Input = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(
            Input::parse(&written.to_string()).unwrap(),
            theirs,
            "{written}"
        );
        let again = serde_json::to_string(&theirs).unwrap();
        assert_eq!(Input::parse(&again).unwrap(), theirs, "{again}");
    }
    let mut recorded_inputs = 0;
    for line in recorded().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(input) = line.get("input") else {
            continue;
        };
        let theirs: Input = serde_json::from_value(input.clone()).unwrap();
        assert_eq!(Input::parse(&input.to_string()).unwrap(), theirs, "{input}");
        recorded_inputs += 1;
    }
    assert!(recorded_inputs > 3, "{recorded_inputs}");
    let unknown = Input::parse(r#"{"promt":{}}"#).unwrap_err().to_string();
    assert!(
        unknown.contains("unknown variant `promt`, expected one of `prompt`"),
        "{unknown}"
    );
    let missing = Input::parse(r#"{"seen":{"path":"/a"}}"#)
        .unwrap_err()
        .to_string();
    assert!(missing.contains("missing field `digest`"), "{missing}");
}
