//! Snapshots of sessions in the middle of things, as each version of the schema from 2 on wrote them once: each is taken up
//! and goes on to its end. `golden.rs` has those of sessions with little in them, of every version.
//!
//! No file is ever changed. A situation that has none is written by `WINDLASS_WRITE_GOLDEN=1 cargo test … golden_sessions`.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, SNAPSHOT_VERSION, Session, Spec,
    effect::{Answer, PermissionResponse, Stage},
    output::OutputFormat,
    tool::{ToolDefinition, ToolResult},
    tools::CoreTool,
};

use crate::{
    harness::{Bench, Reply, asking_spec, bash, raw, session_id, spec_with, tool, tool_use},
    subagents::{reply, says, task},
};

/// The versions that have files.
const VERSIONS: core::ops::RangeInclusive<u32> = 2..=SNAPSHOT_VERSION;

/// The session of a situation, taken up from its file with these effects still running.
fn resumed(
    version: u32,
    name: &str,
    spec: Spec,
    begin: fn(&mut Bench),
    live: &[EffectId],
) -> Bench {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/machine/golden");
    let file = folder.join(format!("snapshot-{version}-{name}.ndjson"));
    let is_new = version == SNAPSHOT_VERSION && !file.exists();
    if is_new && std::env::var_os("WINDLASS_WRITE_GOLDEN").is_some() {
        let mut bench = Bench::new(spec.clone());
        begin(&mut bench);
        fs::write(&file, bench.session.snapshot().unwrap()).unwrap();
    }
    let snapshot = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut bench = Bench::new(spec.clone());
    bench.session = Session::restore(Arc::new(spec), &snapshot)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    bench.wait(60_000);
    bench.input(Input::Resumed {
        live: live.to_vec(),
    });
    bench
}

fn effect(agent: u32, turn: u32, call: u32, stage: Stage) -> EffectId {
    EffectId {
        session: session_id(),
        agent,
        turn,
        call,
        stage,
        attempt: 1,
    }
}

fn background_bash() -> ToolDefinition {
    let mut bash = bash();
    bash.background_param = Some("run_in_background".into());
    bash
}

fn agents_spec() -> Spec {
    let mut spec = spec_with(vec![tool("Look").read_only(), background_bash()]);
    spec.offer([CoreTool::Task, CoreTool::TaskOutput, CoreTool::TaskStop]);
    spec
}

/// One agent waits for the model, the other for a tool.
fn agents_running(bench: &mut Bench) {
    bench.prompt("look around");
    let both = [
        task("t1", "Explore", json!({})),
        task("t2", "Explore", json!({})),
    ];
    reply(bench, 0, &Reply::message(&both));
    reply(
        bench,
        2,
        &Reply::call("l", "Look", json!({"at": "the roof"})),
    );
}

#[test]
fn sess_4_running_agents_go_on_from_a_snapshot() {
    for version in VERSIONS {
        let look = effect(2, 1, 1, Stage::Run);
        let mut bench = resumed(
            version,
            "agents-running",
            agents_spec(),
            agents_running,
            &[look],
        );
        // What the model was asked is asked again, what the tool does goes on.
        assert_eq!(bench.pending_stages(), [Stage::Model]);
        bench.answer(look, Answer::Tool(ToolResult::text("a chimney")));
        says(&mut bench, 1, "Nothing in the cellar.");
        says(&mut bench, 2, "A chimney on the roof.");
        let body = bench.body().to_string();
        for words in [
            "look around",
            "Nothing in the cellar.",
            "A chimney on the roof.",
        ] {
            assert!(body.contains(words), "{words} in {body}");
        }
        bench.says("All seen.");
        let result = bench.result();
        assert_eq!(result.result.as_deref(), Some("All seen."));
        // The main thread once before and once behind, each agent once or twice: all of it is on the bill.
        assert_eq!(result.usage.output_tokens, 5 * 5);
    }
}

/// A server and an agent in the background of an idle conversation.
fn tasks_running(bench: &mut Bench) {
    bench.prompt("serve, and look around");
    let serve = json!({"command": "serve", "description": "Serve", "run_in_background": true});
    let agent = task("t", "Explore", json!({"run_in_background": true}));
    reply(
        bench,
        0,
        &Reply::message(&[tool_use("s", "Bash", serve), agent]),
    );
    let (server, _) = bench.call("s");
    bench.answer(server, Answer::Output("listening\n".into()));
    reply(bench, 0, &Reply::text("Both run."));
}

/// The notices of tasks that have ended: what and how.
fn ended(bench: &Bench) -> Vec<(String, String)> {
    let lines = bench.lines_of("system");
    let notices = lines
        .iter()
        .filter(|line| line["subtype"] == "task_notification");
    notices
        .map(|line| {
            let of = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            (of("tool_use_id"), of("status"))
        })
        .collect()
}

