//! Subagents: threads of their own inside the session.

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, Millis, Session, Spec,
    agent::{Agent, AgentDefinition},
    context::{MemoryFile, MemoryScope, SystemPrompt},
    effect::{Answer, Effect, PermissionResponse},
    id::Stage,
    message::ResultSubtype,
    permission::Mode,
    spec::{Effort, TaskPolicy},
    tool::{ToolDefinition, ToolResult},
    tools::{CoreTool, skill::Skill},
};

use crate::harness::{
    Bench, Reply, SEED, asking_spec, raw, rules, session_id, spec_with, tool, tool_use,
};

/// A spec with these tools and those for subagents, in which everything may run.
fn spec(mut tools: Vec<ToolDefinition>) -> Spec {
    let mut spec = spec_with(Vec::new());
    spec.offer([CoreTool::Task, CoreTool::TaskOutput, CoreTool::TaskStop]);
    spec.tools.append(&mut tools);
    spec
}

fn reads(name: &str) -> ToolDefinition {
    tool(name).read_only()
}

fn task(id: &str, agent: &str, more: Value) -> Value {
    let mut input = json!({"description": "look around", "prompt": format!("Task {id}"), "subagent_type": agent});
    for (key, value) in more.as_object().unwrap() {
        input[key] = value.clone();
    }
    tool_use(id, "Task", input)
}

fn defined(spec: &mut Spec, definition: &Value) {
    let definition: AgentDefinition = raw(definition).decode().unwrap();
    spec.agents.add(Agent::new("own", definition).unwrap());
}

/// The request of an agent that is pending.
fn request(bench: &Bench, agent: u32) -> (EffectId, Value) {
    let found = bench.pending.iter().find_map(|(id, effect)| match effect {
        Effect::Http(request) if id.agent == agent => Some((*id, request)),
        _ => None,
    });
    let (id, request) =
        found.unwrap_or_else(|| panic!("agent {agent} asks nothing: {:?}", bench.pending_stages()));
    (id, serde_json::from_slice(&request.body_bytes()).unwrap())
}

fn reply(bench: &mut Bench, agent: u32, reply: &Reply) {
    let (id, _) = request(bench, agent);
    for answer in reply.answers() {
        bench.answer(id, answer);
    }
}

fn says(bench: &mut Bench, agent: u32, text: &str) {
    reply(bench, agent, &Reply::text(text));
}

/// What the main model reads as the result of a call in its pending request.
fn read_result(bench: &Bench, call: &str) -> Value {
    let (_, body) = request(bench, 0);
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages
        .iter()
        .filter_map(|m| m["content"].as_array())
        .flatten();
    blocks
        .rev()
        .find(|block| block["tool_use_id"] == call)
        .unwrap_or_else(|| panic!("no result of {call} in {body}"))
        .clone()
}

fn text_of(result: &Value) -> String {
    match &result["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap().to_owned(),
    }
}

/// The structured output of a call.
fn output(bench: &Bench, call: &str) -> Value {
    let lines = bench.lines_of("user");
    let found = lines
        .iter()
        .find(|l| l["message"]["content"][0]["tool_use_id"] == call);
    found.unwrap_or_else(|| panic!("no result of {call}"))["tool_use_result"].clone()
}

fn system(bench: &Bench, subtype: &str) -> Vec<Value> {
    let lines = bench.lines_of("system");
    lines
        .into_iter()
        .filter(|line| line["subtype"] == subtype)
        .collect()
}

