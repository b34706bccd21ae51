//! Sessions that wait for their people: how much memory each takes, and whether a long one is slow.

use std::{
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use windlass_core::{
    Input, Now, Output, Prompt, RawJson, Session, Spec,
    effect::{Answer, Effect},
    spec::{ModelSpec, PromptSpec, ToolSpec},
    tool::ToolDefinition,
    uuid_v4,
};

use crate::{
    process::{anonymous_mib, cpu_ms},
    table::{Goal, Table, median},
};

const SESSIONS: usize = 10_000;
/// 100,000 of them shall fit in 2 GiB.
const MOST_BYTES: f64 = 2.0 * 1024.0 * 1024.0 * 1024.0 / 100_000.0;

pub(crate) fn measure(table: &mut Table) {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["idle", &SESSIONS.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("a client process starts");
    let bytes: f64 = serde_json::from_slice(&output.stdout).expect("the client reports");
    table.value(
        "an idle session of 10 turns of 1 KiB, history included",
        "KiB",
        bytes / 1024.0,
        Goal::AtMost(MOST_BYTES / 1024.0),
    );
    let (late, early) = turns();
    table.pair(
        "CPU of the core for turn 200 (turn 5)",
        "µs",
        late,
        early,
        Goal::AtMost(1.5),
    );
}

/// The client process: `idle COUNT` prints the bytes that each of so many idle sessions takes.
pub(crate) fn client(count: &str) -> ExitCode {
    let count: usize = count.parse().expect("a number of sessions");
    let spec = spec();
    let before = anonymous_mib();
    let sessions: Vec<Session> = (0..count)
        .map(|n| {
            let mut session = new_session(&spec, n);
            for _ in 0..10 {
                turn(&mut session);
            }
            session
        })
        .collect();
    let bytes = (anonymous_mib() - before) * 1024.0 * 1024.0 / sessions.len() as f64;
    println!("{bytes}");
    ExitCode::SUCCESS
}

/// CPU time in microseconds of a late turn and of an early one, each the median over many sessions.
fn turns() -> (f64, f64) {
    let spec = spec();
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for n in 0..100 {
        let mut session = new_session(&spec, n);
        for at in 1..=205 {
            let before = cpu_ms();
            turn(&mut session);
            let spent = (cpu_ms() - before) * 1e3;
            // Several on either side: joining pieces makes some turns dearer than others.
            match at {
                3..=8 => early.push(spent),
                198..=205 => late.push(spent),
                _ => {}
            }
        }
    }
    (median(late), median(early))
}

fn spec() -> Arc<Spec> {
    let schema = r#"{"type":"object","properties":{"text":{"type":"string"}}}"#;
    let schema = RawJson::parse(schema).expect("JSON");
    Arc::new(Spec {
        prompt: PromptSpec {
            system: "You are a careful assistant. ".repeat(100).into(),
            ..PromptSpec::default()
        },
        tools: ToolSpec {
            definitions: (0..10)
                .map(|n| {
                    ToolDefinition::new(format!("tool_{n}"), "x".repeat(1_000), schema.clone())
                })
                .collect(),
            ..ToolSpec::default()
        },
        model: ModelSpec {
            stream: false,
            ..ModelSpec::default()
        },
        ..Spec::default()
    })
}

fn new_session(spec: &Arc<Spec>, n: usize) -> Session {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&(n as u64).to_le_bytes());
    Session::new(spec.clone(), uuid_v4(id), [7; 32])
}

/// A prompt and its answer, half a KiB each.
fn turn(session: &mut Session) {
    let now = Now::default();
    session
        .handle(now, Input::Prompt(Prompt::text(&"question ".repeat(50))))
        .expect("a prompt");
    let mut model = None;
    while let Some(output) = session.poll() {
        if let Output::Effect(id, Effect::Http(_)) = output {
            model = Some(id);
        }
    }
    let model = model.expect("a request");
    let body = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{{"type":"text","text":"{}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":9,"output_tokens":9}}}}"#,
        "answer ".repeat(65)
    );
    let head = Answer::HttpHead {
        status: 200,
        headers: vec![("content-type".into(), "application/json".into())],
    };
    for answer in [head, Answer::HttpBody(body.into()), Answer::HttpEnd] {
        session
            .handle(now, Input::Answer(model, answer))
            .expect("an answer");
        while session.poll().is_some() {}
    }
    assert!(session.is_idle(), "the turn is over");
}
