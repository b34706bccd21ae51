//! The MCP servers that agents have for themselves: those that stand with their configuration in an agent's `mcpServers`.
//!
//! They start when their agent first does, and end with the session: the core asks for the tools that an agent brings along
//! (`Agent::brings_tools`), and the agent begins when its servers have answered. Their tools are offered to it alone; two agents
//! may each have a server of one name. What an SDK asks of a server by its name is meant for the session's own, or, where the
//! session has none, for those of all agents that have one.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use serde_json::Value;
use windlass_core::{
    RawJson, Spec,
    agent::{Agent, AgentMcpServer, AgentSource, Agents},
    message::McpServer,
    tool::ToolDefinition,
};

use super::{servers::Servers, surroundings::Surroundings};
use crate::host::RunTool;

/// Tools, by the names the model calls them by.
pub(super) type ToolRunners = BTreeMap<String, Arc<dyn RunTool>>;

/// Definitions and what runs them, by the names the model calls them by.
pub(super) type OwnTools = BTreeMap<String, (ToolDefinition, Arc<dyn RunTool>)>;

/// Whose servers are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trusted {
    /// Those of every agent.
    All,
    /// Those of agents that were given to the engine, none of files (`strictMcpConfig`).
    Given,
}

/// The servers of all agents, by agent.
pub(super) struct AgentServers {
    /// None of any agent: what those of one begin with.
    none: Servers,
    all: BTreeMap<String, Servers>,
}

impl AgentServers {
    pub(super) fn new(none: Servers) -> Self {
        Self {
            none,
            all: BTreeMap::new(),
        }
    }

    /// From now on these agents' servers are there: those that stay as they were go on, others end, new ones wait for their agent.
    pub(super) fn exchange(
        &mut self,
        agents: &Agents,
        trusted: Trusted,
        surroundings: &Surroundings,
    ) {
        let variables = surroundings.variables();
        let mut wanted: BTreeMap<String, BTreeMap<String, RawJson>> = agents
            .iter()
            .filter(|agent| trusted == Trusted::All || agent.source == AgentSource::Option)
            .filter(|agent| surroundings.runs_programs() || agent.source != AgentSource::Project)
            .map(|agent| (agent.name.clone(), inline(agent)))
            .filter(|(_, servers)| !servers.is_empty())
            .collect();
        // What an agent had that is no more ends, too.
        for agent in self.all.keys() {
            wanted.entry(agent.clone()).or_default();
        }
        for (agent, configs) in wanted {
            // A folder that nobody has trusted could hand the keys to a program of its own.
            let is_of_folder =
                |known: &Agent| known.name == agent && known.source == AgentSource::Project;
            let may_name_keys = surroundings.is_trusted() || !agents.iter().any(is_of_folder);
            let none = &self.none;
            let servers = (self.all.entry(agent.clone())).or_insert_with(|| none.of_agent(&agent));
            servers.set_variables(variables.clone());
            servers.let_keys_be_named(may_name_keys);
            servers.replace_dynamic(&configs);
        }
    }

    /// The servers of an agent that has some, to look at.
    pub(super) fn get(&self, agent: &str) -> Option<&Servers> {
        self.all.get(agent)
    }

    /// The servers of an agent that has some.
    pub(super) fn of(&mut self, agent: &str) -> Option<&mut Servers> {
        self.all.get_mut(agent)
    }

    /// The agents that have a server of this name.
    pub(super) fn owners(&self, name: &str) -> Vec<String> {
        let owners = self.all.iter().filter(|(_, servers)| servers.has(name));
        owners.map(|(agent, _)| agent.clone()).collect()
    }

    /// The servers of each agent.
    #[cfg(unix)]
    pub(super) fn all(&self) -> impl Iterator<Item = &Servers> {
        self.all.values()
    }

    /// A spec in which agents with servers bring tools along, and whose main thread has those of the agent it runs as.
    pub(super) fn offer(&self, spec: &mut Spec) {
        for (name, _) in self.all.iter().filter(|(_, servers)| !servers.is_empty()) {
            if let Some(mut agent) = spec.agents.get(name).cloned() {
                agent.brings_tools = true;
                spec.agents.add(agent);
            }
            if spec.agent.as_ref() == Some(name) {
                let asked = spec.permissions.prompt_tool.clone();
                let tools = self.tools(name).into_values().map(|(tool, _)| tool);
                for tool in tools.filter(|it| may_replace(asked.as_deref(), &it.name)) {
                    spec.tools.retain(|known| known.name != tool.name);
                    spec.tools.push(tool);
                }
            }
        }
    }

    /// What runs them, by agent.
    pub(super) fn runners(&self) -> BTreeMap<String, ToolRunners> {
        let runners = |name: &String| {
            let tools = self.tools(name).into_iter();
            let runners = tools.map(|(tool, (_, runner))| (tool, runner)).collect();
            (name.clone(), runners)
        };
        self.all.keys().map(runners).collect()
    }

    /// The tools of an agent's servers, as far as these have answered. Of two of one name the first counts.
    pub(super) fn tools(&self, agent: &str) -> OwnTools {
        let mut tools = BTreeMap::new();
        for (definition, runner) in self.all.get(agent).into_iter().flat_map(Servers::tools) {
            if let Entry::Vacant(free) = tools.entry(definition.name.clone()) {
                free.insert((definition, runner));
            }
        }
        tools
    }

    /// The servers as `init` names them.
    pub(super) fn infos(&self) -> impl Iterator<Item = McpServer> {
        self.all.values().flat_map(Servers::infos)
    }

    /// The servers as `mcp_status` describes them.
    pub(super) fn status(&self) -> impl Iterator<Item = Value> {
        self.all.values().flat_map(Servers::status)
    }

    /// Ends the programs that were started, and waits until they have ended.
    pub(super) async fn close(&mut self) {
        futures_util::future::join_all(self.all.values_mut().map(Servers::close)).await;
    }
}

/// Whether a tool of the main thread's agent may stand in the place of one of the session's: not in that of the one that is
/// asked for permission.
pub(super) fn may_replace(asked: Option<&str>, tool: &str) -> bool {
    asked != Some(tool)
}

/// The servers that stand in an agent's definition with their configuration. Of two of one name the last counts.
pub(super) fn inline(agent: &Agent) -> BTreeMap<String, RawJson> {
    let servers = agent.definition.mcp_servers.iter().flatten();
    servers
        .filter_map(|server| match server {
            AgentMcpServer::Inline(servers) => Some(servers),
            AgentMcpServer::Named(_) => None,
        })
        .flatten()
        .map(|(name, config)| (name.clone(), config.clone()))
        .collect()
}