/// The file of an agent's transcript beside the session's.
fn transcript(agent: &str) -> String {
    format!("/t/{}/subagents/agent-{agent}.jsonl", session_id())
}

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[test]
fn sub_2_an_agent_starts_fresh_and_only_its_last_words_return() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("secret plans");
    reply(
        &mut bench,
        0,
        &Reply::message(&[
            json!({"type": "text", "text": "I ask."}),
            task("t1", "Explore", json!({})),
        ]),
    );
    let (id, body) = request(&bench, 1);
    assert_eq!((id.agent, id.turn, id.call), (1, 1, 0));
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [
        {"type": "text", "text": "Task t1", "cache_control": {"type": "ephemeral"}}]}])
    );
    assert_eq!(
        names(&body),
        ["TaskOutput", "Look"],
        "it starts no agents and changes nothing"
    );
    assert!(!body.to_string().contains("secret plans"));
    reply(
        &mut bench,
        1,
        &Reply::message(&[
            json!({"type": "text", "text": "Looking."}),
            tool_use("l1", "Look", json!({})),
        ]),
    );
    bench.finish("l1", "a lot of text");
    says(&mut bench, 1, "It is here.");
    let result = read_result(&bench, "t1");
    assert_eq!(text_of(&result), "It is here.");
    assert!(!request(&bench, 0).1.to_string().contains("a lot of text"));
    says(&mut bench, 0, "Done.");
    let output = output(&bench, "t1");
    assert_eq!(output["status"], "completed");
    assert_eq!(
        output["content"],
        json!([{"type": "text", "text": "It is here."}])
    );
    assert_eq!(
        (&output["totalToolUseCount"], &output["totalTokens"]),
        (&json!(1), &json!(30))
    );
    assert_eq!(
        output["usage"],
        json!({
            "input_tokens": 20, "output_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": null, "cache_creation": null,
        })
    );
    assert_eq!(output["prompt"], "Task t1");
    assert_eq!(bench.results().len(), 1, "one result for the whole answer");
    assert_eq!(system(&bench, "init").len(), 1);
}

#[test]
fn sub_2_messages_of_an_agent_carry_the_call_they_belong_to() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    reply(&mut bench, 1, &Reply::call("l1", "Look", json!({})));
    bench.finish("l1", "seen");
    says(&mut bench, 1, "Done.");
    says(&mut bench, 0, "Good.");
    let parents: Vec<Value> = bench
        .lines()
        .into_iter()
        .filter(|line| line["type"] == "assistant" || line["type"] == "user")
        .map(|line| line["parent_tool_use_id"].clone())
        .collect();
    let (main, child) = (Value::Null, json!("t1"));
    assert_eq!(
        parents,
        [&main, &child, &child, &child, &main, &main].map(Clone::clone)
    );
}

#[test]
fn an_agents_words_can_be_kept_from_the_application() {
    let mut spec = spec(vec![reads("Look")]);
    spec.tasks.tool_calls_only = true;
    spec.partial_messages = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    let words = json!({"type": "text", "text": "Looking."});
    reply(
        &mut bench,
        1,
        &Reply::message(&[words, tool_use("l1", "Look", json!({}))]),
    );
    bench.finish("l1", "seen");
    says(&mut bench, 1, "Here.");
    says(&mut bench, 0, "Good.");
    let lines = bench.lines();
    let of_agent: Vec<&Value> = lines
        .iter()
        .filter(|l| l["parent_tool_use_id"] == "t1")
        .collect();
    assert_eq!(of_agent.len(), 2, "a call and its result: {of_agent:?}");
    assert_eq!(of_agent[0]["message"]["content"][0]["name"], "Look");
    assert_eq!(
        of_agent[0]["message"]["content"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn sub_2_agents_of_one_response_run_side_by_side_under_numbers_of_their_calls() {
    for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        let mut bench = Bench::new(spec(Vec::new()));
        bench.prompt("go");
        let calls = ["a", "b", "c"].map(|id| task(id, "general-purpose", json!({})));
        reply(&mut bench, 0, &Reply::message(&calls));
        assert_eq!(bench.pending.len(), 3);
        for agent in order {
            let (_, body) = request(&bench, agent);
            let asked = body["messages"][0]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned();
            says(&mut bench, agent, &format!("did {asked}"));
        }
        for call in ["a", "b", "c"] {
            assert_eq!(
                text_of(&read_result(&bench, call)),
                format!("did Task {call}")
            );
        }
        says(&mut bench, 0, "All done.");
        assert!(!bench.result().is_error);
    }
}

#[test]
fn sub_2_an_agent_does_not_start_agents() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "general-purpose", json!({}))]),
    );
    reply(
        &mut bench,
        1,
        &Reply::message(&[task("t2", "general-purpose", json!({}))]),
    );
    let (_, body) = request(&bench, 1);
    let refused = &body["messages"][2]["content"][0];
    assert_eq!(refused["is_error"], true);
    assert!(
        refused["content"]
            .as_str()
            .unwrap()
            .contains("no tool named Task")
    );
}

