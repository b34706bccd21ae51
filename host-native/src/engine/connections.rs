//! The connections of MCP servers: made, heard of, listened to.

use tokio::sync::oneshot;

use super::{
    Event,
    actor::Engine,
    agent_servers::{OwnTools, Trusted},
    debug_log::Topic,
    server_requests::WaitingReply,
    servers::{Connected, Relisted, Servers},
};

impl Engine {
    /// The servers that agents have for themselves are those of the agents there are now.
    pub(super) fn connect_agents_servers(&mut self) {
        let Some(prepared) = &self.prepared else {
            return;
        };
        let blueprint = &prepared.blueprint;
        let trusted = match self.launch.flags.strict_mcp_config {
            true => Trusted::Given,
            false => Trusted::All,
        };
        let spec = &blueprint.spec;
        self.agent_servers
            .exchange(&spec.agents, trusted, &blueprint.surroundings);
        // The main thread begins with the session.
        if let Some(agent) = spec.agent.clone() {
            self.start_servers_of(&agent);
        }
    }

    /// Connects to the servers of an agent to which nobody has yet.
    fn start_servers_of(&mut self, agent: &str) {
        let servers = self.agent_servers.get(agent);
        for name in servers.map(Servers::not_started).unwrap_or_default() {
            self.connect(Some(agent), &name, None);
        }
    }

    /// An agent starts: it gets the tools of its servers once these have answered.
    pub(super) fn agent_starts(&mut self, agent: String, reply: oneshot::Sender<OwnTools>) {
        self.start_servers_of(&agent);
        self.equipping.push((agent, reply));
    }

    /// Hands tools to the agents that wait for no server any more.
    pub(super) fn equip_agents(&mut self) {
        for (agent, reply) in std::mem::take(&mut self.equipping) {
            let servers = self.agent_servers.get(&agent);
            if servers.is_some_and(Servers::are_pending) {
                self.equipping.push((agent, reply));
                continue;
            }
            // Who was interrupted waits no more.
            let _ = reply.send(self.agent_servers.tools(&agent));
        }
    }

    /// The servers of an agent, or those of the session.
    pub(super) fn servers_of(&mut self, agent: Option<&str>) -> Option<&mut Servers> {
        match agent {
            None => Some(&mut self.servers),
            Some(agent) => self.agent_servers.of(agent),
        }
    }

    /// Connects to a server, of an agent or of the session; what comes of it comes back as an event.
    pub(super) fn connect(&mut self, agent: Option<&str>, name: &str, reply: Option<WaitingReply>) {
        let servers = self.servers_of(agent);
        let Some(connecting) = servers.and_then(|servers| servers.connect(name)) else {
            return;
        };
        self.log.note(Topic::Mcp, || format!("connects to {name}"));
        let events = self.events.clone();
        tokio::spawn(async move {
            let connected = connecting.await;
            // The engine has ended meanwhile.
            let _ = events.send(Event::Connected(connected, reply));
        });
    }

    /// Hears of changes of a server's tools from now on, where it is a program.
    fn listen(&mut self, agent: Option<&str>, name: &str) {
        #[cfg(unix)]
        {
            let events = self.events.clone();
            // The engine has ended meanwhile.
            let tell = move |relisted| drop(events.send(Event::Relisted(relisted)));
            if let Some(servers) = self.servers_of(agent) {
                servers.listen(name, tell);
            }
        }
        #[cfg(not(unix))]
        let _ = (agent, name);
    }

    /// A server has answered, or will not.
    pub(super) async fn server_connected(
        &mut self,
        connected: Connected,
        reply: Option<WaitingReply>,
    ) {
        let name = connected.name().to_owned();
        let agent = connected.agent().map(str::to_owned);
        let outcome = match self.servers_of(agent.as_deref()) {
            Some(servers) => servers.connected(connected),
            None => Ok(()),
        };
        self.log.note(Topic::Mcp, || {
            // Why not is for `mcp_status`: the words are the server's.
            let how = if outcome.is_ok() {
                "is connected"
            } else {
                "did not connect"
            };
            format!("a server {how}")
        });
        match (&agent, &outcome) {
            (Some(agent), Err(reason)) => anstream::eprintln!(
                "windlass: the agent {agent} goes without its MCP server {name}: {reason}"
            ),
            (None, Err(reason)) => {
                crate::warning::warn(&format!("the MCP server {name} is not connected: {reason}"));
            }
            (_, Ok(())) => {}
        }
        self.listen(agent.as_deref(), &name);
        self.made_of_changed();
        if let Some(reply) = reply {
            self.connected(reply, outcome).await;
        }
    }

    /// The tools of a server have changed.
    pub(super) fn server_relisted(&mut self, relisted: Relisted) {
        let agent = relisted.agent().map(str::to_owned);
        if let Some(servers) = self.servers_of(agent.as_deref()) {
            servers.relisted(relisted);
        }
        self.made_of_changed();
    }
}
