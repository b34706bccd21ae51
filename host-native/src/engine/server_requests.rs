//! What an SDK asks about MCP servers.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use windlass_core::{
    Input, RawJson,
    agent::server_tool_name,
    message::McpServer,
    permission::{Behavior, Destination, PermissionUpdate, RuleChange, RuleValue},
};
use windlass_engine::protocol::reply::{Reply, ReplyError};

use super::actor::Engine;

/// A reply that waits for a server.
pub(super) enum WaitingReply {
    /// It is the whole reply.
    Server(String),
    /// One of several servers, each of which holds this: the reply goes out with the last of them.
    Several(Arc<ExchangedServers>),
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

    pub(super) fn reconnect(&mut self, id: &str, name: &str) -> Result<(), ReplyError> {
        self.servers.check(name)?;
        if self.servers.is_sdk(name) {
            let text = format!(
                "{name} lives in the process of the SDK: there is no connection to make anew"
            );
            return Err(ReplyError::new(text));
        }
        self.connect(None, name, Some(WaitingReply::Server(id.to_owned())));
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
                Some(WaitingReply::Several(Arc::clone(&exchanged))),
            );
        }
        None
    }

    /// A server has answered for which a reply waits.
    pub(super) async fn connected(&mut self, reply: WaitingReply, outcome: Result<(), String>) {
        match reply {
            WaitingReply::Server(id) => {
                let reply = outcome
                    .map_or_else(|reason| ReplyError::new(reason).into(), |()| Reply::done());
                self.reply(&id, &reply).await;
            }
            WaitingReply::Several(exchanged) => {
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
        if let Err(error) = self.servers.check(name) {
            return error.into();
        }
        let method = message.decode::<Notification>().map(|it| it.method);
        if method.is_ok_and(|method| method == "notifications/tools/list_changed") {
            self.connect(None, name, None);
        }
        Reply::done()
    }

    /// From now on, or no longer, somebody is asked about each call of a server's tools, whatever the mode and whatever
    /// rules allow. It holds for the session, also for a server that is not there yet.
    pub(super) fn set_server_mode(&mut self, name: &str, asks: bool) -> Reply {
        let all = server_tool_name(name, "*");
        let change = RuleChange {
            rules: vec![RuleValue::tool(all)],
            behavior: Behavior::Ask,
            destination: Destination::Session,
        };
        let update = match asks {
            true => PermissionUpdate::AddRules(change),
            false => PermissionUpdate::RemoveRules(change),
        };
        self.tell(Input::UpdatePermissions(vec![update]));
        match self.servers.check(name) {
            Ok(()) => Reply::with(json!({})),
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
        let (connection, name) = self.servers.connection_of_tool(tool)?;
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
        let connection = self.servers.connection(server)?;
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
