//! Subagents: threads of their own inside the session.

mod background;
mod definitions;
mod limits;

use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, Session, Spec,
    agent::{AgentDefinition, AgentProfile},
    effect::{Answer, Effect, PermissionResponse, Stage},
    message::ResultSubtype,
    spec::Effort,
    tool::ToolDefinition,
    tools::CoreTool,
};

use crate::{
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, SEED, asking_spec, raw, session_id, spec_with, tool, tool_use},
};

/// A spec with these tools and those for subagents, in which everything may run.
fn spec(mut tools: Vec<ToolDefinition>) -> Spec {
    let mut spec = spec_with(Vec::new());
    spec.offer([CoreTool::Task, CoreTool::TaskOutput, CoreTool::TaskStop]);
    spec.tools.definitions.append(&mut tools);
    spec
}

fn reads(name: &str) -> ToolDefinition {
    tool(name).read_only()
}

pub(crate) fn task(id: &str, agent: &str, more: Value) -> Value {
    let mut input = json!({"description": "look around", "prompt": format!("Task {id}"), "subagent_type": agent});
    for (key, value) in more.as_object().unwrap() {
        input[key] = value.clone();
    }
    tool_use(id, "Task", input)
}

pub(crate) fn defined(spec: &mut Spec, definition: &Value) {
    let definition: AgentDefinition = raw(definition).decode().unwrap();
    spec.tools
        .agents
        .add(AgentProfile::new("own", definition).unwrap());
}

/// The request of an agent that is pending.
pub(crate) fn request(bench: &Bench, agent: u32) -> (EffectId, Value) {
    let found = bench.pending.iter().find_map(|(id, effect)| match effect {
        Effect::Http(request) if id.agent == agent => Some((*id, request)),
        _ => None,
    });
    let (id, request) =
        found.unwrap_or_else(|| panic!("agent {agent} asks nothing: {:?}", bench.pending_stages()));
    (id, serde_json::from_slice(&request.body_bytes()).unwrap())
}

pub(crate) fn reply(bench: &mut Bench, agent: u32, reply: &Reply) {
    let (id, _) = request(bench, agent);
    for answer in reply.answers() {
        bench.answer(id, answer);
    }
}