#[test]
fn sub_2_an_agent_that_has_ended_can_go_on_where_it_was() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "general-purpose", json!({"name": "scout"}))]),
    );
    says(&mut bench, 1, "First report.");
    let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
    assert!(
        read_result(&bench, "t1")["content"][1]["text"]
            .as_str()
            .unwrap()
            .contains(&id)
    );
    for (turn, name) in [(2, id.as_str()), (3, "scout")] {
        let call = format!("again-{turn}");
        reply(
            &mut bench,
            0,
            &Reply::message(&[task(&call, "general-purpose", json!({"resume": name}))]),
        );
        let (asked, body) = request(&bench, 1);
        assert_eq!(asked.turn, turn);
        assert_eq!(body["messages"][1]["content"][0]["text"], "First report.");
        assert_eq!(
            body["messages"].as_array().unwrap().len(),
            2 * turn as usize - 1
        );
        says(&mut bench, 1, &format!("Report {turn}."));
        assert_eq!(
            text_of(&read_result(&bench, &call)),
            format!("Report {turn}.")
        );
        assert_eq!(output(&bench, &call)["agentId"], id);
    }
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t9", "general-purpose", json!({"resume": "nobody"}))]),
    );
    assert!(text_of(&read_result(&bench, "t9")).contains("no agent nobody to resume"));
}

#[test]
fn sub_6_an_agent_without_tools_or_model_has_its_parents() {
    let mut spec = spec(vec![tool("Write"), reads("Look")]);
    spec.system = SystemPrompt::Text("The main prompt.".into());
    spec.max_tokens = Some(999);
    spec.memory = vec![MemoryFile {
        path: "/work/CLAUDE.md".into(),
        scope: MemoryScope::Project,
        text: "Use tabs.".into(),
    }];
    defined(
        &mut spec,
        &json!({"description": "d", "prompt": "My own prompt."}),
    );
    let mut bench = Bench::new(spec);
    bench.input(Input::SetModel(Some("claude-opus-4-6".into())));
    bench.prompt("secret plans");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "own", json!({}))]),
    );
    let (_, body) = request(&bench, 1);
    assert_eq!(body["model"], "claude-opus-4-6");
    assert_eq!(body["max_tokens"], 999);
    let messages = body["messages"].to_string();
    assert!(messages.contains("Use tabs.") && messages.contains("Task t1"));
    assert!(
        !messages.contains("secret plans"),
        "no turn of the parent: {messages}"
    );
    assert_eq!(body["system"][0]["text"], "My own prompt.");
    assert_eq!(body["system"].as_array().unwrap().len(), 1);
    assert_eq!(names(&body), ["TaskOutput", "TaskStop", "Write", "Look"]);
}

#[test]
fn sub_1_an_agents_prompt_tools_model_and_limit_are_its_own() {
    let mut spec = spec(vec![tool("Write"), reads("Look")]);
    defined(
        &mut spec,
        &json!({
            "description": "Looks.", "prompt": "P.", "tools": ["Look"], "model": "haiku", "maxTurns": 1,
        }),
    );
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let description = bench.body()["tools"][0]["description"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        description.contains("- own: Looks. (Tools: Look)"),
        "{description}"
    );
    assert!(
        system(&bench, "init")[0]["agents"]
            .as_array()
            .unwrap()
            .contains(&json!("own"))
    );
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "own", json!({"max_turns": 5}))]),
    );
    let (_, body) = request(&bench, 1);
    assert_eq!(
        (&body["model"], names(&body)),
        (&json!("claude-haiku-4-5"), vec!["Look"])
    );
    let words = json!({"type": "text", "text": "So far nothing."});
    reply(
        &mut bench,
        1,
        &Reply::message(&[words, tool_use("l1", "Look", json!({}))]),
    );
    bench.finish("l1", "x");
    let result = read_result(&bench, "t1");
    assert_eq!(result.get("is_error"), None);
    assert!(
        text_of(&result).contains("limit of 1 tool rounds"),
        "{result}"
    );
    assert!(text_of(&result).ends_with("So far nothing."));
    assert_eq!(output(&bench, "t1")["status"], "completed");
}

