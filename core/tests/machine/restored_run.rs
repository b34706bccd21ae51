//! A run that was put away in its middle goes on as one that stayed: its books, its limits, and what it waits for.

use serde_json::json;
use windlass_core::{
    Input, Phase, Prompt, RawJson, Spec,
    effect::{Answer, Delivery, PermissionResponse, Stage},
    hook::{HookEvent, Occurrence, input::Notification},
    spec::Thinking,
    tool::{Access, ToolResult},
    tools::{CoreTool, enter_worktree::EnterWorktreeOutput},
};

use crate::{
    harness::{Bench, MODEL, Reply, asking_spec, bash, file_tool, raw, spec_with, tool, tool_use},
    restored_state::{hook_says, the_same, watching},
    subagents::{defined, names, reply, request, task},
};

const OTHER: &str = "claude-haiku-4-5";

fn overloaded() -> Reply {
    Reply::error(529, "overloaded_error", "full")
}

fn noting() -> Spec {
    spec_with(vec![tool("Note")])
}

/// The same with a transcript, whose writing is where such a session may be put away without anything being asked again.
fn written() -> Spec {
    {
        let mut spec = noting();
        spec.policy.persist = true;
        spec
    }
}

fn note(id: &str) -> Reply {
    Reply::call(id, "Note", json!({}))
}

#[test]
fn loop_5_times_denials_and_calls_are_in_the_result() {
    let spec = || {
        let mut spec = asking_spec(vec![tool("Note")]);
        spec.stream.tool_use_summaries = true;
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.wait(700);
        bench.reply(&Reply::message(&[
            tool_use("a", "Note", json!({})),
            tool_use("b", "Note", json!({})),
            tool_use("c", "Note", json!({})),
        ]));
        bench.decide(PermissionResponse::deny("not that"));
        bench.decide(PermissionResponse::allow());
        let (id, _) = bench.call("b");
        bench.answer(id, Answer::Tool(ToolResult::error("no ink")));
        bench.decide(PermissionResponse::allow());
    };
    let after = |bench: &mut Bench| {
        bench.finish("c", "noted");
        bench.wait(300);
        bench.says("done");
        let result = bench.result();
        assert_eq!(result.permission_denials.len(), 1);
        assert_eq!(result.duration_api_ms, 1_000);
        let told = bench.lines_of("tool_use_summary");
        assert_eq!(told[0]["summary"], "Note 3 times (2 failed)");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn perm_5_a_call_that_was_allowed_with_other_input_is_not_asked_about_again() {
    let spec = || asking_spec(vec![file_tool("Read", Access::Read)]);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Read", json!({"file_path": "/etc/a"})));
        bench.resolve();
        bench.decide(PermissionResponse::Allow {
            updated_input: Some(raw(&json!({"file_path": "/etc/b"}))),
            updated_permissions: vec![],
        });
        assert_eq!(bench.pending_stages(), [Stage::Resolve]);
    };
    let after = |bench: &mut Bench| {
        bench.resolve();
        assert_eq!(bench.call("a").1.grant.roots[0].path, "/etc/b");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn perm_11_a_call_that_a_person_is_asked_about_has_its_files() {
    let spec = || asking_spec(vec![file_tool("Read", Access::Read)]);
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Read", json!({"file_path": "/etc/a"})));
        bench.resolve();
        bench.question();
    };
    let after = |bench: &mut Bench| {
        bench.decide(PermissionResponse::allow());
        assert_eq!(bench.call("a").1.grant.roots[0].path, "/etc/a");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn a_response_that_the_server_paused_is_gone_on_with() {
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        let words = [json!({"type": "text", "text": "Wait."})];
        bench.reply(&Reply::stopped(&words, "pause_turn"));
    };
    let after = |bench: &mut Bench| {
        bench.saved();
        assert_eq!(bench.session.phase(), Phase::Calling);
        bench.says("Here it is.");
    };
    the_same(&written, &before, &after);
}

#[test]
fn loop_11_a_request_that_failed_is_made_again_when_it_was_to_be() {
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&overloaded());
    };
    let after = |bench: &mut Bench| {
        assert!(bench.session.deadline().is_some());
        bench.tick();
        bench.says("done");
    };
    the_same(&noting, &before, &after);
}

#[test]
fn loop_12_the_fallback_answers_to_the_end_with_its_own_count_of_tries() {
    let spec = || {
        let mut spec = noting();
        spec.model.fallback = Some(OTHER.to_owned());
        spec.model.retry.retries_before_fallback = 1;
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&overloaded());
        bench.tick();
        bench.reply(&overloaded());
        assert_eq!(bench.body()["model"], OTHER);
        bench.reply(&overloaded());
    };
    let after = |bench: &mut Bench| {
        bench.tick();
        assert_eq!(bench.body()["model"], OTHER);
        bench.reply(&overloaded());
        let last = bench.retries().pop().map(|retry| retry.attempt);
        assert_eq!(last, Some(2));
        bench.tick();
        bench.says("done");
        bench.prompt("again");
        assert_eq!(bench.body()["model"], MODEL);
    };
    the_same(&spec, &before, &after);
}

#[test]
fn loop_16_a_prompt_that_wants_no_answer_gets_none() {
    let before = |bench: &mut Bench| {
        let prompt = Prompt::text("For later.").delivered(Delivery::Append);
        bench.input(Input::Prompt(prompt));
    };
    let after = |bench: &mut Bench| {
        bench.saved();
        assert!(bench.session.is_idle() && bench.requests().is_empty());
    };
    the_same(&written, &before, &after);
}

