//! Derives the spec of a subagent from the parent's spec and the agent's definition. It never exceeds what the parent has.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Spec;
use crate::{
    agent::{AgentMcpServer, AgentModel, AgentProfile},
    context::SystemPrompt,
    permission::{Narrowing, Rule, server_name},
    tool::{CoreTool, ToolDefinition},
};

/// Options of a call that override an agent's definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChildOptions<'a> {
    /// The model the main thread uses.
    pub(crate) main_model: &'a str,
    /// A model that replaces the agent's own.
    pub(crate) model: Option<&'a AgentModel>,
    /// The maximum number of tool rounds.
    pub(crate) max_turns: Option<u32>,
}

/// The spec of a subagent.
pub(crate) fn child_spec(parent: &Spec, agent: &AgentProfile, options: ChildOptions<'_>) -> Spec {
    let mut spec = agent_spec(parent, agent);
    // Subagents do not start subagents.
    spec.tools
        .definitions
        .retain(|tool| tool.core != Some(CoreTool::Task));
    let model = options.model.or(agent.definition.model.as_ref());
    spec.model.name = match model {
        Some(model) => model
            .resolve(options.main_model, &parent.model.aliases)
            .to_owned(),
        None => options.main_model.to_owned(),
    };
    // Structured output is wanted only from the main thread.
    spec.prompt.output = None;
    let limits = [agent.definition.max_turns, options.max_turns];
    spec.policy.limits.max_turns = limits.into_iter().flatten().min();
    spec
}

impl Spec {
    /// The spec with the main thread running as one of its agents: with that agent's prompt, tools, model and limit (Agent SDK
    /// reference, option `agent`). If the agent sets no model or limit, the spec keeps its own.
    ///
    /// # Errors
    /// [`NoSuchAgent`] if no agent has that name.
    pub fn run_as(&self, name: &str) -> Result<Self, NoSuchAgent> {
        let agent = self.tools.agents.get(name).ok_or_else(|| NoSuchAgent {
            name: name.to_owned(),
            known: self
                .tools
                .agents
                .iter()
                .map(|agent| agent.name.clone())
                .collect(),
        })?;
        let mut spec = agent_spec(self, agent);
        if let Some(model) = &agent.definition.model {
            spec.model.name = model
                .resolve(&self.model.name, &self.model.aliases)
                .to_owned();
        }
        let narrowing = Narrowing {
            mode: agent.definition.permission_mode,
            ..Narrowing::default()
        };
        spec.policy.permissions.mode = narrowing.mode_under(spec.policy.permissions.mode);
        if let Some(turns) = agent.definition.max_turns {
            spec.policy.limits.max_turns = Some(turns);
        }
        spec.tools.agent = Some(agent.name.clone());
        Ok(spec)
    }
}

/// No agent has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent named {name}; the agents are: {}", known.join(", "))]
pub struct NoSuchAgent {
    /// The name.
    pub name: String,
    /// The names of all agents.
    pub known: Vec<String>,
}

/// Replaces prompt and tools; everything else is the parent's.
fn agent_spec(parent: &Spec, agent: &AgentProfile) -> Spec {
    let mut spec = parent.clone();
    spec.prompt.system = SystemPrompt::Text(prompt(parent, agent));
    spec.tools.definitions.retain(|tool| has_tool(agent, tool));
    for tool in &agent.own_tools {
        spec.tools
            .definitions
            .retain(|known| known.name != tool.name);
        spec.tools.definitions.push(tool.clone());
    }
    let disallowed = agent.definition.disallowed_tools.iter().flatten();
    // The rules were checked when the agent was created.
    for rule in disallowed.filter_map(|rule| Rule::parse(rule).ok()) {
        if !rule.to_string().contains('(') {
            spec.tools
                .definitions
                .retain(|tool| !rule.names_tool(&tool.name));
        }
        spec.policy.permissions.rules.deny.push(rule);
    }
    spec
}

fn prompt(parent: &Spec, agent: &AgentProfile) -> String {
    let definition = &agent.definition;
    let mut prompt = definition.prompt.clone();
    for name in definition.skills.iter().flatten() {
        if let Some(skill) = parent.tools.skills.iter().find(|skill| skill.name == *name) {
            let text = skill
                .text("")
                .unwrap_or_else(|error| format!("It cannot be used: {error}."));
            prompt.push_str(&format!("\n\n# Skill: {name}\n\n{text}"));
        }
    }
    if let Some(reminder) = &definition.critical_system_reminder {
        prompt.push_str("\n\n");
        prompt.push_str(reminder);
    }
    prompt
}

/// Whether an agent gets this tool of its parent.
fn has_tool(agent: &AgentProfile, tool: &ToolDefinition) -> bool {
    let definition = &agent.definition;
    if let (Some(servers), Some(server)) = (&definition.mcp_servers, server_of(&tool.name)) {
        // An agent's own servers bring their own tools.
        let named = |servers: &AgentMcpServer| match servers {
            AgentMcpServer::Named(name) => server_name(name) == server,
            AgentMcpServer::Inline(_) => false,
        };
        if !servers.iter().any(named) {
            return false;
        }
    }
    match &definition.tools {
        Some(names) => names.iter().any(|name| selects(name, &tool.name)),
        None => !agent.reads_only || tool.annotations.read_only,
    }
}

/// Whether an entry of a tool list matches a tool.
fn selects(entry: &str, tool: &str) -> bool {
    let server = entry.strip_suffix("__*").unwrap_or(entry);
    entry == "*" || entry == tool || (entry == "Agent" && tool == "Task") || {
        let whole_server = server
            .strip_prefix("mcp__")
            .filter(|name| !name.contains("__"));
        whole_server.is_some_and(|name| server_of(tool) == Some(name))
    }
}

/// The MCP server in a tool's name.
fn server_of(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(server)
}