#[test]
fn sub_5_skills_and_the_reminder_are_in_the_prompt_from_the_start() {
    let mut spec = spec(vec![tool("mcp__hub__log"), tool("mcp__files__open")]);
    spec.skills
        .push(Skill::new("pdf", "Reads PDFs.", "Open them gently."));
    defined(
        &mut spec,
        &json!({
            "description": "d", "prompt": "P.", "skills": ["pdf", "unknown"], "mcpServers": ["hub"],
            "criticalSystemReminder_EXPERIMENTAL": "Never shout.",
        }),
    );
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "own", json!({}))]),
    );
    let (_, body) = request(&bench, 1);
    assert_eq!(
        body["system"][0]["text"],
        "P.\n\n# Skill: pdf\n\nOpen them gently.\n\nNever shout."
    );
    assert_eq!(names(&body), ["TaskOutput", "TaskStop", "mcp__hub__log"]);
}

#[test]
fn loop_17_an_agents_requests_begin_alike() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    let head = |bench: &Bench| {
        let found = bench.pending.iter().find_map(|(id, effect)| match effect {
            Effect::Http(request) if id.agent == 1 => Some(request.body[0].clone()),
            _ => None,
        });
        found.unwrap()
    };
    let first = head(&bench);
    reply(&mut bench, 1, &Reply::call("l1", "Look", json!({})));
    bench.finish("l1", "seen");
    assert_eq!(head(&bench), first);
    let (_, body) = request(&bench, 1);
    let marks = body["messages"]
        .to_string()
        .matches("cache_control")
        .count();
    assert_eq!(marks, 2, "the end of the request before and of this one");
}

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
    denied.permissions.rules.deny = rules(&["Task(Plan)"]);
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

    asking.permissions.rules.allow = rules(&["Task(Explore)"]);
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
    spec.permissions.rules.allow = rules(&["Task"]);
    spec.permissions.rules.deny = rules(&["Locked"]);
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
    let mut bench = Bench::new(spec(vec![tool("Write"), reads("Look")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "general-purpose", json!({"mode": "plan"}))]),
    );
    reply(
        &mut bench,
        1,
        &Reply::message(&[tool_use("w", "Write", json!({}))]),
    );
    let (_, body) = request(&bench, 1);
    assert!(
        body["messages"][2].to_string().contains("plan mode"),
        "{body}"
    );
    assert_eq!(bench.session.mode(), Mode::BypassPermissions);
}

#[test]
fn sub_2_an_interrupt_stops_the_agents_that_are_waited_for() {
    let mut bench = Bench::new(spec(vec![tool("Write")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[
            task("t1", "general-purpose", json!({})),
            task("t2", "Plan", json!({})),
        ]),
    );
    reply(&mut bench, 1, &Reply::call("w", "Write", json!({})));
    bench.interrupt();
    let cancelled: Vec<u32> = bench.cancelled().iter().map(|id| id.agent).collect();
    assert_eq!(cancelled.len(), 2);
    assert!(bench.results().is_empty(), "they are still ending");
    let running: Vec<EffectId> = bench.pending.iter().map(|(id, _)| *id).collect();
    running
        .into_iter()
        .for_each(|id| bench.answer(id, Answer::Cancelled));
    assert_eq!(bench.result().subtype, ResultSubtype::ErrorDuringExecution);
    bench.prompt("and now?");
    let result = read_result(&bench, "t1");
    assert_eq!(result["is_error"], true);
    assert!(text_of(&result).contains("interrupted"));
    says(&mut bench, 0, "Fine.");
    assert!(!bench.result().is_error);
}

#[test]
fn sub_2_an_agent_that_fails_is_an_error_for_the_model() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Plan", json!({}))]),
    );
    reply(
        &mut bench,
        1,
        &Reply::error(400, "invalid_request_error", "too odd"),
    );
    let result = read_result(&bench, "t1");
    assert_eq!(result["is_error"], true);
    assert!(text_of(&result).contains("too odd"));
    let failed = bench
        .lines_of("assistant")
        .into_iter()
        .find(|l| l["error"].is_string())
        .unwrap();
    assert_eq!(failed["parent_tool_use_id"], "t1");
    says(&mut bench, 0, "I do it myself.");
    assert!(!bench.result().is_error);
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
    spec.limits.max_budget = windlass_core::money::Usd::parse("0.0002");
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

