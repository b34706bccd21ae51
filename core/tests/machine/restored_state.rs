//! A session that was put away and taken up again says and does what the one says and does that stayed.
//!
//! Each test is about one thing that a snapshot has to hold: whatever the session is told afterwards, every output is the same.

use serde_json::json;
use windlass_core::{
    Input, Output, Prompt, Spec,
    context::InterruptedAnswer,
    effect::{Answer, Delivery, Effect, PermissionResponse, ResolvedPath, Stage},
    hook::{
        HookAnswer, HookEvent, HookMatcher, Occurrence,
        input::{SessionStart, StartSource},
    },
    message::ResultSubtype,
    permission::{
        Behavior, Destination, DirectoryChange, Mode, PermissionUpdate, Rule, RuleChange,
    },
    spec::{TaskPolicy, Thinking},
    tool::{Access, Observation, ToolResult},
    tools::CoreTool,
};

use crate::{
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, asking_spec, bash, file_tool, raw, spec_with, tool},
    subagents::{reply, says, task},
};

/// What comes out of a session after `before`, whether or not it was put away there. Nothing that a restore asks for again
/// (an exchange with the model server) may be under way at that point.
pub(crate) fn the_same(
    spec: &dyn Fn() -> Spec,
    before: &dyn Fn(&mut Bench),
    after: &dyn Fn(&mut Bench),
) {
    let outputs = [false, true].map(|is_put_away| {
        let mut bench = Bench::new(spec());
        before(&mut bench);
        if is_put_away {
            put_away_and_taken_up(&mut bench, spec());
        }
        after(&mut bench);
        bench.outputs
    });
    let [stayed, restored] = outputs;
    for (index, pair) in stayed.iter().zip(&restored).enumerate() {
        assert_eq!(pair.0, pair.1, "output {index}");
    }
    assert_eq!(stayed.len(), restored.len());
}

pub(crate) fn hook_says(bench: &mut Bench, event: HookEvent, output: &serde_json::Value) {
    let (id, _) = bench.of(Stage::Hook(event, 1));
    bench.answer(id, Answer::Hook(HookAnswer::Output(raw(output))));
}

pub(crate) fn watching(event: HookEvent) -> HookMatcher {
    HookMatcher::new(event, ["watch".to_owned()])
}

/// A person changes rules, directories and the mode while a session runs.
pub(crate) fn decides(bench: &mut Bench) {
    let add = |behavior, rule: &str| {
        PermissionUpdate::AddRules(RuleChange {
            rules: vec![Rule::parse(rule).unwrap().value()],
            behavior,
            destination: Destination::Session,
        })
    };
    bench.input(Input::UpdatePermissions(vec![
        add(Behavior::Deny, "Bash(rm:*)"),
        add(Behavior::Allow, "Bash(make:*)"),
        PermissionUpdate::AddDirectories(DirectoryChange {
            directories: vec!["/extra".into()],
            destination: Destination::Session,
        }),
    ]));
    bench.input(Input::SetMode(Mode::AcceptEdits));
}

/// The next prompt is answered as [`decides`] says.
pub(crate) fn what_was_decided_holds(bench: &mut Bench) {
    bench.prompt("go on");
    bench.reply(&Reply::call("a", "Bash", json!({"command": "rm x"})));
    bench.resolve();
    assert!(bench.calls().is_empty());
    let told = bench.body()["messages"].to_string();
    assert!(told.contains("Bash(rm:*)"), "{told}");
    bench.reply(&Reply::call("b", "Bash", json!({"command": "make all"})));
    bench.finish("b", "made");
    bench.reply(&Reply::call("c", "Edit", json!({"file_path": "/extra/a"})));
    bench.resolve();
    bench.finish("c", "edited");
}

#[test]
fn perm_6_rules_and_directories_that_were_added_while_it_ran() {
    let spec = || asking_spec(vec![bash(), file_tool("Edit", Access::Write)]);
    the_same(&spec, &decides, &what_was_decided_holds);
}

