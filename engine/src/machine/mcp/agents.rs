//! MCP servers that belong to a single agent: those configured inline in an agent's `mcpServers`.
//!
//! They start when their agent is first started, and end with the session. The core requests the tools that an agent brings
//! along (`AgentProfile::brings_tools`), and the agent begins once its servers have answered. Their tools are offered to this
//! agent only, so two agents may each have a server of the same name. A request of the SDK that names a server means the
//! session's own server or, if the session has none of that name, those of all agents that have one.

use std::collections::{BTreeMap, btree_map::Entry};

use windlass_core::{
    EffectId, RawJson, Spec,
    agent::{AgentMcpServer, AgentProfile, AgentSource},
    effect::Answer,
    tool::{ToolCall, ToolDefinition, ToolResult},
    tools::task::TaskInput,
};

use super::{ServerTable, server::Kind, spec::may_replace};
use crate::machine::{
    Engine,
    routes::{Route, Routes},
    running::Parked,
};

/// Tool definitions and their routes, by the names that the model uses.
type OwnTools = BTreeMap<String, (ToolDefinition, Route)>;

impl Engine {
    /// Matches the agents' servers to the current set of agents: unchanged servers continue, servers that are gone end, and
    /// new ones are started with their agent.
    pub(in crate::machine) fn exchange_agents_servers(&mut self) {
        let Some(prepared) = self.prepared.clone() else {
            return;
        };
        let (config, spec) = (&prepared.config, prepared.spec());
        let only_given = self.launch.flags.only_given_servers();
        let mut wanted: BTreeMap<String, BTreeMap<String, RawJson>> = (spec.tools.agents.iter())
            .filter(|agent| !only_given || agent.source == AgentSource::Option)
            .filter(|agent| config.runs_programs || agent.source != AgentSource::Project)
            .map(|agent| (agent.name.clone(), inline_servers(agent)))
            .filter(|(_, servers)| !servers.is_empty())
            .collect();
        // Servers of agents that no longer exist end as well.
        for agent in self.servers.agents.keys() {
            wanted.entry(agent.clone()).or_default();
        }
        for (agent, configs) in wanted {
            // An untrusted folder could otherwise pass the API keys to a program of its own.
            let is_of_folder =
                |known: &AgentProfile| known.name == agent && known.source == AgentSource::Project;
            let may_name_keys = config.is_trusted || !spec.tools.agents.iter().any(is_of_folder);
            let servers = self.servers.agents.entry(agent.clone()).or_default();
            servers.variables.clone_from(&config.variables);
            self.replace_dynamic(&Some(agent), &configs, may_name_keys);
        }
        // The main thread's agent starts with the session.
        if let Some(agent) = spec.tools.agent.clone() {
            self.start_servers_of(&agent);
        }
    }

