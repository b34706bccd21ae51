//! What lasts from one command to the next: the host says what, and the session keeps it and judges from it.

use serde_json::json;
use windlass_core::{
    Input, Spec,
    effect::{Answer, Effect, ResolvedPath, Stage},
    hook::{HookEvent, HookMatcher},
    permission::Mode,
    tool::{ApprovedCommand, ShellState, ShellVariable, ToolCall, ToolResult},
};

use crate::harness::{Bench, CWD, Reply, asking_spec, bash, rules, spec_with, tool};

fn left(directory: &str) -> ShellState {
    ShellState {
        directory: directory.into(),
        confined_variables: Vec::new(),
        variables: vec![ShellVariable {
            name: "STAGE".into(),
            value: Some("test".into()),
            exported: true,
        }],
        definitions: "greet () { echo hi; }\n".into(),
    }
}

fn result(shell: ShellState) -> ToolResult {
    ToolResult {
        shell: Some(Box::new(shell)),
        ..ToolResult::text("done")
    }
}

fn allowing(allowed: &[&str]) -> Spec {
    let mut spec = spec_with(vec![bash(), tool("Note")]);
    spec.policy.permissions.rules.allow = rules(allowed);
    spec
}

/// Runs a command that leaves this behind.
fn leaves(bench: &mut Bench, id: &str, command: &str, shell: ShellState) -> ToolCall {
    bench.reply(&Reply::call(id, "Bash", json!({ "command": command })));
    let (effect, call) = bench.call(id);
    bench.answer(effect, Answer::Tool(result(shell)));
    call
}

fn asks_for(bench: &mut Bench, id: &str, command: &str) -> Vec<String> {
    bench.reply(&Reply::call(id, "Bash", json!({ "command": command })));
    let (effect, asked) = bench.of(Stage::Resolve);
    let Effect::Resolve(paths) = asked else {
        panic!("{asked:?}");
    };
    let paths: Vec<String> = paths.into_iter().map(|path| path.path).collect();
    let real = |path: &String| Ok(ResolvedPath::at(path.clone()));
    let real = paths.iter().map(real).collect();
    bench.answer(effect, Answer::Resolved(real));
    paths
}