#[test]
fn tool_25_an_agent_in_the_background_is_answered_at_once() {
    let mut spec = spec(vec![reads("Look")]);
    spec.environment.transcript = "/t/{session_id}.jsonl".into();
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    let launched = output(&bench, "t1");
    let id = launched["agentId"].as_str().unwrap().to_owned();
    assert_eq!(
        launched,
        json!({
            "status": "async_launched", "agentId": id, "description": "look around", "prompt": "Task t1",
            "outputFile": transcript(&id), "canReadOutputFile": false,
        })
    );
    assert!(text_of(&read_result(&bench, "t1")).contains(&id));
    says(&mut bench, 0, "I go on.");
    assert_eq!(bench.results().len(), 1);
    assert!(!bench.session.is_idle(), "the agent works on");
    reply(&mut bench, 1, &Reply::call("l", "Look", json!({})));
    bench.finish("l", "x");
    bench.wait(500);
    says(&mut bench, 1, "Found it.");
    assert!(bench.session.is_idle());
    let started = &system(&bench, "task_started")[0];
    assert_eq!(
        (
            &started["task_id"],
            &started["tool_use_id"],
            &started["description"],
            &started["task_type"]
        ),
        (
            &json!(id),
            &json!("t1"),
            &json!("look around"),
            &json!("local_agent")
        )
    );
    let progress = &system(&bench, "task_progress")[0];
    assert_eq!(
        progress["usage"],
        json!({"total_tokens": 15, "tool_uses": 1, "duration_ms": 0})
    );
    assert_eq!(progress["last_tool_name"], "Look");
    let ended = &system(&bench, "task_notification")[0];
    assert_eq!(ended["status"], "completed");
    assert_eq!(
        ended["usage"],
        json!({"total_tokens": 30, "tool_uses": 1, "duration_ms": 500})
    );
    assert_eq!(
        (&ended["task_id"], &ended["output_file"]),
        (&json!(id), &json!(transcript(&id)))
    );
    // The model hears of it with the next prompt, and the books too.
    bench.prompt("what now?");
    let (_, body) = request(&bench, 0);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert!(
        last["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Found it.")
    );
    assert_eq!(last["content"][1]["text"], "what now?");
    let synthetic = bench
        .lines_of("user")
        .into_iter()
        .find(|l| l["isSynthetic"] == true)
        .unwrap();
    assert!(synthetic.to_string().contains("Found it."));
    says(&mut bench, 0, "Thanks.");
    assert_eq!(bench.result().usage.input_tokens, 30);
}

#[test]
fn loop_31_news_of_a_task_join_the_next_tool_results() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    reply(&mut bench, 0, &Reply::call("l", "Look", json!({})));
    says(&mut bench, 1, "Found it.");
    bench.finish("l", "x");
    let (_, body) = request(&bench, 0);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["tool_use_id"], "l", "results come first");
    assert!(
        last["content"][1]["text"]
            .as_str()
            .unwrap()
            .contains("Found it.")
    );
}

