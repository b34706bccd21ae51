//! Control requests of the SDK about MCP servers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_core::{Input as SessionInput, RawJson};

use super::{
    Owner, not_found,
    server::{Kind, Server},
};
use crate::{
    machine::{
        Engine,
        io::{ConnectionId, Effect, Question},
        pending::Pending,
    },
    protocol::reply::{Reply, ReplyError},
};

/// A reply that waits for connections; it is sent when the last of them has a result.
#[derive(Debug)]
pub(super) struct ServerReply {
    request: String,
    waits_for: BTreeSet<ConnectionId>,
    /// The reasons of failed connections.
    failures: Vec<String>,
    then: Then,
}

/// What is replied when the connections have results.
#[derive(Debug)]
pub(super) enum Then {
    /// Whether the servers were connected.
    Connected,
    /// Which servers were replaced.
    Exchanged(Exchanged),
    /// What the plugins are that were read again.
    PluginsReread,
}

#[derive(Debug)]
pub(super) struct Exchanged {
    added: Vec<String>,
    removed: Vec<String>,
}

impl Engine {
    /// All servers, in the format of `mcp_status`.
    pub(in crate::machine) fn server_status(&self) -> Value {
        json!({"mcpServers": self.servers.status()})
    }

    /// Reconnects to a server; the reply follows when the result is known.
    pub(in crate::machine) fn reconnect(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        let known = self.servers.session.all.get(name);
        if known.is_some_and(|server| server.kind == Kind::Sdk) {
            let text = format!(
                "{name} lives in the process of the SDK: there is no connection to make anew"
            );
            return Err(ReplyError::new(text));
        }
        self.enable(id, name)
    }

    /// Enables a server; the reply follows when the result is known.
    pub(in crate::machine) fn enable(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        let owners = self.servers.owners(name)?;
        let names = owners.into_iter().map(|owner| (owner, name.to_owned()));
        self.connect_for(id, names.collect(), Then::Connected);
        Ok(())
    }

    /// Disables a server for now.
    pub(in crate::machine) fn disable(&mut self, name: &str) -> Result<(), ReplyError> {
        for owner in self.servers.owners(name)? {
            self.let_go(&owner, name);
            if let Some(server) = self.servers.server_mut(&owner, name) {
                server.disable();
            }
        }
        self.mark_stale();
        Ok(())
    }

    /// Replaces the dynamic servers. Returns `None` if the reply has to wait for new servers.
    pub(in crate::machine) fn set_servers(
        &mut self,
        id: &str,
        configs: &BTreeMap<String, RawJson>,
    ) -> Option<Reply> {
        let (added, removed) = self.replace_dynamic(&None, configs, true);
        self.mark_stale();
        if added.is_empty() {
            return Some(Reply::with(
                json!({"added": [], "removed": removed, "errors": {}}),
            ));
        }
        let names = added.iter().map(|name| (None, name.clone())).collect();
        self.connect_for(id, names, Then::Exchanged(Exchanged { added, removed }));
        None
    }

    /// Connects to servers; the reply to a request waits for all of them.
    pub(super) fn connect_for(&mut self, request: &str, names: Vec<(Owner, String)>, then: Then) {
        // Registered before connecting, so that the reply also covers connections that fail immediately.
        let first = self.servers.connections + 1;
        let count = names.len() as u64;
        self.servers.replies.push(ServerReply {
            request: request.to_owned(),
            waits_for: (first..first + count).collect(),
            failures: Vec::new(),
            then,
        });
        for (owner, name) in names {
            self.connect(&owner, &name);
        }
    }