#[test]
fn tool_2_what_was_seen_of_files() {
    let spec = || {
        let mut edit = file_tool("Edit", Access::Write);
        edit.paths[0].read_first = true;
        asking_spec(vec![edit])
    };
    let before = |bench: &mut Bench| {
        bench.input(Input::Seen(Observation {
            path: "/work/a".into(),
            digest: "sha256:00".into(),
            whole: true,
        }));
    };
    let after = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("e", "Edit", json!({"file_path": "/work/a"})));
        let (id, _) = bench.of(Stage::Resolve);
        let real = ResolvedPath {
            exists: true,
            ..ResolvedPath::at("/work/a")
        };
        bench.answer(id, Answer::Resolved(vec![Ok(real)]));
        bench.decide(PermissionResponse::allow());
        assert_eq!(bench.call("e").1.observed[0].digest, "sha256:00");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn loop_34_what_was_last_told_of_the_rate_limit() {
    let limited = |bench: &mut Bench| {
        bench.prompt("go");
        let reply = Reply::text("ok")
            .with_header("anthropic-ratelimit-tokens-limit", "1000")
            .with_header("anthropic-ratelimit-tokens-remaining", "50")
            .with_header("anthropic-ratelimit-tokens-reset", "2026-01-02T03:04:05Z");
        bench.reply(&reply);
    };
    let after = |bench: &mut Bench| {
        limited(bench);
        let told = bench.lines_of("rate_limit_event");
        assert_eq!(told.len(), 1, "it is told when it changes");
    };
    the_same(&|| spec_with(vec![]), &limited, &after);
}

#[test]
fn loop_16_prompts_that_wait_for_the_next_results() {
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Note", json!({})));
        let steer = Prompt::text("Only the kitchen.").delivered(Delivery::Steer);
        bench.input(Input::Prompt(steer));
    };
    let after = |bench: &mut Bench| {
        bench.finish("a", "noted");
        let sent = bench.body()["messages"].to_string();
        assert!(sent.contains("Only the kitchen."), "{sent}");
    };
    the_same(&|| spec_with(vec![tool("Note")]), &before, &after);
}

#[test]
fn loop_13_that_a_call_was_told_to_stop() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Note")]);
        spec.policy.cancel_grace_ms = 2_000;
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Note", json!({})));
        bench.interrupt();
        assert_eq!(bench.cancelled().len(), 1);
    };
    let after = |bench: &mut Bench| {
        bench.interrupt();
        let (id, _) = bench.call("a");
        bench.tick();
        assert!(bench.outputs.contains(&Output::Abandon(id)));
        let subtype = bench.result().subtype;
        assert_eq!(subtype, ResultSubtype::ErrorDuringExecution);
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_2_how_long_a_hook_may_still_take() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Note")]);
        let mut hook = watching(HookEvent::PreToolUse);
        hook.timeout_ms = 5_000;
        spec.policy.hooks = vec![hook];
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.reply(&Reply::call("a", "Note", json!({})));
        bench.wait(4_000);
    };
    let after = |bench: &mut Bench| {
        bench.wait(999);
        bench.input(Input::Tick);
        assert!(bench.cancelled().is_empty());
        bench.wait(1);
        bench.input(Input::Tick);
        assert_eq!(bench.cancelled().len(), 1);
    };
    the_same(&spec, &before, &after);
}

#[test]
fn hook_15_that_no_prompt_has_come_yet() {
    let spec = || {
        let mut spec = spec_with(vec![]);
        spec.policy.hooks = vec![watching(HookEvent::SessionStart)];
        spec
    };
    let starts = |bench: &mut Bench| {
        bench.prompt("go");
        let (_, effect) = bench.of(Stage::Hook(HookEvent::SessionStart, 1));
        let Effect::RunHook(hook) = effect else {
            panic!("{effect:?}");
        };
        assert!(hook.input.get().contains("\"startup\""), "{hook:?}");
        hook_says(bench, HookEvent::SessionStart, &json!({}));
        bench.says("done");
    };
    the_same(&spec, &|_| {}, &starts);
    // And that one has come.
    the_same(&spec, &starts, &|bench| {
        bench.prompt("go on");
        assert_eq!(bench.pending_stages(), [Stage::Model]);
    });
}