#[test]
fn loop_31_the_end_of_a_task_can_begin_a_turn_of_its_own() {
    let mut spec = spec(Vec::new());
    spec.tasks = TaskPolicy {
        wake: true,
        ..TaskPolicy::default()
    };
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    says(&mut bench, 1, "Found it.");
    let (_, body) = request(&bench, 0);
    assert!(body["messages"].to_string().contains("Found it."));
    says(&mut bench, 0, "Good.");
    assert_eq!(
        (bench.results().len(), system(&bench, "init").len()),
        (2, 2)
    );
}

#[test]
fn an_empty_prompt_is_refused_whatever_there_is_to_hear() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    says(&mut bench, 1, "Found it.");
    bench.prompt("");
    assert!(bench.result().is_error && bench.pending.is_empty());
    bench.prompt("well?");
    assert!(request(&bench, 0).1.to_string().contains("Found it."));
}

#[test]
fn loop_27_what_a_task_began_with_holds_for_it_after_a_restore_too() {
    let spec = spec(vec![reads("Look")]);
    let mut bench = Bench::new(spec.clone());
    bench.input(Input::SetEffort(Some(Effort::Low)));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    bench.input(Input::SetEffort(None));
    reply(&mut bench, 1, &Reply::call("l", "Look", json!({})));
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
    bench.finish("l", "seen");
    assert_eq!(request(&bench, 1).1["output_config"]["effort"], "low");
}

#[test]
fn api_11_a_task_can_be_stopped_from_outside() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    says(&mut bench, 0, "I go on.");
    let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
    bench.input(Input::StopTask("nothing".into()));
    bench.input(Input::StopTask(id.clone()));
    let cancelled = bench.cancelled()[0];
    assert_eq!(cancelled.agent, 1);
    bench.answer(cancelled, Answer::Cancelled);
    let ended = &system(&bench, "task_notification")[0];
    assert_eq!(
        (&ended["task_id"], &ended["status"]),
        (&json!(id), &json!("stopped"))
    );
    assert!(bench.session.is_idle());
}

#[test]
fn sub_2_an_interrupt_leaves_background_agents_at_work() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
    );
    bench.interrupt();
    let cancelled = bench.cancelled();
    assert!(cancelled.iter().all(|id| id.agent == 0));
    cancelled
        .into_iter()
        .for_each(|id| bench.answer(id, Answer::Cancelled));
    assert_eq!(bench.results().len(), 1);
    says(&mut bench, 1, "Still found it.");
    assert_eq!(
        system(&bench, "task_notification")[0]["status"],
        "completed"
    );
}

#[test]
fn tool_25_a_running_agent_can_be_put_into_the_background() {
    let mut bench = Bench::new(spec(Vec::new()));
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    bench.input(Input::Background(Some("t1".into())));
    assert_eq!(output(&bench, "t1")["status"], "async_launched");
    says(&mut bench, 1, "Found it.");
    assert_eq!(system(&bench, "task_notification").len(), 1);
    says(&mut bench, 0, "Good.");
}

#[test]
fn tool_24_task_output_waits_for_an_agent_or_reads_at_once() {
    let start = || {
        let mut bench = Bench::new(spec(Vec::new()));
        bench.prompt("go");
        reply(
            &mut bench,
            0,
            &Reply::message(&[task("t1", "Explore", json!({"run_in_background": true}))]),
        );
        let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
        (bench, id)
    };
    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call(
            "o",
            "TaskOutput",
            json!({"task_id": id, "block": true, "timeout": 5000}),
        ),
    );
    assert_eq!(bench.session.deadline(), Some(Millis(6_000)));
    says(&mut bench, 1, "Found it.");
    assert!(text_of(&read_result(&bench, "o")).contains("completed\n\nFound it."));
    assert_eq!(output(&bench, "o")["status"], "completed");
    let (_, body) = request(&bench, 0);
    assert_eq!(
        body.to_string().matches("Found it.").count(),
        1,
        "heard once: {body}"
    );

    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call("o", "TaskOutput", json!({"task_id": id, "timeout": 5000})),
    );
    bench.tick();
    assert_eq!(output(&bench, "o")["status"], "running");

    let (mut bench, id) = start();
    reply(
        &mut bench,
        0,
        &Reply::call("o", "TaskOutput", json!({"task_id": id, "block": false})),
    );
    assert_eq!(output(&bench, "o")["status"], "running");
    reply(
        &mut bench,
        0,
        &Reply::call("p", "TaskOutput", json!({"task_id": "b1"})),
    );
    assert!(text_of(&read_result(&bench, "p")).contains(&format!("These are running: {id}")));
    reply(
        &mut bench,
        0,
        &Reply::call("s", "TaskStop", json!({"task_id": id})),
    );
    assert_eq!(output(&bench, "s")["task_type"], "local_agent");
    let stopped = bench.cancelled()[0];
    bench.answer(stopped, Answer::Cancelled);
    assert_eq!(system(&bench, "task_notification")[0]["status"], "stopped");
    reply(
        &mut bench,
        0,
        &Reply::call("s2", "TaskStop", json!({"task_id": id})),
    );
    assert!(text_of(&read_result(&bench, "s2")).contains("has ended already: stopped"));
}

