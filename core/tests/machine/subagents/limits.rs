//! What an agent may, and what it costs.

use serde_json::json;
use windlass_core::{
    effect::{Answer, PermissionResponse},
    message::ResultSubtype,
    permission::Mode,
    tool::ToolResult,
    tools::CoreTool,
};

use super::{defined, output, read_result, reads, reply, request, says, spec, task, text_of};
use crate::harness::{Bench, Reply, asking_spec, rules, tool, tool_use};

#[test]
fn tool_13_task_is_refused_for_what_it_cannot_do() {
    for (input, words) in [
        (
            json!({"subagent_type": "Nobody"}),
            "no agent named Nobody. The agents are: Explore, Plan",
        ),
        (
            json!({"isolation": "worktree"}),
            "Worktrees are not available",
        ),
        (json!({"max_turns": 0}), "max_turns"),
        (json!({"prompt": ""}), "prompt"),
    ] {
        let mut bench = Bench::new(spec(Vec::new()));
        bench.prompt("go");
        reply(&mut bench, 0, &Reply::message(&[task("t1", "Plan", input)]));
        let result = read_result(&bench, "t1");
        assert_eq!(result["is_error"], true);
        assert!(text_of(&result).contains(words), "{result}");
    }
}

#[test]
fn tool_13_the_older_name_of_task_works_and_rules_for_task_cover_it() {
    let call = |bench: &mut Bench| {
        bench.prompt("go");
        let mut call = task("t1", "Plan", json!({}));
        call["name"] = "Agent".into();
        reply(bench, 0, &Reply::message(&[call]));
    };
    let mut bench = Bench::new(spec(Vec::new()));
    call(&mut bench);
    says(&mut bench, 1, "planned");
    assert_eq!(text_of(&read_result(&bench, "t1")), "planned");
    let mut denied = spec(Vec::new());
    denied.policy.permissions.rules.deny = rules(&["Task(Plan)"]);
    let mut bench = Bench::new(denied);
    call(&mut bench);
    assert!(text_of(&read_result(&bench, "t1")).contains("denied"));
}

#[test]
fn sub_7_agents_need_permission_for_task() {
    let mut asking = asking_spec(Vec::new());
    asking.offer([CoreTool::Task]);
    let mut bench = Bench::new(asking.clone());
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Plan", json!({}))]),
    );
    let (_, question) = bench.question();
    assert_eq!(
        (question.tool_name.as_str(), question.agent_id),
        ("Task", None)
    );
    bench.decide(PermissionResponse::deny("no"));
    assert_eq!(text_of(&read_result(&bench, "t1")), "no");

    asking.policy.permissions.rules.allow = rules(&["Task(Explore)"]);
    let mut bench = Bench::new(asking);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[
            task("t1", "Explore", json!({})),
            task("t2", "Plan", json!({})),
        ]),
    );
    request(&bench, 1);
    assert_eq!(
        bench.pending_stages().len(),
        2,
        "the other one is asked about"
    );
    bench.question();
}

#[test]
fn sub_2_an_agents_permissions_are_those_of_the_session() {
    let mut spec = asking_spec(vec![tool("Write"), tool("Locked")]);
    spec.offer([CoreTool::Task]);
    spec.policy.permissions.rules.allow = rules(&["Task"]);
    spec.policy.permissions.rules.deny = rules(&["Locked"]);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task(
            "t1",
            "general-purpose",
            json!({"mode": "bypassPermissions"}),
        )]),
    );
    reply(
        &mut bench,
        1,
        &Reply::message(&[
            tool_use("w", "Write", json!({})),
            tool_use("l", "Locked", json!({})),
        ]),
    );
    let (id, question) = bench.question();
    let agent_id = question.agent_id.clone().unwrap();
    assert_eq!((id.agent, question.tool_name.as_str()), (1, "Write"));
    bench.decide(PermissionResponse::Deny {
        message: "not now".into(),
        interrupt: false,
    });
    assert!(bench.calls().is_empty(), "neither runs");
    says(&mut bench, 1, "I could not.");
    assert_eq!(output(&bench, "t1")["agentId"], agent_id);
    says(&mut bench, 0, "Well.");
    let denied: Vec<&str> = (bench.result().permission_denials.iter())
        .map(|d| d.tool_name.as_str())
        .collect();
    assert_eq!(denied, ["Write", "Locked"]);
}

#[test]
fn tool_25_a_mode_of_its_own_only_narrows() {
    let general = ("general-purpose", json!({"mode": "plan"}));
    let defined_so = ("own", json!({}));
    // What is wider than the other is not taken.
    let both = ("own", json!({"mode": "bypassPermissions"}));
    for (agent, input) in [general, defined_so, both] {
        let mut spec = spec(vec![tool("Write"), reads("Look")]);
        defined(
            &mut spec,
            &json!({"description": "d", "prompt": "p", "permissionMode": "plan"}),
        );
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        let started = task("t1", agent, input);
        reply(&mut bench, 0, &Reply::message(&[started]));
        let write = tool_use("w", "Write", json!({}));
        reply(&mut bench, 1, &Reply::message(&[write]));
        let (_, body) = request(&bench, 1);
        assert!(
            body["messages"][2].to_string().contains("plan mode"),
            "{agent}: {body}"
        );
        assert_eq!(bench.session.mode(), Mode::BypassPermissions);
    }
}

#[test]
fn loop_19_cost_and_usage_of_agents_are_in_the_result() {
    let mut spec = spec(Vec::new());
    defined(
        &mut spec,
        &json!({"description": "d", "prompt": "p", "model": "claude-haiku-4-5"}),
    );
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "own", json!({}))]),
    );
    says(&mut bench, 1, "done");
    says(&mut bench, 0, "ok");
    let result = bench.result().clone();
    assert_eq!(
        (result.usage.input_tokens, result.usage.output_tokens),
        (30, 15)
    );
    assert_eq!(result.num_turns, 2, "the turns are the main thread's");
    let mut tokens = 0;
    let mut cost = windlass_core::money::Usd::default();
    for usage in result.model_usage.values() {
        tokens += usage.input_tokens;
        cost += usage.cost_usd;
    }
    assert_eq!((tokens, cost), (30, result.total_cost_usd));
    bench.prompt("more");
    says(&mut bench, 0, "yes");
    assert_eq!(bench.result().usage.input_tokens, 10, "counted once");
}

#[test]
fn loop_19_a_budget_holds_for_agents_too() {
    let mut spec = spec(vec![reads("Look")]);
    spec.policy.limits.max_budget = windlass_core::money::Usd::parse("0.0002");
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    reply(&mut bench, 1, &Reply::call("l", "Look", json!({})));
    while let Some((id, _)) = bench.calls().first().cloned() {
        bench.answer(id, Answer::Tool(ToolResult::text("x")));
    }
    assert!(bench.pending.is_empty(), "{:?}", bench.pending);
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorMaxBudgetUsd);
}