    /// Replaces the servers that were added at run time. Returns the names of those to connect, and of those that were
    /// removed.
    pub(super) fn replace_dynamic(
        &mut self,
        owner: &super::Owner,
        configs: &BTreeMap<String, RawJson>,
        may_name_keys: bool,
    ) -> (Vec<String>, Vec<String>) {
        let Some(servers) = self.servers.of(owner) else {
            return (Vec::new(), Vec::new());
        };
        let gone: Vec<String> = (servers.all.iter())
            .filter(|(name, server)| {
                let is_same = configs.get(*name) == Some(&server.config);
                (server.is_dynamic || server.kind == Kind::Sdk) && !is_same
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in &gone {
            self.let_go(owner, name);
            if let Some(servers) = self.servers.of_mut(owner) {
                servers.all.remove(name);
            }
        }
        let Some(servers) = self.servers.of_mut(owner) else {
            return (Vec::new(), gone);
        };
        let new: Vec<String> = (configs.keys())
            .filter(|name| !servers.all.contains_key(*name))
            .cloned()
            .collect();
        for name in &new {
            let added = servers.add(name, configs[name].clone(), may_name_keys);
            added.is_dynamic = true;
        }
        let removed = gone
            .into_iter()
            .filter(|name| !configs.contains_key(name))
            .collect();
        (new, removed)
    }

    /// Connects to those servers of an agent that have not been started yet.
    fn start_servers_of(&mut self, agent: &str) {
        let servers = self.servers.agents.get(agent);
        for name in servers.map(|it| it.not_started()).unwrap_or_default() {
            self.connect(&Some(agent.to_owned()), &name);
        }
    }

    /// Starts the servers of an agent that is about to begin; it gets their tools once they have answered.
    pub(in crate::machine) fn provision(&mut self, id: EffectId, call: &ToolCall) {
        match call.input.decode::<TaskInput>() {
            Ok(task) => {
                let agent = task.subagent_type;
                self.park(id, Parked::Provision(agent.clone()));
                self.start_servers_of(&agent);
            }
            Err(error) => self.refuse_call(id, error.to_string()),
        }
    }

    /// Provides tools to the waiting agents whose servers have all answered.
    pub(in crate::machine) fn provision_agents(&mut self) {
        let waiting = self.session.as_ref().map(|session| session.provisioning());
        for (id, agent) in waiting.unwrap_or_default() {
            let servers = self.servers.agents.get(&agent);
            if servers.is_some_and(|it| it.are_pending()) {
                continue;
            }
            self.unpark(id);
            let mut definitions = Vec::new();
            let mut routes = Routes::new();
            for (name, (definition, route)) in self.servers.agents_tools(&agent) {
                definitions.push(definition);
                routes.insert(name, route);
            }
            if let Some(session) = &mut self.session {
                session.agents_routes.insert(agent, routes);
            }
            let ready = ToolResult {
                structured: RawJson::encode(&definitions).ok(),
                ..ToolResult::text(format!("{} tools are ready.", definitions.len()))
            };
            self.answer_session(id, Answer::Tool(ready));
        }
    }
}

impl ServerTable {
    /// Marks agents with servers as bringing tools along, and gives the main thread the tools of the agent it runs as.
    pub(super) fn offer_to_agents(&self, spec: &mut Spec) {
        for (name, _) in self.agents.iter().filter(|(_, it)| !it.all.is_empty()) {
            if let Some(mut agent) = spec.tools.agents.get(name).cloned() {
                agent.brings_tools = true;
                spec.tools.agents.add(agent);
            }
            if spec.tools.agent.as_ref() == Some(name) {
                let asked = spec.policy.permissions.prompt_tool.clone();
                let tools = self.agents_tools(name).into_values().map(|(tool, _)| tool);
                for tool in tools.filter(|it| may_replace(asked.as_deref(), &it.name)) {
                    spec.tools
                        .definitions
                        .retain(|known| known.name != tool.name);
                    spec.tools.definitions.push(tool);
                }
            }
        }
    }

    /// The tools of an agent's servers that have answered. If two tools have the same name, the first one is used.
    pub(super) fn agents_tools(&self, agent: &str) -> OwnTools {
        let mut tools = OwnTools::new();
        let servers = self.agents.get(agent).into_iter();
        for (definition, route) in servers.flat_map(|servers| servers.tools()) {
            if let Entry::Vacant(free) = tools.entry(definition.name.clone()) {
                free.insert((definition.clone(), route));
            }
        }
        tools
    }

    /// The routes to the tools of all agents' servers, by agent.
    pub(super) fn agents_routes(&self) -> BTreeMap<String, Routes> {
        let routes = |agent: &String| {
            let tools = self.agents_tools(agent).into_iter();
            let routes = tools.map(|(name, (_, route))| (name, route)).collect();
            (agent.clone(), routes)
        };
        self.agents.keys().map(routes).collect()
    }
}

/// The servers configured inline in an agent's definition. If two have the same name, the last one is used.
#[must_use]
pub fn inline_servers(agent: &AgentProfile) -> BTreeMap<String, RawJson> {
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
