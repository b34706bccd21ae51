//! Rules that deny hold in every tree that the work has left: in forks, after a restore and for agents too.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Session, Spec,
    effect::Answer,
    tool::Access,
    tools::{CoreTool, enter_worktree::EnterWorktreeOutput},
    uuid_v4,
};

use crate::{
    harness::{Bench, Reply, bash, file_tool, rules, spec_with},
    subagents::{reply, request, task},
};

const FIRST: &str = "/work/.trees/one";
const SECOND: &str = "/work/.trees/two";

/// Everything may run, but for what a rule denies.
fn spec() -> Spec {
    let mut spec = spec_with(vec![bash(), file_tool("Read", Access::Read)]);
    spec.offer([CoreTool::EnterWorktree, CoreTool::Task]);
    spec.policy.permissions.rules.deny = rules(&["Read(/secret/**)"]);
    spec
}

fn enter(bench: &mut Bench, call: &str, tree: &str) {
    bench.reply(&Reply::call(call, "EnterWorktree", json!({})));
    let (id, _) = bench.call(call);
    let made = EnterWorktreeOutput {
        worktree_path: tree.into(),
        worktree_branch: None,
        message: format!("The work goes on in {tree}."),
    };
    bench.answer(id, Answer::Tool(made.into_result()));
}

/// A session that works in the second tree and has left two folders.
fn moved_twice() -> Bench {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    enter(&mut bench, "w1", FIRST);
    enter(&mut bench, "w2", SECOND);
    bench
}

/// Whether an agent (0: the main thread) may read a file; what is denied is denied by the rule.
fn may_read(bench: &mut Bench, agent: u32, call: &str, path: &str) -> bool {
    let reads = Reply::call(call, "Read", json!({ "file_path": path }));
    reply(bench, agent, &reads);
    bench.resolve();
    if let Some((_, read)) = bench.calls().pop() {
        assert_eq!(read.grant.cwd, SECOND);
        bench.finish(call, "text");
        return true;
    }
    let (_, body) = request(bench, agent);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(last.to_string().contains("/secret/**"), "{last}");
    false
}

/// What is closed in each of the three folders stays closed, and nothing else is.
fn holds_in_all(bench: &mut Bench, agent: u32) {
    for (index, (path, expected)) in [
        ("/work/secret/key".to_owned(), false),
        (format!("{FIRST}/secret/key"), false),
        (format!("{SECOND}/secret/key"), false),
        ("/work/open/key".to_owned(), true),
        (format!("{FIRST}/open/key"), true),
    ]
    .into_iter()
    .enumerate()
    {
        let call = format!("read{agent}-{index}");
        assert_eq!(may_read(bench, agent, &call, &path), expected, "{path}");
    }
}

/// A session in the place of the one that the bench had.
fn with(session: Session) -> Bench {
    let mut bench = Bench::new(spec());
    bench.session = session;
    bench
}

#[test]
fn tool_28_a_fork_is_denied_what_each_tree_that_was_left_denies() {
    let mut bench = moved_twice();
    bench.says("done");
    for messages in [None, Some(1)] {
        let (fork, _) = bench.session.fork(uuid_v4([5; 16]), [9; 32], messages);
        let mut fork = with(fork);
        fork.prompt("go on");
        holds_in_all(&mut fork, 0);
        // A fork of the fork has the same.
        fork.says("done");
        let (again, _) = fork.session.fork(uuid_v4([6; 16]), [8; 32], None);
        let mut again = with(again);
        again.prompt("go on");
        assert!(!may_read(&mut again, 0, "r", "/work/secret/key"));
    }
}

#[test]
fn tool_28_a_session_put_away_is_denied_what_each_tree_that_was_left_denies() {
    let mut bench = moved_twice();
    bench.says("done");
    let snapshot = bench.session.snapshot().unwrap();
    let mut restored = with(Session::restore(Arc::new(spec()), &snapshot).unwrap());
    restored.input(Input::Resumed { live: Vec::new() });
    restored.prompt("go on");
    holds_in_all(&mut restored, 0);
}

#[test]
fn sub_6_an_agent_is_denied_what_each_tree_that_its_parent_left_denies() {
    let mut bench = moved_twice();
    let delegates = Reply::message(&[task("t", "general-purpose", json!({}))]);
    bench.reply(&delegates);
    holds_in_all(&mut bench, 1);
}