#[test]
fn sess_4_background_tasks_go_on_from_a_snapshot() {
    for version in VERSIONS {
        let server = effect(0, 1, 1, Stage::Run);
        let mut bench = resumed(
            version,
            "tasks-running",
            agents_spec(),
            tasks_running,
            &[server],
        );
        says(&mut bench, 1, "A chimney on the roof.");
        bench.answer(server, Answer::Output("one request\n".into()));
        bench.answer(
            server,
            Answer::Tool(ToolResult::text("listening\none request")),
        );
        let completed = |call: &str| (call.to_owned(), "completed".to_owned());
        assert_eq!(ended(&bench), [completed("t"), completed("s")]);
        // The model hears of both.
        let mut heard = String::new();
        while bench.pending_stages().contains(&Stage::Model) {
            heard += &bench.body().to_string();
            bench.says("I see.");
        }
        bench.prompt("and?");
        heard += &bench.body().to_string();
        assert!(
            heard.contains("A chimney on the roof.") && heard.contains("Serve"),
            "{heard}"
        );
        bench.says("Both are done.");
        assert!(bench.session.is_idle());

        // What the host has lost is said to have ended.
        let mut bench = resumed(version, "tasks-running", agents_spec(), tasks_running, &[]);
        let [(call, status)] = &ended(&bench)[..] else {
            panic!("{:?}", ended(&bench))
        };
        assert!(call == "s" && status != "completed", "{call} {status}");
        says(&mut bench, 1, "A chimney on the roof.");
        assert_eq!(ended(&bench)[1], completed("t"));
    }
}

fn question_pending(bench: &mut Bench) {
    bench.prompt("build it");
    bench.reply(&Reply::call("b", "Bash", json!({"command": "make"})));
    bench.question();
}

#[test]
fn sess_4_a_question_is_still_open_in_a_snapshot() {
    for version in VERSIONS {
        let spec = || asking_spec(vec![bash()]);
        let ask = effect(0, 1, 1, Stage::Ask);
        for live in [&[ask][..], &[]] {
            let mut bench = resumed(version, "question-pending", spec(), question_pending, live);
            if live.is_empty() {
                let (id, question) = bench.question();
                assert_eq!(question.input.get(), r#"{"command":"make"}"#);
                assert_eq!(question.tool_use_id, "b");
                bench.answer(id, Answer::Permission(PermissionResponse::allow()));
            } else {
                assert_eq!(bench.pending, [], "it is not asked twice");
                bench.answer(ask, Answer::Permission(PermissionResponse::allow()));
            }
            bench.finish("b", "built");
            assert!(bench.body().to_string().contains("built"));
            bench.says("Done.");
            assert_eq!(bench.result().result.as_deref(), Some("Done."));
        }
    }
}

fn compacted(bench: &mut Bench) {
    bench.prompt("the first question");
    bench.says("the first answer");
    bench.prompt("/compact");
    let (id, _) = bench.of(Stage::Summary);
    for answer in Reply::text("They asked a question.").answers() {
        bench.answer(id, answer);
    }
    assert!(bench.session.is_idle());
}

#[test]
fn sess_4_a_compacted_session_goes_on_from_a_snapshot() {
    for version in VERSIONS {
        let mut bench = resumed(
            version,
            "compacted",
            spec_with(vec![tool("Note")]),
            compacted,
            &[],
        );
        bench.prompt("the second question");
        let body = bench.body().to_string();
        assert!(body.contains("They asked a question.") && body.contains("the second question"));
        assert!(!body.contains("the first answer"), "{body}");
        bench.says("the second answer");
        assert_eq!(bench.result().result.as_deref(), Some("the second answer"));
    }
}

fn output_spec() -> Spec {
    let schema = raw(&json!({
        "type": "object",
        "properties": {"age": {"type": "integer", "minimum": 0}},
        "required": ["age"],
    }));
    let mut spec = spec_with(vec![]);
    spec.prompt.output = Some(OutputFormat::new(schema).unwrap());
    spec
}

/// Two answers have not fitted.
fn output_in_retry(bench: &mut Bench) {
    bench.prompt("how old?");
    bench.reply(&Reply::call(
        "o1",
        "StructuredOutput",
        json!({"age": "old"}),
    ));
    bench.says("Very old.");
}

#[test]
fn loop_18_structured_output_is_retried_from_a_snapshot() {
    for version in VERSIONS {
        let mut bench = resumed(
            version,
            "output-in-retry",
            output_spec(),
            output_in_retry,
            &[],
        );
        let body = bench.body();
        assert!(
            body.to_string().contains("`age`"),
            "the validator's words: {body}"
        );
        bench.reply(&Reply::call("o2", "StructuredOutput", json!({"age": 7})));
        let output: Value = bench
            .result()
            .structured_output
            .as_ref()
            .unwrap()
            .decode()
            .unwrap();
        assert_eq!(output, json!({"age": 7}));

        // The tries before count: five are left of six, so four more are the last.
        let mut bench = resumed(
            version,
            "output-in-retry",
            output_spec(),
            output_in_retry,
            &[],
        );
        let mut tries = 0;
        while bench.pending_stages().contains(&Stage::Model) {
            tries += 1;
            bench.reply(&Reply::call(
                &format!("x{tries}"),
                "StructuredOutput",
                json!({}),
            ));
        }
        assert_eq!(tries, 4);
        assert_eq!(
            bench.lines_of("result")[0]["subtype"],
            "error_max_structured_output_retries"
        );
    }
}
