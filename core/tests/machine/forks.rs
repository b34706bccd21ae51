//! What a fork takes along beside the conversation: permissions, choices, and what was seen of files.

use serde_json::json;
use windlass_core::{
    Input, Session, Spec,
    effect::{Answer, PermissionResponse, ResolvedPath, Stage},
    permission::Mode,
    spec::{Effort, Thinking},
    tool::{Access, Observation, ToolDefinition, ToolResult},
    uuid_v4,
};

use crate::{
    harness::{Bench, Reply, asking_spec, bash, file_tool, spec_with, tool},
    restored_state::{decides, what_was_decided_holds},
};

fn fork_of(bench: &Bench, spec: Spec) -> Bench {
    let mut fork = Bench::new(spec);
    fork.session = forked(&bench.session, None);
    fork
}

fn forked(session: &Session, messages: Option<usize>) -> Session {
    session.fork(uuid_v4([5; 16]), [9; 32], messages).0
}

#[test]
fn perm_6_what_a_person_decided_while_a_session_ran_holds_in_its_fork() {
    let spec = || {
        asking_spec(vec![
            bash(),
            file_tool("Edit", Access::Write),
            tool("mcp__calc__add"),
        ])
    };
    let mut bench = Bench::new(spec());
    decides(&mut bench);
    bench.prompt("go");
    bench.says("done");
    // In the session itself and in its fork, and in a fork of that.
    let first = fork_of(&bench, spec());
    let second = fork_of(&first, spec());
    for mut bench in [bench, first, second] {
        assert_eq!(bench.session.mode(), Mode::AcceptEdits);
        what_was_decided_holds(&mut bench);
        bench.reply(&Reply::call("d", "mcp__calc__add", json!({})));
        bench.question();
    }
}

#[test]
fn api_3_a_server_that_is_guarded_is_guarded_in_a_fork() {
    let spec = || {
        let mut spec = spec_with(vec![tool("mcp__calc__add"), tool("mcp__notes__read")]);
        spec.policy.permissions.can_ask = true;
        spec
    };
    let mut bench = Bench::new(spec());
    bench.input(Input::GuardServer {
        server: "calc".into(),
        is_guarded: true,
    });
    let mut fork = fork_of(&bench, spec());
    fork.prompt("go");
    fork.reply(&Reply::call("a", "mcp__notes__read", json!({})));
    fork.finish("a", "read");
    fork.reply(&Reply::call("b", "mcp__calc__add", json!({})));
    assert!(fork.calls().is_empty());
    fork.question();
}

#[test]
fn sess_1_a_fork_asks_the_model_that_was_chosen_as_it_was_chosen_to_be_asked() {
    let mut bench = Bench::new(spec_with(vec![]));
    bench.prompt("go");
    bench.says("done");
    bench.input(Input::SetModel(Some("claude-opus-4-6".into())));
    bench.input(Input::SetEffort(Some(Effort::Low)));
    bench.input(Input::SetThinking(Some(Thinking::Enabled {
        budget_tokens: Some(2_000),
    })));
    let mut fork = fork_of(&bench, spec_with(vec![]));
    assert_eq!(fork.session.model(), "claude-opus-4-6");
    for bench in [&mut bench, &mut fork] {
        bench.prompt("go on");
    }
    let (body, of_fork) = (bench.body(), fork.body());
    assert_eq!(of_fork["model"], "claude-opus-4-6");
    assert_eq!(of_fork["thinking"], body["thinking"]);
    assert_eq!(of_fork["output_config"], body["output_config"]);
    assert_ne!(of_fork["thinking"], json!(null));
    assert_ne!(of_fork["output_config"], json!(null));
}

/// A tool that changes only what has been read.
fn edit() -> ToolDefinition {
    let mut edit = file_tool("Edit", Access::Write);
    edit.paths[0].read_first = true;
    edit
}

fn seen(path: &str, digest: &str) -> Observation {
    Observation {
        path: path.into(),
        digest: digest.into(),
        whole: true,
    }
}

/// Asks for a file that is there to be edited.
fn edits(bench: &mut Bench, call: &str, path: &str) {
    bench.reply(&Reply::call(call, "Edit", json!({ "file_path": path })));
    let (id, _) = bench.of(Stage::Resolve);
    let real = ResolvedPath {
        exists: true,
        ..ResolvedPath::at(path)
    };
    bench.answer(id, Answer::Resolved(vec![Ok(real)]));
}

#[test]
fn tool_2_a_file_that_was_read_before_a_fork_counts_as_read_in_it() {
    let spec = || asking_spec(vec![file_tool("Read", Access::Read), edit()]);
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call("a", "Read", json!({"file_path": "/work/a"})));
    bench.resolve();
    bench.decide(PermissionResponse::allow());
    let (id, _) = bench.call("a");
    let observed = seen("/work/a", "sha256:00");
    let result = ToolResult {
        observed: vec![observed.clone()],
        ..ToolResult::text("text")
    };
    bench.answer(id, Answer::Tool(result));
    bench.says("done");
    for messages in [None, Some(1)] {
        let mut fork = Bench::new(spec());
        fork.session = forked(&bench.session, messages);
        fork.prompt("go on");
        edits(&mut fork, "b", "/work/b");
        let told = fork.body()["messages"].to_string();
        assert!(told.contains("/work/b has not been read yet"), "{told}");
        edits(&mut fork, "c", "/work/a");
        fork.decide(PermissionResponse::allow());
        assert_eq!(fork.call("c").1.observed, std::slice::from_ref(&observed));
    }
    // What is read in the one is not read in the other.
    let mut fork = Bench::new(spec());
    fork.session = forked(&bench.session, None);
    fork.input(Input::Seen(seen("/work/b", "sha256:01")));
    bench.prompt("go on");
    edits(&mut bench, "d", "/work/b");
    let told = bench.body()["messages"].to_string();
    assert!(told.contains("/work/b has not been read yet"), "{told}");
}
