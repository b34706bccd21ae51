use alloc::{string::ToString, vec::Vec};
use std::string::String;

use serde_json::{Value, json};

use super::{AgentDefinition, AgentModel, AgentProfile, AgentSource, Agents};
use crate::{RawJson, Spec, tool::ToolDefinition};

fn definition(json: &Value) -> AgentDefinition {
    RawJson::parse(json.to_string()).unwrap().decode().unwrap()
}

fn agent(json: &Value) -> AgentProfile {
    AgentProfile::new("a", definition(json)).unwrap()
}

fn spec_with(tools: &[&str]) -> Spec {
    let tool = |name: &&str| {
        let tool = ToolDefinition::new(*name, "d", RawJson::empty_object());
        match *name {
            "Read" | "Grep" => tool.read_only(),
            _ => tool,
        }
    };
    Spec::with_tools(tools.iter().map(tool))
}

fn names(spec: &Spec) -> Vec<&str> {
    spec.tools
        .definitions
        .iter()
        .map(|tool| tool.name.as_str())
        .collect()
}

#[test]
fn sub_1_a_definition_is_the_json_of_the_reference() {
    let json = json!({
        "description": "d", "tools": ["Read"], "disallowedTools": ["Bash(rm *)"], "prompt": "p",
        "model": "opus", "mcpServers": ["github", {"files": {"command": "files", "args": ["-v"]}}],
        "skills": ["pdf"], "maxTurns": 3, "criticalSystemReminder_EXPERIMENTAL": "r",
    });
    let definition = definition(&json);
    assert_eq!(definition.model, Some(AgentModel::Opus));
    let servers: Vec<&str> = (definition.mcp_servers.iter().flatten())
        .flat_map(super::AgentMcpServer::names)
        .collect();
    assert_eq!(servers, ["github", "files"]);
    let again: Value = serde_json::to_value(&definition).unwrap();
    assert_eq!(again, json);
    let least = json!({"description": "d", "prompt": "p", "color": "red", "model": null});
    let least = super::tests::definition(&least);
    assert_eq!(least, AgentDefinition::new("d", "p"));
    assert_eq!(
        serde_json::to_value(&least).unwrap(),
        json!({"description": "d", "prompt": "p"})
    );
}

#[test]
fn sub_7_an_option_beats_a_file_and_a_file_beats_what_is_built_in() {
    let from = |source, prompt: &str| {
        AgentProfile::from_source("Plan", AgentDefinition::new("d", prompt), source).unwrap()
    };
    let sources = [
        from(AgentSource::User, "user"),
        from(AgentSource::Project, "project"),
        from(AgentSource::Option, "option"),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut agents = Agents::built_in();
        order.iter().for_each(|i| agents.add(sources[*i].clone()));
        assert_eq!(agents.get("Plan").unwrap().definition.prompt, "option");
        assert_eq!(agents.iter().count(), 3);
    }
    let mut agents = Agents::built_in();
    agents.add(sources[1].clone());
    agents.add(sources[0].clone());
    assert_eq!(agents.get("plan").unwrap().definition.prompt, "project");
}

#[test]
fn sub_3_three_agents_are_built_in_and_two_of_them_only_read() {
    let infos = serde_json::to_value(Agents::built_in().infos()).unwrap();
    let listed: Vec<String> = (infos.as_array().unwrap().iter())
        .map(|info| info["name"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(listed, ["Explore", "Plan", "general-purpose"]);
    assert!(infos[0].get("model").is_none());
    let spec = spec_with(&["Read", "Write", "Grep", "Bash"]);
    let all = ["Read", "Write", "Grep", "Bash"];
    assert_eq!(names(&spec.run_as("general-purpose").unwrap()), all);
    assert_eq!(names(&spec.run_as("Explore").unwrap()), ["Read", "Grep"]);
    assert_eq!(names(&spec.run_as("Plan").unwrap()), ["Read", "Grep"]);
}

#[test]
fn sub_4_the_main_thread_can_be_an_agent() {
    let mut spec = spec_with(&["Read", "Bash", "Task"]);
    spec.prompt.system = "usual".into();
    (spec.model.aliases).insert("haiku".into(), "claude-haiku-4-5".into());
    let json = json!({
        "description": "d", "prompt": "mine", "tools": ["Read", "Task"], "model": "haiku",
        "maxTurns": 2, "criticalSystemReminder_EXPERIMENTAL": "Be brief.",
    });
    spec.tools.agents.add(agent(&json));
    let own = spec.run_as("a").unwrap();
    assert_eq!(own.prompt.system, "mine\n\nBe brief.".into());
    assert_eq!(names(&own), ["Read", "Task"]);
    assert_eq!(own.model.name, "claude-haiku-4-5");
    assert_eq!(
        (own.policy.limits.max_turns, own.tools.agent.as_deref()),
        (Some(2), Some("a"))
    );
    let error = spec.run_as("b").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no agent named b; the agents are: Explore, Plan, a, general-purpose"
    );
}

#[test]
fn sub_6_an_agent_has_the_tools_it_names_or_all_of_its_parent() {
    let tools = [
        "Read",
        "Bash",
        "mcp__git_hub__log",
        "mcp__git_hub__push",
        "mcp__files__open",
    ];
    for (given, expected) in [
        (json!({}), &tools[..]),
        (json!({"tools": ["*"]}), &tools[..]),
        (json!({"tools": []}), &[]),
        (json!({"tools": ["Bash", "Nothing"]}), &["Bash"]),
        (json!({"tools": ["mcp__git_hub"]}), &tools[2..4]),
        (
            json!({"tools": ["mcp__git_hub__*", "mcp__files__open"]}),
            &tools[2..],
        ),
        (
            json!({"disallowedTools": ["Bash", "mcp__git_hub"]}),
            &["Read", "mcp__files__open"],
        ),
        (
            json!({"tools": ["Read", "Bash"], "disallowedTools": ["Read"]}),
            &["Bash"],
        ),
        (json!({"mcpServers": ["git.hub"]}), &tools[..4]),
        (json!({"mcpServers": []}), &tools[..2]),
    ] {
        let mut json = given.clone();
        json["description"] = "d".into();
        json["prompt"] = "p".into();
        let mut spec = spec_with(&tools);
        spec.tools.agents.add(agent(&json));
        assert_eq!(names(&spec.run_as("a").unwrap()), expected, "{given}");
    }
}

#[test]
fn sub_5_an_agent_brings_the_tools_of_its_own_servers() {
    let json = json!({
        "description": "d", "prompt": "p", "tools": ["Read"],
        "mcpServers": ["github", {"db": {"type": "http", "url": "http://db"}}],
    });
    let mut own = agent(&json);
    let tool = ToolDefinition::new("mcp__db__query", "d", RawJson::empty_object());
    own.own_tools.push(tool);
    let mut spec = spec_with(&["Read", "mcp__github__log"]);
    spec.tools.agents.add(own);
    assert_eq!(
        names(&spec.run_as("a").unwrap()),
        ["Read", "mcp__db__query"]
    );
    assert_eq!(names(&spec), ["Read", "mcp__github__log"]);
}

#[test]
fn a_part_of_a_tool_can_be_disallowed() {
    let json = json!({"description": "d", "prompt": "p", "disallowedTools": ["Bash(rm *)"]});
    let mut spec = spec_with(&["Bash"]);
    spec.tools.agents.add(agent(&json));
    let own = spec.run_as("a").unwrap();
    assert_eq!(names(&own), ["Bash"]);
    assert_eq!(
        own.policy.permissions.rules.deny[0].to_string(),
        "Bash(rm *)"
    );
}