#[test]
fn hook_11_what_a_hook_adds_to_the_next_prompt() {
    let spec = || {
        let mut spec = spec_with(vec![]);
        spec.policy.hooks = vec![watching(HookEvent::SessionStart)];
        spec
    };
    let before = |bench: &mut Bench| {
        let start = Occurrence::SessionStart(SessionStart {
            source: StartSource::Resume,
            agent_type: None,
            model: None,
        });
        bench.input(Input::Occurred(start));
        let context = json!({"hookSpecificOutput": {
            "hookEventName": "SessionStart", "additionalContext": "the build is green"}});
        hook_says(bench, HookEvent::SessionStart, &context);
    };
    let after = |bench: &mut Bench| {
        bench.prompt("go");
        let sent = bench.body()["messages"].to_string();
        assert!(sent.contains("the build is green"), "{sent}");
    };
    the_same(&spec, &before, &after);
}

#[test]
fn sess_1_the_entry_that_the_next_one_follows() {
    let spec = || {
        let mut spec = spec_with(vec![]);
        spec.policy.persist = true;
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        bench.saved();
        bench.says("done");
        bench.saved();
    };
    let after = |bench: &mut Bench| {
        bench.prompt("go on");
        assert!(bench.saved().parent.is_some());
    };
    the_same(&spec, &before, &after);
}

/// Two ends behind one response: the second run ends before it has begun anything that counts as the next response.
#[test]
fn loop_13_that_an_end_was_written_behind_the_last_response() {
    let spec = || {
        let mut spec = spec_with(vec![]);
        spec.policy.persist = true;
        spec.prompt.interrupted_answer = InterruptedAnswer::Kept;
        spec.policy.hooks = vec![watching(HookEvent::PreCompact)];
        spec.prompt.context.compaction.keep_tokens = 0;
        spec
    };
    let ends = |bench: &mut Bench| {
        bench.prompt("/compact");
        let (hook, _) = bench.of(Stage::Hook(HookEvent::PreCompact, 1));
        bench.interrupt();
        bench.answer(hook, Answer::Cancelled);
        bench.saved();
    };
    let before = |bench: &mut Bench| {
        for _ in 0..2 {
            bench.prompt("go");
            bench.saved();
            bench.says("done");
            bench.saved();
        }
        ends(bench);
    };
    the_same(&spec, &before, &ends);
}

#[test]
fn loop_10_how_the_model_was_chosen_to_think() {
    let before = |bench: &mut Bench| {
        bench.input(Input::SetThinking(Some(Thinking::Enabled {
            budget_tokens: Some(2_000),
        })));
    };
    let after = |bench: &mut Bench| {
        bench.prompt("go");
        assert_eq!(bench.body()["thinking"]["budget_tokens"], 2_000);
    };
    the_same(&|| spec_with(vec![]), &before, &after);
}

#[test]
fn loop_31_that_an_agent_which_is_waited_for_was_told_of() {
    let spec = || {
        let mut spec = spec_with(vec![tool("Look").read_only()]);
        spec.offer([CoreTool::Task]);
        spec.tools.tasks = TaskPolicy {
            announce_agents: true,
            ..TaskPolicy::default()
        };
        spec
    };
    let before = |bench: &mut Bench| {
        bench.prompt("go");
        let delegates = Reply::message(&[task("t", "Explore", json!({}))]);
        bench.reply(&delegates);
        reply(bench, 1, &Reply::call("l", "Look", json!({})));
    };
    let after = |bench: &mut Bench| {
        bench.wait(500);
        let (id, _) = bench.call("l");
        bench.answer(id, Answer::Tool(ToolResult::text("seen")));
        says(bench, 1, "Found it.");
        let told = bench.lines_of("system");
        let ends = |line: &&serde_json::Value| line["subtype"] == "task_notification";
        let ended: Vec<_> = told.iter().filter(ends).collect();
        assert_eq!(ended.len(), 1, "{told:?}");
        assert_eq!(ended[0]["summary"], "Found it.");
    };
    the_same(&spec, &before, &after);
}