#[test]
fn loop_13_a_transcript_that_could_not_be_written_is_not_tried_again_in_the_run() {
    let spec = || {
        let mut spec = written();
        spec.policy.hooks = vec![watching(HookEvent::Notification)];
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        bench.reply(&note("a"));
        bench.input(Input::Occurred(Occurrence::Notification(Notification {
            message: "look here".into(),
            title: None,
            notification_type: "idle_prompt".into(),
        })));
        let (id, _) = bench.of(Stage::SaveResponse);
        bench.answer(id, Answer::PersistFailed("the disk is full".into()));
        assert_eq!(bench.session.phase(), Phase::Stopping);
    };
    let after = |bench: &mut Bench| {
        hook_says(bench, HookEvent::Notification, &json!({}));
        assert!(bench.session.is_idle() && bench.pending.is_empty());
        let errors = bench.result().errors.clone().unwrap();
        assert!(errors[0].contains("the disk is full"), "{errors:?}");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn sess_1_the_results_of_calls_are_written_with_their_output_under_their_ids() {
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        bench.reply(&Reply::message(&[
            tool_use("a", "Note", json!({})),
            tool_use("b", "Note", json!({})),
        ]));
        bench.saved();
        let (id, _) = bench.call("a");
        let result = ToolResult {
            structured: Some(raw(&json!({"stdout": "first"}))),
            ..ToolResult::text("first")
        };
        bench.answer(id, Answer::Tool(result));
    };
    let after = |bench: &mut Bench| {
        bench.finish("b", "second");
        let shown = bench.lines_of("user");
        let entries = bench.saved_all();
        assert!(entries[0].tool_use_result.is_some());
        assert_eq!(json!(entries[0].uuid), shown[0]["uuid"]);
    };
    the_same(&written, &before, &after);
}

#[test]
fn tool_24_a_call_that_waits_for_a_task_hears_of_its_end() {
    let spec = || {
        let mut bash = bash();
        bash.background_param = Some("run_in_background".into());
        let mut spec = spec_with(vec![bash]);
        spec.offer([CoreTool::TaskOutput]);
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        let input = json!({"command": "serve", "run_in_background": true});
        bench.reply(&Reply::call("s", "Bash", input));
        let lines = bench.lines_of("user");
        let id = &lines.last().unwrap()["tool_use_result"]["backgroundTaskId"];
        let input = json!({"task_id": id, "block": true, "timeout": 5_000});
        bench.reply(&Reply::call("o", "TaskOutput", input));
        assert_eq!(bench.pending_stages(), [Stage::Run]);
    };
    let ends = |bench: &mut Bench| {
        bench.finish("s", "served");
        let sent = bench.body()["messages"].to_string();
        assert!(sent.contains("served"), "{sent}");
    };
    the_same(&spec, &before, &ends);
    let is_late = |bench: &mut Bench| {
        bench.tick();
        let sent = bench.body()["messages"].to_string();
        assert!(sent.contains("running"), "{sent}");
    };
    the_same(&spec, &before, &is_late);
}

#[test]
fn loop_10_an_agent_thinks_as_it_was_begun() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Look").read_only()]);
        spec.offer([CoreTool::Task]);
        spec
    };
    let before = |bench: &mut Bench| {
        bench.input(Input::SetThinking(Some(Thinking::Enabled {
            budget_tokens: Some(2_000),
        })));
        bench.prompt("go");
        let delegates = Reply::message(&[task("t", "Explore", json!({}))]);
        bench.reply(&delegates);
        bench.input(Input::SetThinking(None));
        reply(bench, 1, &Reply::call("l", "Look", json!({})));
    };
    let after = |bench: &mut Bench| {
        bench.finish("l", "seen");
        let (_, body) = request(bench, 1);
        assert_eq!(body["thinking"]["budget_tokens"], 2_000);
    };
    the_same(&spec, &before, &after);
}

#[test]
fn sub_1_an_agent_that_waits_for_its_worktree_has_the_tools_that_it_brings_along() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Look").read_only()]);
        spec.offer([CoreTool::Task, CoreTool::EnterWorktree]);
        let definition = json!({"description": "d", "prompt": "P.", "tools": ["Look"]});
        defined(&mut spec, &definition);
        let mut own = spec.tools.agents.get("own").unwrap().clone();
        own.brings_tools = true;
        spec.tools.agents.add(own);
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        let isolated = task("t", "own", json!({"isolation": "worktree"}));
        bench.reply(&Reply::message(&[isolated]));
        let (id, _) = bench.of(Stage::Provision);
        let ready = ToolResult {
            structured: Some(RawJson::encode(&[tool("mcp__notes__read")]).unwrap()),
            ..ToolResult::text("ready")
        };
        bench.answer(id, Answer::Tool(ready));
        assert_eq!(bench.call("t").1.name, "EnterWorktree");
    };
    let after = |bench: &mut Bench| {
        let (id, _) = bench.call("t");
        let made = EnterWorktreeOutput {
            worktree_path: "/work/.trees/own".into(),
            worktree_branch: None,
            message: "It is there.".into(),
        };
        bench.answer(id, Answer::Tool(made.into_result()));
        let (_, body) = request(bench, 1);
        assert_eq!(names(&body), ["Look", "mcp__notes__read"]);
    };
    the_same(&spec, &before, &after);
}
