//! The MCP servers of an engine: their configuration, status and tools. Hosts connect to servers and call them; messages to
//! servers in the SDK's process are exchanged as lines (`sdk.rs`).

mod agents;
mod connecting;
mod elicitation;
mod message;
mod plugins;
mod prompts;
mod requests;
mod resources;
mod sdk;
mod server;
mod spec;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_core::{Millis, RawJson, message::McpServer, tool::ToolDefinition};

pub use self::agents::inline_servers;
pub(super) use self::{message::ServerMessage, prompts::Expansion};
use self::{
    prompts::Expanding,
    requests::ServerReply,
    server::{Kind, Server, Status},
};
use super::{io::ConnectionId, routes::Route};
use crate::protocol::reply::ReplyError;

/// The owner of servers: an agent, by name, or the session if `None`.
pub(super) type Owner = Option<String>;

/// All servers.
#[derive(Debug, Default)]
pub(super) struct ServerTable {
    /// The session's servers.
    session: Servers,
    /// Servers that belong to a single agent, by agent.
    agents: BTreeMap<String, Servers>,
    /// The number of the last connection. Numbers are never reused, even if another server takes the same name.
    connections: ConnectionId,
    /// Connections that have been opened and not closed.
    open: BTreeSet<ConnectionId>,
    /// How many requests were sent to each server in the SDK's process, which numbers the next one.
    requests: BTreeMap<String, u64>,
    /// Replies that wait for connections.
    replies: Vec<ServerReply>,
    /// The command that a server was asked about, if one is.
    expanding: Option<Expanding>,
}

/// Servers by name.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// Variables that the settings add to the environment of programs, and that configurations may refer to.
    variables: BTreeMap<String, String>,
    all: BTreeMap<String, Server>,
}

impl ServerTable {
    /// The connections that are still open, at shutdown.
    pub(super) fn into_open(self) -> Vec<ConnectionId> {
        self.open.into_iter().collect()
    }

    /// The earliest deadline of a connection that is being established.
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.every().filter_map(|(_, server)| server.due).min()
    }

    fn of(&self, owner: &Owner) -> Option<&Servers> {
        match owner {
            None => Some(&self.session),
            Some(agent) => self.agents.get(agent),
        }
    }

    fn of_mut(&mut self, owner: &Owner) -> Option<&mut Servers> {
        match owner {
            None => Some(&mut self.session),
            Some(agent) => self.agents.get_mut(agent),
        }
    }

    /// Every server with its name: those of the session, then those of agents.
    fn every(&self) -> impl Iterator<Item = (&String, &Server)> {
        let all = std::iter::once(&self.session).chain(self.agents.values());
        all.flat_map(|servers| &servers.all)
    }

    /// Whether there are no servers.
    pub(super) fn are_none(&self) -> bool {
        self.every().next().is_none()
    }

    /// The owner and name of the server with this current connection.
    fn find(&self, connection: ConnectionId) -> Option<(Owner, String)> {
        let owners = std::iter::once(None).chain(self.agents.keys().cloned().map(Some));
        owners.into_iter().find_map(|owner| {
            let mut all = self.of(&owner)?.all.iter();
            let (name, _) = all.find(|(_, server)| server.connection == connection)?;
            Some((owner.clone(), name.clone()))
        })
    }

    fn server_mut(&mut self, owner: &Owner, name: &str) -> Option<&mut Server> {
        self.of_mut(owner)?.all.get_mut(name)
    }

    /// The owners of servers with this name: the session, else every agent that has one.
    fn owners(&self, name: &str) -> Result<Vec<Owner>, ReplyError> {
        if self.session.all.contains_key(name) {
            return Ok(vec![None]);
        }
        let has = |servers: &Servers| servers.all.contains_key(name);
        let agents = self.agents.iter().filter(|(_, servers)| has(servers));
        let agents: Vec<Owner> = agents.map(|(agent, _)| Some(agent.clone())).collect();
        match agents.is_empty() {
            true => Err(not_found(name)),
            false => Ok(agents),
        }
    }

    /// The servers, in the format of `init`.
    pub(super) fn infos(&self) -> Vec<McpServer> {
        let info = |(name, server): (&String, &Server)| McpServer {
            name: name.clone(),
            status: server.status().name().to_owned(),
        };
        self.every().map(info).collect()
    }

    /// The servers, in the format of `mcp_status`; a server of an agent names the agent.
    pub(super) fn status(&self) -> Vec<Value> {
        let of_session = self.session.all.iter();
        let of_session = of_session.map(|(name, server)| server.describe(name));
        let of_agents = self.agents.iter().flat_map(|(agent, servers)| {
            servers.all.iter().map(|(name, server)| {
                let mut described = server.describe(name);
                described["agent"] = agent.as_str().into();
                described
            })
        });
        of_session.chain(of_agents).collect()
    }

    /// The tools of the session's servers.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&ToolDefinition, Route)> {
        self.session.tools()
    }

    /// The same, each with the name of its server.
    pub(super) fn named_tools(&self) -> impl Iterator<Item = (&str, &ToolDefinition)> {
        let tools = self.session.named_tools();
        tools.map(|(server, definition, _)| (server, definition))
    }
}

impl Servers {
    /// Adds a server, not yet connected.
    fn add(&mut self, name: &str, config: RawJson, may_name_keys: bool) -> &mut Server {
        let mut server = Server::new(Kind::of(&config), config, may_name_keys);
        server.variables.clone_from(&self.variables);
        match self.all.entry(name.to_owned()) {
            std::collections::btree_map::Entry::Occupied(mut known) => {
                known.insert(server);
                known.into_mut()
            }
            std::collections::btree_map::Entry::Vacant(free) => free.insert(server),
        }
    }

    /// Whether a server is still connecting.
    fn are_pending(&self) -> bool {
        let mut all = self.all.values();
        all.any(|server| server.status == Status::Pending)
    }

    /// The names of servers that have not been started.
    fn not_started(&self) -> Vec<String> {
        let all = self.all.iter();
        all.filter(|(_, server)| server.status == Status::NotStarted)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Every tool with its route.
    fn tools(&self) -> impl Iterator<Item = (&ToolDefinition, Route)> {
        self.named_tools()
            .map(|(_, definition, route)| (definition, route))
    }

    /// The same, each with the name of its server.
    fn named_tools(&self) -> impl Iterator<Item = (&str, &ToolDefinition, Route)> {
        self.all.iter().flat_map(|(name, server)| {
            let tools = server.offer.tools.iter();
            tools.filter_map(move |(definition, own)| {
                Some((name.as_str(), definition, server.route(name, own)?))
            })
        })
    }
}

pub(super) fn not_found(name: &str) -> ReplyError {
    ReplyError::new(format!("Server not found: {name}"))
}