    /// Records the result of a connection and sends the replies that waited only for it.
    pub(super) fn connection_came_to(
        &mut self,
        connection: ConnectionId,
        outcome: &Result<(), String>,
    ) {
        for reply in &mut self.servers.replies {
            let waited = reply.waits_for.remove(&connection);
            if let (true, Err(reason)) = (waited, outcome)
                && !reply.failures.contains(reason)
            {
                reply.failures.push(reason.clone());
            }
        }
        let replies = std::mem::take(&mut self.servers.replies);
        let (ready, waiting) = (replies.into_iter()).partition(|it| it.waits_for.is_empty());
        self.servers.replies = waiting;
        let ready: Vec<ServerReply> = ready;
        for reply in ready {
            let answer = match &reply.then {
                Then::Exchanged(exchanged) => self.exchanged(exchanged),
                // What became of the servers is in it.
                Then::PluginsReread => self.plugins_reply(),
                Then::Connected if reply.failures.is_empty() => Reply::done(),
                Then::Connected => ReplyError::new(reply.failures.join("; ")).into(),
            };
            self.reply(&reply.request, &answer);
        }
    }

    fn exchanged(&self, Exchanged { added, removed }: &Exchanged) -> Reply {
        let all = &self.servers.session.all;
        let errors: BTreeMap<&String, &str> = (added.iter())
            .filter_map(|name| Some((name, all.get(name).and_then(Server::failure)?)))
            .collect();
        Reply::with(json!({"added": added, "removed": removed, "errors": errors}))
    }

    /// Guards the tools of a server, or removes the guard: while guarded, no permission mode lets them run without asking,
    /// but permission rules apply as usual. The guard belongs to the session, and also covers a server that does not exist
    /// yet.
    pub(in crate::machine) fn set_server_mode(&mut self, name: &str, is_guarded: bool) -> Reply {
        self.tell_session(SessionInput::GuardServer {
            server: name.to_owned(),
            is_guarded,
        });
        match self.servers.owners(name) {
            Ok(_) => Reply::with(json!({})),
            Err(error) => Reply::with(json!({"warning": error.text})),
        }
    }

    /// Calls a server's tool on behalf of the SDK, without involving the model or permission rules. The reply is the server's
    /// answer.
    pub(in crate::machine) fn call_past_the_model(
        &mut self,
        id: &str,
        tool: &str,
        arguments: &RawJson,
        timeout_ms: Option<u32>,
    ) -> Result<(), ReplyError> {
        let found = self.servers.every().find_map(|(name, server)| {
            let mut tools = server.offer.tools.iter();
            let (_, own) = tools.find(|(definition, _)| definition.name == tool)?;
            Some(server.program(name).map(|it| (it, own.clone())))
        });
        let (connection, tool) =
            found.ok_or_else(|| ReplyError::new(format!("no MCP server has a tool {tool}")))??;
        let arguments = arguments.decode().map_err(|error| {
            ReplyError::coded("invalid_request", format!("mcp_call: arguments: {error}"))
        })?;
        let question = Question::Call {
            tool,
            arguments,
            timeout_ms,
        };
        self.effect(
            Effect::Ask(connection, question),
            Pending::Ask(id.to_owned()),
        );
        Ok(())
    }

    /// Reads a resource of a server.
    pub(in crate::machine) fn read_resource(
        &mut self,
        id: &str,
        name: &str,
        uri: &str,
    ) -> Result<(), ReplyError> {
        if !uri.starts_with("ui://") {
            let text = format!("{uri} is not read: only resources that begin with ui:// are");
            return Err(ReplyError::new(text));
        }
        // Several agents may have a server of this name, and some may never have started: use one that runs.
        let mut refusal = not_found(name);
        let owners = self.servers.owners(name)?;
        let connection = owners.iter().find_map(|owner| {
            let server = self.servers.of(owner)?.all.get(name)?;
            let connection = server.program(name);
            connection.map_err(|error| refusal = error).ok()
        });
        let connection = connection.ok_or(refusal)?;
        let question = Question::Resource(uri.to_owned());
        self.effect(
            Effect::Ask(connection, question),
            Pending::Ask(id.to_owned()),
        );
        Ok(())
    }

    /// Handles a server's answer to a request outside of the conversation.
    pub(in crate::machine) fn asked(&mut self, id: &str, answer: Result<RawJson, String>) {
        let reply = match answer {
            Ok(answer) => Reply::with(answer),
            Err(reason) => ReplyError::new(reason).into(),
        };
        self.reply(id, &reply);
    }
}
