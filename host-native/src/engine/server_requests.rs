//! What an SDK asks about MCP servers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use windlass_core::{Input, RawJson, message::McpServer};
use windlass_engine::protocol::reply::{Reply, ReplyError};

use super::{actor::Engine, servers::not_found};

/// A reply that waits for servers, each of which holds it: it goes out with the last of them.
pub(super) enum WaitingReply {
    /// They are connected, or one of them is not.
    Connected(Arc<ConnectedServers>),
    /// What was exchanged, and why some cannot be reached.
    Exchanged(Arc<ExchangedServers>),
}

/// Servers of one name.
pub(super) struct ConnectedServers {
    request: String,
    /// Why some did not answer.
    failures: Mutex<Vec<String>>,
}

/// Servers in the place of those that were there.
pub(super) struct ExchangedServers {
    request: String,
    added: Vec<String>,
    removed: Vec<String>,
}

impl Engine {
    /// All servers as `init` names them: first those of the session, then those of agents.
    pub(super) fn server_infos(&self) -> Vec<McpServer> {
        let mut infos = self.servers.infos();
        infos.extend(self.agent_servers.infos());
        infos
    }

    /// All servers as `mcp_status` describes them; one of an agent's own names the agent.
    pub(super) fn server_status(&self) -> Value {
        let servers = self.servers.status().chain(self.agent_servers.status());
        json!({"mcpServers": servers.collect::<Vec<_>>()})
    }

    /// Whose a server of this name is: the session's, else each agent's that has one.
    fn owners(&self, name: &str) -> Result<Vec<Option<String>>, ReplyError> {
        if self.servers.has(name) {
            return Ok(vec![None]);
        }
        let agents = self.agent_servers.owners(name);
        match agents.is_empty() {
            true => Err(not_found(name)),
            false => Ok(agents.into_iter().map(Some).collect()),
        }
    }

    /// Connects anew; the reply follows when it is known what came of it.
    pub(super) fn reconnect(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        if self.servers.is_sdk(name) {
            let text = format!(
                "{name} lives in the process of the SDK: there is no connection to make anew"
            );
            return Err(ReplyError::new(text));
        }
        self.enable(id, name)
    }

    /// Takes a server in again; the reply follows when it is known what came of it.
    pub(super) fn enable(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        let owners = self.owners(name)?;
        let reply = Arc::new(ConnectedServers {
            request: id.to_owned(),
            failures: Mutex::default(),
        });
        for owner in owners {
            let reply = WaitingReply::Connected(Arc::clone(&reply));
            self.connect(owner.as_deref(), name, Some(reply));
        }
        Ok(())
    }

    /// Leaves a server out for now.
    pub(super) fn disable(&mut self, name: &str) -> Result<(), ReplyError> {
        for owner in self.owners(name)? {
            if let Some(servers) = self.servers_of(owner.as_deref()) {
                servers.disable(name)?;
            }
        }
        self.made_of_changed();
        Ok(())
    }

    /// None where the reply has to wait for the servers that are new.
    pub(super) fn set_servers(
        &mut self,
        id: &str,
        configs: &BTreeMap<String, RawJson>,
    ) -> Option<Reply> {
        let (added, removed) = self.servers.replace_dynamic(configs);
        self.made_of_changed();
        if added.is_empty() {
            return Some(Reply::with(
                json!({"added": [], "removed": removed, "errors": {}}),
            ));
        }
        let exchanged = Arc::new(ExchangedServers {
            request: id.to_owned(),
            added,
            removed,
        });
        for name in &exchanged.added {
            self.connect(
                None,
                name,
                Some(WaitingReply::Exchanged(Arc::clone(&exchanged))),
            );
        }
        None
    }

    /// A server has answered for which a reply waits.
    pub(super) async fn connected(&mut self, reply: WaitingReply, outcome: Result<(), String>) {
        match reply {
            WaitingReply::Connected(servers) => {
                if let Err(reason) = outcome {
                    // A panic while it is held leaves a list that is whole.
                    let failures = servers.failures.lock();
                    let mut failures = failures.unwrap_or_else(PoisonError::into_inner);
                    if !failures.contains(&reason) {
                        failures.push(reason);
                    }
                }
                // Others still hold it: they are waited for.
                let Some(ConnectedServers { request, failures }) = Arc::into_inner(servers) else {
                    return;
                };
                let failures = failures.into_inner();
                let failures = failures.unwrap_or_else(PoisonError::into_inner);
                let reply = match failures.as_slice() {
                    [] => Reply::done(),
                    failures => ReplyError::new(failures.join("; ")).into(),
                };
                self.reply(&request, &reply).await;
            }
            WaitingReply::Exchanged(exchanged) => {
                // Others still hold it: they are waited for.
                let Some(exchanged) = Arc::into_inner(exchanged) else {
                    return;
                };
                let ExchangedServers {
                    request,
                    added,
                    removed,
                } = exchanged;
                let errors: BTreeMap<&String, &str> = (added.iter())
                    .filter_map(|name| Some((name, self.servers.failure(name)?)))
                    .collect();
                let reply =
                    Reply::with(json!({"added": added, "removed": removed, "errors": errors}));
                self.reply(&request, &reply).await;
            }
        }
    }