#[test]
fn sub_2_entries_of_an_agent_name_it() {
    let mut spec = spec(Vec::new());
    spec.persist = true;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    assert_eq!(bench.saved().agent, None);
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "Explore", json!({}))]),
    );
    assert_eq!(bench.saved().agent, None);
    let prompt = bench.saved();
    let id = prompt.agent.clone().unwrap();
    assert_eq!(
        (prompt.parent, prompt.message.get().contains("Task t1")),
        (None, true)
    );
    says(&mut bench, 1, "Done.");
    let answer = bench.saved();
    assert_eq!(
        (answer.agent.as_deref(), answer.parent),
        (Some(id.as_str()), Some(prompt.uuid))
    );
    assert_eq!(output(&bench, "t1")["agentId"], id);
    assert!(
        bench
            .session
            .agent_history(&id)
            .is_some_and(|h| h.message_count() == 2)
    );
}

#[test]
fn sub_2_a_session_with_agents_can_be_put_away_and_taken_up_at_any_point() {
    /// Does the same with and without a restore after each step.
    fn run(restores: bool) -> Vec<String> {
        let spec = spec(vec![reads("Look")]);
        let mut bench = Bench::seeded(spec.clone(), SEED);
        let shared = std::sync::Arc::new(spec);
        let calls = [
            task("t1", "Explore", json!({})),
            task("t2", "Explore", json!({"run_in_background": true})),
        ];
        let steps: [&dyn Fn(&mut Bench); 8] = [
            &|b| b.prompt("go"),
            &|b| reply(b, 0, &Reply::message(&calls)),
            &|b| reply(b, 1, &Reply::call("l1", "Look", json!({}))),
            &|b| reply(b, 2, &Reply::call("l2", "Look", json!({}))),
            &|b| b.finish("l1", "one"),
            &|b| says(b, 1, "First."),
            &|b| b.finish("l2", "two"),
            &|b| says(b, 2, "Second."),
        ];
        for step in steps {
            step(&mut bench);
            if restores {
                let snapshot = bench.session.snapshot().unwrap();
                let live = bench.pending.iter().map(|(id, _)| *id).collect();
                bench.session = Session::restore(shared.clone(), &snapshot).unwrap();
                assert_eq!(bench.session.snapshot().unwrap(), snapshot);
                // Requests are asked again under their ids: the harness answers the new ones.
                bench.pending.retain(|(id, _)| id.stage != Stage::Model);
                bench.input(Input::Resumed { live });
            }
        }
        says(&mut bench, 0, "Done.");
        bench.prompt("news?");
        says(&mut bench, 0, "None.");
        let mut lines: Vec<String> = bench.history().iter().map(Value::to_string).collect();
        lines.extend(
            system(&bench, "task_notification")
                .iter()
                .map(|l| l["summary"].to_string()),
        );
        lines.push(format!("{:?}", bench.result().usage));
        lines
    }
    assert_eq!(run(false), run(true));
}
