//! Calls in the background: detached from the conversation, read, stopped, and heard of at their end.

use serde_json::{Value, json};
use windlass_core::{
    Input, Session, Spec,
    effect::{Answer, Stage},
    hook::{HookEvent, HookMatcher},
    tool::{Access, Observation, RetryClass, ToolDefinition, ToolResult},
    tools::CoreTool,
};

use crate::{
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, bash, file_tool, rules, spec_with, tool},
};

fn background_bash() -> ToolDefinition {
    let mut bash = bash();
    bash.background_param = Some("run_in_background".into());
    bash
}

fn spec() -> Spec {
    let mut spec = spec_with(vec![background_bash(), tool("Note")]);
    spec.offer([CoreTool::TaskOutput, CoreTool::TaskStop]);
    spec
}

/// A session with a server running in the background, and the server's task.
fn serving() -> (Bench, String) {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let input =
        json!({"command": "serve --port 1", "description": "Serve", "run_in_background": true});
    bench.reply(&Reply::call("s", "Bash", input));
    let task = output(&bench, "s")["backgroundTaskId"]
        .as_str()
        .unwrap()
        .to_owned();
    (bench, task)
}

fn output(bench: &Bench, call: &str) -> Value {
    let lines = bench.lines_of("user");
    let found = lines
        .iter()
        .find(|l| l["message"]["content"][0]["tool_use_id"] == call);
    found.unwrap_or_else(|| panic!("no result of {call}"))["tool_use_result"].clone()
}