pub(crate) fn says(bench: &mut Bench, agent: u32, text: &str) {
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

pub(crate) fn names(body: &Value) -> Vec<&str> {
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
    spec.tools.tasks.tool_calls_only = true;
    spec.stream.partial_messages = true;
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

/// Each of them is allowed when somebody says so, which is in any order.
#[test]
fn sub_2_calls_of_one_response_give_one_agent_more_to_do_in_their_order() {
    let mut spec = spec(Vec::new());
    spec.policy.permissions = asking_spec(Vec::new()).policy.permissions;
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    let named = |id: &str, more| task(id, "general-purpose", more);
    let calls = [
        named("t1", json!({"name": "scout"})),
        named("t2", json!({"resume": "scout"})),
        named("t3", json!({"name": "other"})),
    ];
    reply(&mut bench, 0, &Reply::message(&calls));
    bench.decide(PermissionResponse::allow());
    assert_eq!(bench.pending_stages(), [Stage::Model], "t2 waits for t1");
    put_away_and_taken_up(&mut bench, spec.clone());
    assert_eq!(bench.pending_stages(), [Stage::Model], "and still does");
    says(&mut bench, 1, "First report.");
    bench.decide(PermissionResponse::allow());
    let (asked, body) = request(&bench, 1);
    assert_eq!(asked.turn, 2);
    assert_eq!(body["messages"][1]["content"][0]["text"], "First report.");
    says(&mut bench, 1, "Second report.");
    bench.decide(PermissionResponse::allow());
    says(&mut bench, 3, "Third report.");
    for (call, report) in [("t1", "First"), ("t2", "Second"), ("t3", "Third")] {
        let read = text_of(&read_result(&bench, call));
        assert_eq!(read, format!("{report} report."));
    }
    // By its id and by its name it is the same one; others work beside each other.
    let id = output(&bench, "t1")["agentId"].as_str().unwrap().to_owned();
    let calls = [
        named("u1", json!({"resume": id})),
        named("u2", json!({"resume": "other"})),
        named("u3", json!({"resume": "scout"})),
    ];
    reply(&mut bench, 0, &Reply::message(&calls));
    assert_eq!(bench.pending_stages(), [Stage::Ask, Stage::Ask]);
    bench.decide(PermissionResponse::deny("not this one"));
    bench.decide(PermissionResponse::allow());
    says(&mut bench, 3, "Fourth report.");
    bench.decide(PermissionResponse::allow());
    assert_eq!(request(&bench, 1).0.turn, 3);
}

/// It kept the choice, but did not ask that way, until it was put away and taken up again.
#[test]
fn sub_2_what_an_agent_chose_for_itself_ends_with_its_task() {
    let mut spec = spec(Vec::new());
    spec.offer([CoreTool::Config]);
    let mut bench = Bench::new(spec.clone());
    bench.prompt("go");
    let first = task("t1", "general-purpose", json!({"name": "scout"}));
    reply(&mut bench, 0, &Reply::message(&[first]));
    let chosen = json!({"setting": "effort", "value": "low"});
    reply(&mut bench, 1, &Reply::call("c1", "Config", chosen));
    assert_eq!(request(&bench, 1).1["output_config"]["effort"], "low");
    says(&mut bench, 1, "First report.");
    let again = task("t2", "general-purpose", json!({"resume": "scout"}));
    reply(&mut bench, 0, &Reply::message(&[again]));
    let (asked, body) = request(&bench, 1);
    assert!(body["output_config"]["effort"].is_null());

    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(std::sync::Arc::new(spec), &snapshot).unwrap();
    bench.pending.retain(|(id, _)| *id != asked);
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
    assert_eq!(request(&bench, 1).1, body);
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
fn sub_2_entries_of_an_agent_name_it() {
    let mut spec = spec(Vec::new());
    spec.policy.persist = true;
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

#[test]
fn sub_3_the_agents_that_are_built_in_work_with_the_tools_they_are_for() {
    for (agent, offered) in [
        (
            "general-purpose",
            &["TaskOutput", "TaskStop", "Change", "Look"][..],
        ),
        ("Explore", &["TaskOutput", "Look"]),
        ("Plan", &["TaskOutput", "Look"]),
    ] {
        let mut bench = Bench::new(spec(vec![tool("Change"), reads("Look")]));
        bench.prompt("go");
        let main = bench.body();
        let offer = main["tools"].to_string();
        assert!(
            offer.contains(&format!("- {agent}: ")),
            "the model reads of it: {offer}"
        );
        reply(
            &mut bench,
            0,
            &Reply::message(&[task("t", agent, json!({}))]),
        );
        let (_, body) = request(&bench, 1);
        assert_eq!(names(&body), offered, "{agent}");
        assert_eq!(body["model"], main["model"], "{agent}");
        assert_ne!(
            body["system"], main["system"],
            "{agent} has a prompt of its own"
        );
        // A call of a tool that it has not been given does not run.
        reply(
            &mut bench,
            1,
            &Reply::message(&[
                tool_use("look", "Look", json!({})),
                tool_use("change", "Change", json!({})),
            ]),
        );
        bench.finish("look", "seen");
        let running: Vec<String> = (bench.calls().into_iter())
            .map(|(_, call)| call.tool_use_id)
            .collect();
        let may_change = offered.contains(&"Change");
        assert_eq!(
            running,
            if may_change { vec!["change"] } else { vec![] },
            "{agent}"
        );
        if may_change {
            bench.finish("change", "changed");
        }
        says(&mut bench, 1, "The report.");
        assert_eq!(text_of(&read_result(&bench, "t")), "The report.", "{agent}");
        bench.says("Done.");
        assert_eq!(bench.result().result.as_deref(), Some("Done."), "{agent}");
    }
}
