//! What an agent is told: its own, and what it has from its parent.

use serde_json::json;
use windlass_core::{
    Input,
    context::{MemoryFile, MemoryScope, SystemPrompt},
    effect::Effect,
    tools::skill::Skill,
};

use crate::harness::{Bench, Reply, tool, tool_use};

use super::{
    defined, names, output, read_result, reads, reply, request, spec, system, task, text_of,
};

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