fn text(bench: &Bench, call: &str) -> String {
    let lines = bench.lines_of("user");
    let found = lines
        .iter()
        .find(|l| l["message"]["content"][0]["tool_use_id"] == call);
    found.unwrap()["message"]["content"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn notices(bench: &Bench) -> Vec<Value> {
    let lines = bench.lines_of("system");
    lines
        .into_iter()
        .filter(|line| line["subtype"] == "task_notification")
        .collect()
}

#[test]
fn loop_31_a_call_in_the_background_is_answered_at_once_and_announced() {
    let (mut bench, task) = serving();
    assert_eq!(
        output(&bench, "s"),
        json!({
            "stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": task,
        })
    );
    bench.says("It runs.");
    assert!(bench.session.is_idle(), "nobody waits for it");
    let (id, call) = bench.call("s");
    assert_eq!((id.turn, id.call), (1, 1));
    assert!(call.input.get().contains("serve"));
    let started = bench
        .lines_of("system")
        .into_iter()
        .find(|l| l["subtype"] == "task_started")
        .unwrap();
    assert_eq!(
        (
            &started["task_id"],
            &started["tool_use_id"],
            &started["description"],
            &started["task_type"]
        ),
        (
            &json!(task),
            &json!("s"),
            &json!("Serve"),
            &json!("local_bash")
        )
    );
    bench.wait(2_000);
    bench.answer(id, Answer::Progress("still there".into()));
    let progress = &bench.lines_of("tool_progress")[0];
    assert_eq!(
        (&progress["task_id"], &progress["elapsed_time_seconds"]),
        (&json!(task), &json!(2))
    );
    bench.answer(id, Answer::Tool(ToolResult::error("port in use")));
    let ended = &notices(&bench)[0];
    assert_eq!(
        (&ended["status"], &ended["output_file"]),
        (&json!("failed"), &json!(""))
    );
    assert_eq!(ended["summary"], "The background call \"Serve\" has failed");
    bench.prompt("well?");
    let body = bench.body();
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(
        last["content"][0]["text"].as_str().unwrap().contains(&task),
        "{last}"
    );
    assert_eq!(last["content"][1]["text"], "well?");
}

#[test]
fn api_11_a_call_that_was_stopped_begins_no_turn_and_is_heard_of_with_the_next_prompt() {
    let mut spec = spec();
    spec.tools.tasks.wake = true;
    for by_whom in [false, true] {
        let mut bench = Bench::new(spec.clone());
        bench.prompt("go");
        let input = json!({"command": "serve", "description": "Serve", "run_in_background": true});
        bench.reply(&Reply::call("s", "Bash", input));
        let task = output(&bench, "s")["backgroundTaskId"]
            .as_str()
            .unwrap()
            .to_owned();
        let (id, _) = bench.call("s");
        bench.says("It runs.");
        if by_whom {
            bench.input(Input::StopTask(task.clone()));
        }
        bench.answer(id, Answer::Tool(ToolResult::error("interrupted")));
        assert_eq!(notices(&bench).len(), 1);
        assert_eq!(
            bench.session.is_idle(),
            by_whom,
            "what ends by itself is told at once"
        );
        if by_whom {
            bench.prompt("well?");
            let body = bench.body();
            let last = body["messages"].as_array().unwrap().last().unwrap();
            assert!(last.to_string().contains("was stopped"), "{last}");
        }
    }
}

#[test]
fn tool_24_output_can_be_read_while_the_task_runs_and_after() {
    let (mut bench, task) = serving();
    let (id, _) = bench.call("s");
    bench.answer(id, Answer::Output("ready\nGET /\n".into()));
    bench.answer(id, Answer::Output("GET /favicon\n".into()));
    bench.reply(&Reply::call(
        "o",
        "TaskOutput",
        json!({"task_id": task, "block": false, "timeout": 0}),
    ));
    assert_eq!(
        output(&bench, "o"),
        json!({
            "task_id": task, "task_type": "local_bash", "status": "running", "description": "Serve",
            "output": "ready\nGET /\nGET /favicon\n",
        })
    );
    bench.reply(&Reply::call(
        "f",
        "BashOutput",
        json!({"bash_id": task, "filter": "^GET /$"}),
    ));
    assert_eq!(output(&bench, "f")["output"], "GET /");
    assert!(text(&bench, "f").ends_with("running\n\nGET /"));
    bench.reply(&Reply::call(
        "g",
        "BashOutput",
        json!({"bash_id": task, "filter": "("}),
    ));
    assert!(text(&bench, "g").contains("no regular expression"));
    bench.reply(&Reply::call(
        "b",
        "TaskOutput",
        json!({"task_id": task, "block": true, "timeout": 9000}),
    ));
    assert!(bench.pending_stages().len() == 1, "it waits");
    bench.answer(id, Answer::Tool(ToolResult::text("all of it")));
    assert_eq!(
        (
            output(&bench, "b")["status"].as_str(),
            output(&bench, "b")["output"].as_str()
        ),
        (Some("completed"), Some("all of it"))
    );
}

#[test]
fn tool_24_only_the_end_of_a_long_output_is_kept() {
    let (mut bench, task) = serving();
    let (id, _) = bench.call("s");
    for i in 0..10_000 {
        bench.answer(id, Answer::Output(format!("line {i} ä\n")));
    }
    bench.reply(&Reply::call(
        "o",
        "TaskOutput",
        json!({"task_id": task, "block": false}),
    ));
    let kept = output(&bench, "o")["output"].as_str().unwrap().to_owned();
    assert!(kept.len() <= 30_000 && kept.starts_with("line ") && kept.ends_with("line 9999 ä\n"));
}

#[test]
fn tool_24_a_task_is_stopped_under_the_present_and_the_older_name() {
    for (name, key) in [
        ("TaskStop", "task_id"),
        ("TaskStop", "shell_id"),
        ("KillBash", "shell_id"),
    ] {
        let (mut bench, task) = serving();
        let (id, _) = bench.call("s");
        bench.reply(&Reply::call("k", name, json!({key: task})));
        assert_eq!(
            output(&bench, "k"),
            json!({
                "message": format!("The task {task} (Serve) is being stopped."), "task_id": task,
                "task_type": "local_bash", "command": "serve --port 1",
            })
        );
        assert_eq!(bench.cancelled(), [id]);
        bench.answer(id, Answer::Cancelled);
        assert_eq!(notices(&bench)[0]["status"], "stopped");
    }
    let (mut bench, _) = serving();
    bench.reply(&Reply::call("k", "TaskStop", json!({})));
    assert!(text(&bench, "k").contains("needs the task_id"));
}

#[test]
fn api_11_a_stopped_task_that_does_not_end_is_given_up() {
    let (mut bench, task) = serving();
    bench.says("It runs.");
    bench.input(Input::StopTask(task));
    bench.tick();
    assert!(bench.pending.is_empty(), "abandoned");
    assert_eq!(notices(&bench)[0]["status"], "stopped");
}

#[test]
fn an_interrupt_leaves_it_running_and_the_end_of_input_does_not() {
    let (mut bench, _) = serving();
    let (id, _) = bench.call("s");
    bench.interrupt();
    let (model, _) = bench.asked();
    assert_eq!(bench.cancelled(), [model]);
    bench.answer(model, Answer::Cancelled);
    assert_eq!(bench.results().len(), 1);
    bench.input(Input::End);
    assert_eq!(bench.cancelled(), [model, id]);
}

#[test]
fn any_running_call_can_be_put_into_the_background() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    assert!(!bench.session.can_background(None));
    bench.reply(&Reply::call("n", "Note", json!({})));
    assert!(bench.session.can_background(Some("n")) && bench.session.can_background(None));
    assert!(!bench.session.can_background(Some("another")));
    bench.input(Input::Background(None));
    assert!(!bench.session.can_background(None));
    let moved = output(&bench, "n");
    assert_eq!(moved["backgroundedByUser"], true);
    bench.says("Meanwhile.");
    let task = moved["backgroundTaskId"].as_str().unwrap().to_owned();
    let put_out = |bench: &Bench| bench.session.task_output(&task).unwrap().text.to_owned();
    assert_eq!(put_out(&bench), "");
    bench.finish("n", "noted");
    assert_eq!(notices(&bench)[0]["status"], "completed");
    assert_eq!(put_out(&bench), "noted");
    assert!(!bench.session.task_output(&task).unwrap().is_cut);
    assert_eq!(bench.session.task_output("nobody"), None);
}

#[test]
fn perm_rules_hold_for_calls_in_the_background() {
    let mut spec = spec();
    spec.policy.permissions.rules.deny = rules(&["Bash(serve:*)"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call(
        "s",
        "Bash",
        json!({"command": "serve", "run_in_background": true}),
    ));
    assert!(bench.calls().is_empty());
    assert!(text(&bench, "s").contains("denied"));
}

#[test]
fn a_restored_session_says_that_a_lost_task_is_over() {
    for live in [true, false] {
        let mut spec = spec();
        spec.tools.definitions[0].retry = RetryClass::RunAgain;
        let (mut bench, task) = serving();
        bench.says("It runs.");
        let (id, _) = bench.call("s");
        let snapshot = bench.session.snapshot().unwrap();
        bench.session = Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
        let still = if live { vec![id] } else { Vec::new() };
        bench.input(Input::Resumed { live: still });
        if live {
            bench.answer(id, Answer::Tool(ToolResult::text("served")));
            assert_eq!(notices(&bench)[0]["status"], "completed");
        } else {
            assert_eq!(
                (
                    &notices(&bench)[0]["status"],
                    &notices(&bench)[0]["task_id"]
                ),
                (&json!("failed"), &json!(task))
            );
        }
    }
}

#[test]
fn what_a_call_in_the_background_saw_is_handed_to_later_calls_once_it_ended() {
    let spec = || {
        let mut read = file_tool("Read", Access::Read);
        read.background_param = Some("run_in_background".into());
        spec_with(vec![read, file_tool("Edit", Access::Write)])
    };
    for by_person in [false, true] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let input = json!({"file_path": "/work/x", "run_in_background": !by_person});
        bench.reply(&Reply::call("r", "Read", input));
        bench.resolve();
        if by_person {
            bench.input(Input::Background(None));
        }
        let (id, _) = bench.call("r");
        let edits = |bench: &mut Bench, call: &str| {
            let input = json!({"file_path": "/work/x"});
            bench.reply(&Reply::call(call, "Edit", input));
            bench.resolve();
            let observed = bench.call(call).1.observed;
            bench.finish(call, "done");
            observed
        };
        assert!(edits(&mut bench, "a").is_empty(), "it has not ended");
        let seen = Observation {
            path: "/work/x".into(),
            digest: "sha256:00".into(),
            whole: true,
        };
        let result = ToolResult {
            observed: vec![seen.clone()],
            ..ToolResult::text("text")
        };
        bench.answer(id, Answer::Tool(result));
        assert_eq!(edits(&mut bench, "b"), std::slice::from_ref(&seen));
        put_away_and_taken_up(&mut bench, spec());
        assert_eq!(edits(&mut bench, "c"), [seen]);
    }
}

/// A hook still looks at what the model is told of the task.
#[test]
fn a_lost_task_is_not_begun_again_whatever_its_call_may() {
    let spec = || {
        let mut spec = spec();
        spec.tools.definitions[0].retry = RetryClass::RunAgain;
        spec.policy.hooks = vec![HookMatcher::new(
            HookEvent::PostToolUse,
            ["watch".to_owned()],
        )];
        spec
    };
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    let input = json!({"command": "serve", "run_in_background": true});
    bench.reply(&Reply::call("s", "Bash", input));
    let stage = Stage::Hook(HookEvent::PostToolUse, 1);
    let (hook, _) = bench.of(stage);
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(std::sync::Arc::new(spec()), &snapshot).unwrap();
    bench.pending.retain(|(id, _)| *id == hook);
    bench.input(Input::Resumed { live: vec![hook] });
    assert_eq!(bench.pending_stages(), [stage]);
    assert_eq!(notices(&bench)[0]["status"], "failed");
}
