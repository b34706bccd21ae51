//! The parts of a spec that depend on MCP servers.

use std::sync::Arc;

use windlass_core::Spec;

use crate::machine::{Engine, routes::Routes, running::Running};

impl Engine {
    /// Whether a server of the main thread is still connecting: one of the session, or of the agent that the main thread runs
    /// as. The servers of other agents delay only these agents.
    pub(in crate::machine) fn servers_are_pending(&self) -> bool {
        let agent = (self.prepared.as_ref()).and_then(|it| it.spec().tools.agent.as_deref());
        let agents_own = agent.and_then(|agent| self.servers.agents.get(agent));
        self.servers.session.are_pending() || agents_own.is_some_and(|it| it.are_pending())
    }

    /// The spec for the next session: with the tools of MCP servers, each given to its owner, and the list of servers for
    /// `init`.
    pub(in crate::machine) fn spec(&self) -> Option<Arc<Spec>> {
        let spec = Arc::clone(self.prepared.as_ref()?.spec());
        if self.servers.are_none() {
            return Some(spec);
        }
        let mut spec = Arc::unwrap_or_clone(spec);
        for (definition, _) in self.servers.tools() {
            if spec
                .tools
                .definitions
                .iter()
                .all(|known| known.name != definition.name)
            {
                spec.tools.definitions.push(definition.clone());
            }
        }
        self.servers.offer_resources(&mut spec);
        self.servers.offer_to_agents(&mut spec);
        spec.environment.commands.extend(self.servers.commands());
        // Servers in the embedding program's own process are listed already.
        spec.environment.mcp_servers.extend(self.servers.infos());
        Some(Arc::new(spec))
    }

    /// Updates the session's routes to the tools of MCP servers.
    pub(in crate::machine) fn route(&self, session: &mut Running) {
        let tools = self.servers.tools();
        let mut routes: Routes = tools
            .map(|(definition, route)| (definition.name.clone(), route))
            .chain(self.servers.resource_routes())
            .collect();
        let spec = session.prepared.spec();
        if let Some(agent) = &spec.tools.agent {
            let asked = spec.policy.permissions.prompt_tool.as_deref();
            let own = self.servers.agents_tools(agent).into_iter();
            let own = own.filter(|(name, _)| may_replace(asked, name));
            routes.extend(own.map(|(name, (_, route))| (name, route)));
        }
        session.routes = routes;
        session.agents_routes = self.servers.agents_routes();
    }
}

/// Whether a tool of the main thread's agent may replace a tool of the session; the permission prompt tool may not be
/// replaced.
pub(super) fn may_replace(asked: Option<&str>, tool: &str) -> bool {
    asked != Some(tool)
}
