//! Connecting to MCP servers, and handling their events.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_core::RawJson;

use super::{
    Owner,
    server::{Kind, Scope, Status},
};
use crate::machine::{
    Engine, Topic,
    io::{ConnectRequest, ConnectionId, Effect, Offer, Output, ServerEvent},
    pending::Pending,
};

/// How long a server may take to list its tools after the connection was started, in milliseconds.
const CONNECT_TIMEOUT_MS: u64 = 60_000;

impl Engine {
    /// Adds and connects the servers named by flags, files and the SDK. If several have the same name, the last one is used.
    pub(in crate::machine) fn add_servers(&mut self) {
        let Some(prepared) = self.prepared.clone() else {
            return;
        };
        let config = &prepared.config;
        let servers = &mut self.servers.session;
        servers.variables.clone_from(&config.variables);
        if !self.launch.flags.only_given_servers() {
            for (name, server) in &config.personal_servers.user {
                servers.add(name, server.clone(), true).scope = Scope::User;
            }
            for (name, server) in &config.project_servers {
                // An untrusted folder could otherwise pass the API keys to a program of its own.
                let added = servers.add(name, server.clone(), config.is_trusted);
                added.scope = Scope::Project;
            }
            for (name, server) in &config.plugin_servers {
                // A plugin is somebody else's: its programs get no key of a model server.
                servers.add(name, server.clone(), false).scope = Scope::Plugin;
            }
            for (name, server) in &config.personal_servers.local {
                servers.add(name, server.clone(), true).scope = Scope::Local;
            }
        }
        let mut given: BTreeMap<&String, &RawJson> = config.given_servers.iter().collect();
        given.extend(prepared.initialize.mcp_servers.iter().flatten());
        for (name, server) in given {
            servers.add(name, server.clone(), true);
        }
        for name in prepared.initialize.sdk_mcp_servers.iter().flatten() {
            let config = RawJson::encode(&json!({"type": "sdk", "name": name}));
            let config = config.unwrap_or_else(|_| RawJson::empty_object());
            servers.add(name, config, true);
        }
        let names: Vec<String> = servers.all.keys().cloned().collect();
        for name in names {
            self.connect(&None, &name);
        }
        self.exchange_agents_servers();
    }

    /// Starts connecting to a server. Returns the number of the connection, whose result follows later.
    pub(in crate::machine) fn connect(
        &mut self,
        owner: &Owner,
        name: &str,
    ) -> Option<ConnectionId> {
        self.let_go(owner, name);
        let due = self.now.mono.after(CONNECT_TIMEOUT_MS);
        let connection = self.servers.connections + 1;
        let server = self.servers.server_mut(owner, name)?;
        server.status = Status::Pending;
        server.connection = connection;
        server.due = Some(due);
        server.is_closed = false;
        let request = ConnectRequest {
            connection,
            name: name.to_owned(),
            config: server.config.clone(),
            variables: server.variables.clone(),
            may_name_keys: server.may_name_keys,
        };
        let kind = server.kind.clone();
        self.servers.connections = connection;
        self.note(Topic::Mcp, || format!("connects to {name}"));
        match kind {
            Kind::Sdk => self.introduce(connection, name),
            Kind::Host => {
                self.servers.open.insert(connection);
                self.effect(
                    Effect::Connect(Box::new(request)),
                    Pending::Connect(connection),
                );
            }
        }
        Some(connection)
    }

    /// Discards a server's offer and closes its connection.
    pub(in crate::machine) fn let_go(&mut self, owner: &Owner, name: &str) {
        let Some(server) = self.servers.server_mut(owner, name) else {
            return;
        };
        server.offer = Offer::default();
        server.due = None;
        let connection = server.connection;
        self.end_connection(connection);
        // Replies that wait for this connection need not wait any longer.
        self.connection_came_to(connection, &Ok(()));
    }

    /// Closes a connection, even while it is still being established.
    pub(super) fn end_connection(&mut self, connection: ConnectionId) {
        for question in self.questions.about_connection(connection) {
            self.withdraw_question(&question);
        }
        if self.servers.open.remove(&connection) {
            self.outbox.push(Output::Disconnect(connection));
        }
    }

    /// Handles the result of connecting to a server.
    pub(in crate::machine) fn connected(
        &mut self,
        connection: ConnectionId,
        answer: Result<Offer, String>,
    ) {
        self.connection_ended_as(connection, answer.map_err(Status::Failed));
    }

    /// Handles the refusal of a server that wants somebody to sign in first.
    pub(in crate::machine) fn needs_auth(&mut self, connection: ConnectionId, reason: String) {
        self.connection_ended_as(connection, Err(Status::NeedsAuth(reason)));
    }

    /// Records what became of a connection: what the server offers, or the status without it.
    fn connection_ended_as(&mut self, connection: ConnectionId, answer: Result<Offer, Status>) {
        let Some((owner, name)) = self.servers.find(connection) else {
            return;
        };
        let Some(server) = self.servers.server_mut(&owner, &name) else {
            return;
        };
        if server.status != Status::Pending {
            return;
        }
        server.due = None;
        let outcome = match answer {
            Ok(offer) => {
                server.offer = offer;
                server.status = Status::Connected;
                Ok(())
            }
            Err(status) => {
                server.offer = Offer::default();
                server.status = status;
                Err(server.failure().unwrap_or_default().to_owned())
            }
        };
        if outcome.is_err() {
            self.end_connection(connection);
        }
        self.note(Topic::Mcp, || {
            // The reason is shown by `mcp_status` only, because it contains text from the server.
            let how = if outcome.is_ok() {
                "is connected"
            } else {
                "did not connect"
            };
            format!("a server {how}")
        });
        let warning = match (&owner, &outcome) {
            (Some(agent), Err(reason)) => Some(format!(
                "the agent {agent} goes without its MCP server {name}: {reason}"
            )),
            (None, Err(reason)) => {
                Some(format!("the MCP server {name} is not connected: {reason}"))
            }
            (_, Ok(())) => None,
        };
        warning
            .into_iter()
            .for_each(|it| self.outbox.push(Output::Warning(it)));
        self.mark_stale();
        self.connection_came_to(connection, &outcome);
    }

    /// Handles an unsolicited event of a server.
    pub(in crate::machine) fn server_event(
        &mut self,
        connection: ConnectionId,
        event: ServerEvent,
    ) {
        let Some((owner, name)) = self.servers.find(connection) else {
            return;
        };
        let Some(server) = self.servers.server_mut(&owner, &name) else {
            return;
        };
        match event {
            ServerEvent::Tools(tools) => {
                server.offer.tools = tools;
                self.mark_stale();
            }
            ServerEvent::Closed => server.is_closed = true,
            ServerEvent::Elicitation { number, asked } => {
                self.elicited(connection, &name, number, &asked);
            }
        }
    }

    /// Fails connections whose deadline has passed.
    pub(in crate::machine) fn servers_tick(&mut self) {
        let mono = self.now.mono;
        let late = self.servers.every();
        let late: Vec<ConnectionId> = late
            .filter(|(_, server)| server.due.is_some_and(|due| due <= mono))
            .map(|(_, server)| server.connection)
            .collect();
        for connection in late {
            let seconds = CONNECT_TIMEOUT_MS / 1000;
            let reason = format!("no answer within {seconds} seconds");
            self.connected(connection, Err(reason));
        }
    }
}