#[test]
fn tool_6_a_command_begins_where_the_last_one_ended_and_is_judged_from_there() {
    let mut spec = allowing(&["Bash(make:*)"]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let first = leaves(&mut bench, "a", "make all", left(&format!("{CWD}/sub")));
    assert_eq!(first.shell, None);
    let asked = asks_for(&mut bench, "b", "touch made");
    assert_eq!(asked, [format!("{CWD}/sub/made")]);
    let (_, call) = bench.call("b");
    assert_eq!(call.shell.as_deref(), Some(&left(&format!("{CWD}/sub"))));
    let Some(ApprovedCommand::Plan(plan)) = call.command else {
        panic!("{:?}", call.command);
    };
    assert_eq!(plan.directory, format!("{CWD}/sub"));
    assert_eq!(plan.files[0].written, format!("{CWD}/sub/made"));
}

#[test]
fn tool_6_a_command_that_leaves_the_workspace_takes_only_itself_there() {
    let mut bench = Bench::new(allowing(&["Bash"]));
    bench.prompt("go");
    leaves(&mut bench, "a", "make all", left("/etc"));
    let said =
        bench.lines_of("user").last().unwrap()["message"]["content"][0]["content"].to_string();
    assert!(
        said.contains("outside of the workspace: the next one begins in"),
        "{said}"
    );
    let next = leaves(&mut bench, "b", "pwd", left(CWD));
    let shell = next.shell.unwrap();
    assert_eq!(shell.directory, CWD);
    // All else lasts.
    assert_eq!(shell.variables, left(CWD).variables);
}

#[test]
fn tool_6_what_lasts_is_in_snapshots_and_forks_and_a_result_without_changes_nothing() {
    let spec = allowing(&["Bash"]);
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    let state = left(&format!("{CWD}/sub"));
    leaves(&mut bench, "a", "make all", state.clone());
    let again = {
        bench.reply(&Reply::call("b", "Bash", json!({ "command": "pwd" })));
        let (effect, call) = bench.call("b");
        bench.answer(effect, Answer::Tool(ToolResult::text("sub")));
        call
    };
    assert_eq!(again.shell.as_deref(), Some(&state));
    bench.says("done");
    let snapshot = bench.session.snapshot().unwrap();
    let restored = windlass_core::Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
    let (fork, _) = bench
        .session
        .fork(crate::harness::session_id(), [7; 32], None);
    for (session, is_restored) in [(restored, true), (fork, false)] {
        bench.session = session;
        bench.pending.clear();
        if is_restored {
            bench.input(Input::Resumed { live: Vec::new() });
        }
        bench.prompt("again");
        bench.reply(&Reply::call("c", "Bash", json!({ "command": "pwd" })));
        assert_eq!(bench.call("c").1.shell.as_deref(), Some(&state));
    }
}

/// What was approved is kept with a call that runs: what goes on from a snapshot runs nothing else.
#[test]
fn perm_3_what_was_approved_is_in_the_snapshot_of_a_call_that_runs() {
    for (allowed, kept) in [("Bash(make:*)", "\"plan\""), ("Bash", "\"as_written\"")] {
        let mut bench = Bench::new(allowing(&[allowed]));
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Bash", json!({ "command": "make all" })));
        let (_, call) = bench.call("a");
        let snapshot = String::from_utf8(bench.session.snapshot().unwrap()).unwrap();
        let command = serde_json::to_string(&call.command).unwrap();
        assert!(command.contains(kept), "{command}");
        assert!(snapshot.contains(&command), "{command}\n{snapshot}");
    }
}

#[test]
fn tool_6_only_tools_that_run_commands_leave_something_behind() {
    let mut bench = Bench::new(allowing(&["Bash", "Note"]));
    bench.prompt("go");
    bench.reply(&Reply::call("n", "Note", json!({})));
    let (effect, call) = bench.call("n");
    assert_eq!(call.shell, None);
    bench.answer(effect, Answer::Tool(result(left(&format!("{CWD}/sub")))));
    bench.reply(&Reply::call("b", "Bash", json!({ "command": "pwd" })));
    assert_eq!(bench.call("b").1.shell, None);
}

#[test]
fn tool_6_a_rule_for_a_line_or_a_program_beside_it_means_the_working_directory() {
    for line in ["./deploy --now", "eval ls"] {
        let mut spec = asking_spec(vec![bash()]);
        spec.policy.permissions.rules.allow = rules(&["Bash(make:*)", &format!("Bash({line})")]);
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        // Where the rule was written for, it lets the line pass.
        leaves(&mut bench, "a", line, left(CWD));
        leaves(&mut bench, "b", "make all", left(&format!("{CWD}/sub")));
        bench.reply(&Reply::call("c", "Bash", json!({ "command": line })));
        let (_, question) = bench.question();
        assert!(
            question
                .decision_reason
                .ends_with(&format!("it runs in {CWD}/sub")),
            "{}",
            question.decision_reason
        );
    }
}

#[test]
fn hook_8_hooks_hear_of_a_command_that_ends_elsewhere() {
    let mut spec = allowing(&["Bash"]);
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::CwdChanged,
        ["watch".to_owned()],
    )];
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    leaves(&mut bench, "a", "pwd", left(CWD));
    assert!(
        !bench
            .pending
            .iter()
            .any(|(_, effect)| matches!(effect, Effect::RunHook(_)))
    );
    leaves(&mut bench, "b", "make all", left(&format!("{CWD}/sub")));
    let told = bench.pending.iter().find_map(|(_, effect)| match effect {
        Effect::RunHook(call) => Some(call.input.get().to_owned()),
        _ => None,
    });
    let told = told.expect("a hook is told");
    assert!(
        told.contains(&format!("\"old_cwd\":\"{CWD}\",\"new_cwd\":\"{CWD}/sub\"")),
        "{told}"
    );
}
