//! What an agent is told: its own, and what it has from its parent.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, RawJson, Session, Spec,
    context::{MemoryFile, MemoryScope, SystemPrompt},
    effect::{Answer, Effect, Stage},
    permission::{Mode, Rule},
    tool::{ToolDefinition, ToolResult},
    tools::skill::Skill,
};

use super::{
    defined, names, output, read_result, reads, reply, request, says, spec, system, task, text_of,
};
use crate::{
    core_tools::put_away_and_taken_up,
    harness::{Bench, Reply, bash, tool, tool_use},
};

#[test]
fn sub_6_an_agent_without_tools_or_model_has_its_parents() {
    let mut spec = spec(vec![tool("Write"), reads("Look")]);
    spec.prompt.system = SystemPrompt::Text("The main prompt.".into());
    spec.model.max_tokens = Some(999);
    spec.prompt.memory = vec![MemoryFile {
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

/// Whether a command of this agent runs, and what its model reads where it does not.
fn command(bench: &mut Bench, agent: u32, id: &str, line: &str) -> Result<(), String> {
    reply(
        bench,
        agent,
        &Reply::call(id, "Bash", json!({ "command": line })),
    );
    while bench.pending_stages().contains(&Stage::Resolve) {
        bench.resolve();
    }
    if bench.calls().iter().any(|(_, call)| call.tool_use_id == id) {
        bench.finish(id, "done");
        return Ok(());
    }
    let (_, body) = request(bench, agent);
    let last = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["content"][0]["tool_use_id"], id, "{last}");
    assert_eq!(last["content"][0]["is_error"], true, "{last}");
    Err(text_of(&last["content"][0]))
}

#[test]
fn sub_1_commands_that_an_agents_definition_forbids_are_denied_to_that_agent_alone() {
    let spec = || {
        let mut spec = spec(vec![bash()]);
        let definition =
            json!({"description": "d", "prompt": "P.", "disallowedTools": ["Bash(rm *)"]});
        defined(&mut spec, &definition);
        spec
    };
    for is_put_away in [false, true] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        let both = [
            task("t1", "own", json!({})),
            task("t2", "general-purpose", json!({})),
        ];
        reply(&mut bench, 0, &Reply::message(&both));
        if is_put_away {
            put_away_and_taken_up(&mut bench, spec());
        }
        for (id, line) in [("a", "rm notes"), ("b", "touch x && rm -f notes")] {
            let denied = command(&mut bench, 1, id, line).unwrap_err();
            assert!(denied.contains("Bash(rm *)"), "{line}: {denied}");
        }
        assert_eq!(command(&mut bench, 1, "c", "touch notes"), Ok(()));
        assert_eq!(command(&mut bench, 2, "d", "rm notes"), Ok(()));
        says(&mut bench, 1, "It may not go.");
        says(&mut bench, 2, "It is gone.");
        assert_eq!(command(&mut bench, 0, "e", "rm notes"), Ok(()));
        // Who goes on with the agent gives it no more than it had.
        let id = output(&bench, "t1")["agentId"].clone();
        let again = task("t3", "own", json!({ "resume": id }));
        reply(&mut bench, 0, &Reply::message(&[again]));
        assert!(command(&mut bench, 1, "f", "rm notes").is_err());
    }
}

#[test]
fn sub_5_skills_and_the_reminder_are_in_the_prompt_from_the_start() {
    let mut spec = spec(vec![tool("mcp__hub__log"), tool("mcp__files__open")]);
    spec.tools
        .skills
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
fn sub_1_a_call_names_the_agent_whose_it_is() {
    let mut bench = Bench::new(spec(vec![reads("Look")]));
    bench.prompt("go");
    reply(&mut bench, 0, &Reply::call("l1", "Look", json!({})));
    bench.finish("l1", "seen");
    let delegates = Reply::message(&[task("t1", "Explore", json!({}))]);
    reply(&mut bench, 0, &delegates);
    reply(&mut bench, 1, &Reply::call("l2", "Look", json!({})));
    let calls = bench.calls();
    let [(_, call)] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!(call.agent.as_deref(), Some("Explore"));
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

/// A session with an agent that brings tools along.
fn bringing() -> Spec {
    let mut spec = spec(vec![reads("Look")]);
    let definition = json!({"description": "d", "prompt": "P.", "tools": ["Look"]});
    defined(&mut spec, &definition);
    let mut own = spec.tools.agents.get("own").unwrap().clone();
    own.brings_tools = true;
    spec.tools.agents.add(own);
    spec
}

/// A call starts that agent.
fn started() -> Bench {
    let mut bench = Bench::new(bringing());
    bench.prompt("go");
    let call = task("t1", "own", json!({}));
    reply(&mut bench, 0, &Reply::message(&[call]));
    bench
}

fn ready(tools: &[ToolDefinition]) -> Answer {
    Answer::Tool(ToolResult {
        structured: Some(RawJson::encode(&tools).unwrap()),
        ..ToolResult::text("ready")
    })
}

#[test]
fn sub_1_the_tools_that_an_agent_brings_along_are_asked_for_as_it_starts() {
    let mut bench = started();
    let (id, effect) = bench.of(Stage::Provision);
    let Effect::CallTool(call) = effect else {
        panic!("{effect:?}");
    };
    assert_eq!(call.name, "Task");
    let input: serde_json::Value = call.input.decode().unwrap();
    assert_eq!(input["subagent_type"], "own");
    // Put away while it is asked, it is asked again.
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(bringing()), &snapshot).unwrap();
    bench.pending.clear();
    bench.input(Input::Resumed { live: vec![] });
    assert_ne!(bench.of(Stage::Provision).0, id, "another attempt");
    let (id, _) = bench.of(Stage::Provision);
    bench.answer(id, ready(&[tool("mcp__notes__read")]));
    let (_, body) = request(&bench, 1);
    assert_eq!(names(&body), ["Look", "mcp__notes__read"]);
    reply(&mut bench, 1, &Reply::text("It is there."));
    assert_eq!(text_of(&read_result(&bench, "t1")), "It is there.");

    // The next one is asked for anew: they may be others by then.
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t2", "own", json!({}))]),
    );
    let (id, _) = bench.of(Stage::Provision);
    bench.answer(id, ready(&[]));
    assert_eq!(names(&request(&bench, 2).1), ["Look"]);
}

#[test]
fn sub_1_an_agent_whose_tools_are_not_to_be_had_does_not_start() {
    let mut bench = started();
    let (id, _) = bench.of(Stage::Provision);
    bench.answer(id, Answer::Tool(ToolResult::error("there is no room")));
    let result = read_result(&bench, "t1");
    assert_eq!(result["is_error"], true);
    assert!(text_of(&result).contains("there is no room"), "{result}");

    // An interrupt while it is made ready ends in a history that goes on.
    let mut bench = started();
    bench.interrupt();
    let (id, _) = bench.of(Stage::Provision);
    bench.answer(id, Answer::Cancelled);
    assert!(bench.session.is_idle());
    bench.prompt("go on");
    bench.says("fine");
    assert!(!bench.result().is_error);
}

#[test]
fn sub_1_an_agent_whose_tools_come_after_an_interrupt_does_not_start() {
    for in_background in [false, true] {
        let mut bench = Bench::new(bringing());
        bench.prompt("go");
        let call = task("t1", "own", json!({"run_in_background": in_background}));
        // Another call keeps the run from its end.
        let look = json!({"type": "tool_use", "id": "l1", "name": "Look", "input": {}});
        reply(&mut bench, 0, &Reply::message(&[call, look]));
        let (id, _) = bench.of(Stage::Provision);
        let (running, _) = bench.of(Stage::Run);
        bench.interrupt();
        bench.answer(id, ready(&[tool("mcp__notes__read")]));
        assert!(bench.session.agents().count() == 0, "no agent began");
        bench.answer(running, Answer::Cancelled);
        assert!(bench.session.is_idle());
        bench.prompt("go on");
        bench.says("fine");
        assert!(!bench.result().is_error);
    }
    // Alone, its answer is the last that the run has waited for.
    let mut bench = started();
    bench.interrupt();
    let (id, _) = bench.of(Stage::Provision);
    bench.answer(id, ready(&[]));
    assert!(bench.session.is_idle());
    assert!(bench.session.agents().count() == 0, "no agent began");
    bench.prompt("go on");
    bench.says("fine");
    assert!(!bench.result().is_error);
}

#[test]
fn perm_14_an_agent_with_tools_of_its_own_is_asked_about_by_the_sessions_tool() {
    let mut spec = spec(vec![tool("Note"), tool("mcp__people__ask")]);
    spec.policy.permissions.mode = Mode::Default;
    spec.policy.permissions.rules.allow = vec![Rule::parse("Task").unwrap()];
    spec.policy.permissions.prompt_tool = Some("mcp__people__ask".into());
    let definition = json!({"description": "d", "prompt": "P.", "tools": ["Note"]});
    defined(&mut spec, &definition);
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    reply(
        &mut bench,
        0,
        &Reply::message(&[task("t1", "own", json!({}))]),
    );
    assert_eq!(names(&request(&bench, 1).1), ["Note"]);
    reply(&mut bench, 1, &Reply::call("n1", "Note", json!({})));
    let (id, effect) = bench.of(Stage::Ask);
    let Effect::CallTool(call) = effect else {
        panic!("{effect:?}");
    };
    assert_eq!((call.name.as_str(), id.agent), ("mcp__people__ask", 1));
    bench.answer(
        id,
        Answer::Tool(ToolResult::text(r#"{"behavior":"allow"}"#)),
    );
    bench.finish("n1", "noted");
}
