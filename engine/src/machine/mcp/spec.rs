//! What servers add to what sessions are told.

use std::sync::Arc;

use windlass_core::Spec;

use crate::machine::{Engine, routes::Routes, running::Running};

impl Engine {
    /// Whether a server of the main thread has not answered yet: one of the session, or of the agent that it runs as. Those of
    /// other agents are their agents' to wait for.
    pub(in crate::machine) fn servers_are_pending(&self) -> bool {
        let agent = (self.prepared.as_ref()).and_then(|it| it.spec().tools.agent.as_deref());
        let agents_own = agent.and_then(|agent| self.servers.agents.get(agent));
        self.servers.session.are_pending() || agents_own.is_some_and(|it| it.are_pending())
    }

    /// What the next session is told: with the tools of MCP servers, each where it belongs, and with what `init` says about
    /// the servers.
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
        self.servers.offer_to_agents(&mut spec);
        // Those that a program has in its own process are listed already.
        spec.environment.mcp_servers.extend(self.servers.infos());
        Some(Arc::new(spec))
    }

    /// Leads the calls of a session to the servers as they are now.
    pub(in crate::machine) fn route(&self, session: &mut Running) {
        let tools = self.servers.tools();
        let mut routes: Routes = tools
            .map(|(definition, route)| (definition.name.clone(), route))
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

/// Whether a tool of the main thread's agent may stand in the place of one of the session's: not in that of the one that is
/// asked for permission.
pub(super) fn may_replace(asked: Option<&str>, tool: &str) -> bool {
    asked != Some(tool)
}