    /// A server in the SDK's process says something of its own accord.
    pub(super) fn server_says(&mut self, name: &str, message: &RawJson) -> Reply {
        #[derive(serde::Deserialize)]
        struct Notification {
            #[serde(default)]
            method: String,
        }
        if !self.servers.has(name) {
            return not_found(name).into();
        }
        let method = message.decode::<Notification>().map(|it| it.method);
        if method.is_ok_and(|method| method == "notifications/tools/list_changed") {
            self.connect(None, name, None);
        }
        Reply::done()
    }

    /// From now on, or no longer, no mode lets the tools of a server run unasked; rules hold as ever. It holds for the session,
    /// also for a server that is not there yet.
    pub(super) fn set_server_mode(&mut self, name: &str, is_guarded: bool) -> Reply {
        self.tell(Input::GuardServer {
            server: name.to_owned(),
            is_guarded,
        });
        match self.owners(name) {
            Ok(_) => Reply::with(json!({})),
            Err(error) => Reply::with(json!({"warning": error.text})),
        }
    }

    /// Calls a tool of a server as the SDK itself: neither model nor rules come into it, and the answer is the server's own.
    #[cfg(unix)]
    pub(super) fn call_past_the_model(
        &self,
        id: &str,
        tool: &str,
        arguments: &RawJson,
        timeout_ms: Option<u32>,
    ) -> Result<(), ReplyError> {
        let mut servers = std::iter::once(&self.servers).chain(self.agent_servers.all());
        let (connection, name) = servers
            .find_map(|servers| servers.connection_of_tool(tool))
            .ok_or_else(|| ReplyError::new(format!("no MCP server has a tool {tool}")))??;
        let arguments = arguments.decode().map_err(|error| {
            ReplyError::coded("invalid_request", format!("mcp_call: arguments: {error}"))
        })?;
        let limit = timeout_ms.map(|ms| std::time::Duration::from_millis(ms.into()));
        self.reply_later(
            id,
            async move { connection.call(&name, arguments, limit).await },
        );
        Ok(())
    }

    /// Reads what a server has to show.
    #[cfg(unix)]
    pub(super) fn read_resource(
        &self,
        id: &str,
        server: &str,
        uri: &str,
    ) -> Result<(), ReplyError> {
        if !uri.starts_with("ui://") {
            let text = format!("{uri} is not read: only resources that begin with ui:// are");
            return Err(ReplyError::new(text));
        }
        // Of the agents that have a server of this name some may never have started: one that runs answers.
        let mut refusal = not_found(server);
        let connection = self.owners(server)?.into_iter().find_map(|owner| {
            let servers = match &owner {
                Some(agent) => self.agent_servers.get(agent)?,
                None => &self.servers,
            };
            let connection = servers.connection(server);
            connection.map_err(|error| refusal = error).ok()
        });
        let connection = connection.ok_or(refusal)?;
        let uri = uri.to_owned();
        self.reply_later(id, async move { connection.read_resource(&uri).await });
        Ok(())
    }

    #[cfg(not(unix))]
    pub(super) fn call_past_the_model(
        &self,
        _: &str,
        tool: &str,
        _: &RawJson,
        _: Option<u32>,
    ) -> Result<(), ReplyError> {
        Err(ReplyError::new(format!(
            "{tool}: no program is a server on this system"
        )))
    }

    #[cfg(not(unix))]
    pub(super) fn read_resource(&self, _: &str, server: &str, _: &str) -> Result<(), ReplyError> {
        Err(ReplyError::new(format!(
            "{server}: no program is a server on this system"
        )))
    }

    /// Replies when a server has answered; everything else goes on meanwhile.
    #[cfg(unix)]
    fn reply_later(
        &self,
        id: &str,
        answer: impl Future<Output = Result<RawJson, String>> + Send + 'static,
    ) {
        let (id, output) = (id.to_owned(), Arc::clone(&self.output));
        tokio::spawn(async move {
            let reply = match answer.await {
                Ok(answer) => Reply::with(answer),
                Err(reason) => ReplyError::new(reason).into(),
            };
            output.frame(&reply.to_frame(&id)).await;
        });
    }
}
