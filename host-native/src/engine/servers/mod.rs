//! The MCP servers of an engine: which there are, how they are doing, what tools they have.

mod config;
mod connecting;
mod server;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{RawJson, message::McpServer, tool::ToolDefinition};
use windlass_engine::protocol::reply::ReplyError;

pub use self::config::read_config;
use self::server::{Server, Status, Way};
pub(super) use self::{
    config::read_project_config,
    connecting::{Connected, Relisted},
};
use super::{channel::ControlChannel, launch::Launch, sdk_server::SdkServer};
#[cfg(unix)]
use crate::mcp::{Connection, StdioServer};
use crate::{
    credentials::{self, Credentials},
    host::RunTool,
    redact::Redactor,
};

/// Servers of the session, or those that one agent has for itself, by name.
pub(in crate::engine) struct Servers {
    /// The agent that alone has them; none where they are the session's.
    agent: Option<String>,
    channel: ControlChannel,
    /// Where programs are started, if not where this one was.
    cwd: Option<PathBuf>,
    /// What the settings add to the environment of programs, and may stand in configurations.
    variables: BTreeMap<String, String>,
    /// The keys of model servers.
    keys: Credentials,
    /// Configurations that are added may name keys, and then get them.
    may_name_keys: bool,
    /// Takes keys out of what servers say.
    redactor: Redactor,
    all: BTreeMap<String, Server>,
    /// How often anything was connected: no two connections have one number, also where another server has taken a name.
    attempts: u64,
}

impl Servers {
    pub(in crate::engine) fn new(channel: ControlChannel, launch: &Launch) -> Self {
        Self {
            agent: None,
            channel,
            cwd: launch.cwd.clone(),
            variables: BTreeMap::new(),
            keys: launch.keys.clone(),
            may_name_keys: true,
            redactor: launch.redactor(),
            all: BTreeMap::new(),
            attempts: 0,
        }
    }

    /// None yet, that are one agent's alone: what comes of their connections says so.
    pub(in crate::engine) fn of_agent(&self, agent: &str) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            channel: self.channel.clone(),
            cwd: self.cwd.clone(),
            variables: BTreeMap::new(),
            keys: self.keys.clone(),
            may_name_keys: true,
            redactor: self.redactor.clone(),
            all: BTreeMap::new(),
            attempts: 0,
        }
    }

    /// Whether servers that are added from now on may name keys in their configurations.
    pub(in crate::engine) fn let_keys_be_named(&mut self, may_name_keys: bool) {
        self.may_name_keys = may_name_keys;
    }

    /// What the settings add to the environment: for servers that are added from now on.
    pub(in crate::engine) fn set_variables(&mut self, variables: BTreeMap<&str, &str>) {
        let variables = variables.into_iter();
        self.variables = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    }

    /// Adds a server of the project's own file, not yet connected.
    pub(in crate::engine) fn add_of_project(&mut self, name: &str, config: RawJson) {
        self.add(name, config, false);
        if let Some(server) = self.all.get_mut(name) {
            server.is_of_project = true;
        }
    }

    /// Adds a server, not yet connected.
    pub(in crate::engine) fn add(&mut self, name: &str, config: RawJson, is_dynamic: bool) {
        let server = Server::new(self.way(name, &config), config, is_dynamic);
        self.all.insert(name.to_owned(), server);
    }

    /// How a server is reached, by its configuration.
    fn way(&self, name: &str, config: &RawJson) -> Way {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type", default)]
            kind: Option<String>,
        }
        let kind = config.decode::<Kind>().ok().and_then(|kind| kind.kind);
        match kind.as_deref() {
            Some("sdk") => Way::Sdk(SdkServer::new(
                name.to_owned(),
                self.channel.clone(),
                self.redactor.clone(),
            )),
            #[cfg(unix)]
            None | Some("stdio") => {
                let variable = |name: &str| {
                    let own = self.variables.get(name).cloned();
                    match credentials::is_credential(name) {
                        true if !self.may_name_keys => None,
                        true => own.or_else(|| self.keys.get(name).map(str::to_owned)),
                        false => own.or_else(|| std::env::var(name).ok()),
                    }
                };
                match StdioServer::read(name, config, &variable) {
                    Ok(server) => {
                        let server = server
                            .with_variables(&self.variables)
                            .redacting(self.redactor.clone());
                        Way::Stdio(Box::new(match &self.cwd {
                            Some(cwd) => server.directory(cwd),
                            None => server,
                        }))
                    }
                    Err(error) => Way::None(error.to_string()),
                }
            }
            kind => Way::None(format!(
                "servers of type {} are not supported",
                kind.unwrap_or("stdio")
            )),
        }
    }

    /// Adds a server of the SDK's process.
    pub(in crate::engine) fn add_sdk(&mut self, name: &str) {
        let config = RawJson::encode(&json!({"type": "sdk", "name": name}));
        self.add(
            name,
            config.unwrap_or_else(|_| RawJson::empty_object()),
            false,
        );
    }

    pub(in crate::engine) fn is_sdk(&self, name: &str) -> bool {
        self.all
            .get(name)
            .is_some_and(|server| matches!(server.way, Way::Sdk(_)))
    }

    /// Whether a server has not answered yet.
    pub(in crate::engine) fn are_pending(&self) -> bool {
        self.all
            .values()
            .any(|server| server.status == Status::Pending)
    }

    /// Whether there is a server of this name.
    pub(in crate::engine) fn has(&self, name: &str) -> bool {
        self.all.contains_key(name)
    }

    /// The names of those to which nobody has connected yet.
    pub(in crate::engine) fn not_started(&self) -> Vec<String> {
        let all = self.all.iter();
        all.filter(|(_, server)| server.status == Status::NotStarted)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Whether there are none.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The names of all servers.
    pub(in crate::engine) fn names(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }

    /// Leaves a server out for now.
    pub(in crate::engine) fn disable(&mut self, name: &str) -> Result<(), ReplyError> {
        let server = self.all.get_mut(name).ok_or_else(|| not_found(name))?;
        server.let_go();
        server.status = Status::Disabled;
        Ok(())
    }

    /// The servers that were added while the engine runs are these from now on. The names of those to connect, and what
    /// was removed.
    pub(in crate::engine) fn replace_dynamic(
        &mut self,
        configs: &BTreeMap<String, RawJson>,
    ) -> (Vec<String>, Vec<String>) {
        let is_same = |name: &String, server: &Server| configs.get(name) == Some(&server.config);
        let gone: Vec<String> = (self.all.iter())
            .filter(|(name, server)| {
                (server.is_dynamic || matches!(server.way, Way::Sdk(_))) && !is_same(name, server)
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in &gone {
            if let Some(mut server) = self.all.remove(name) {
                server.let_go();
            }
        }
        let new: Vec<String> = configs
            .keys()
            .filter(|name| !self.all.contains_key(*name))
            .cloned()
            .collect();
        for name in &new {
            self.add(name, configs[name].clone(), true);
        }
        let removed = gone
            .into_iter()
            .filter(|name| !configs.contains_key(name))
            .collect();
        (new, removed)
    }

    /// The program behind a server.
    #[cfg(unix)]
    pub(in crate::engine) fn connection(&self, name: &str) -> Result<Connection, ReplyError> {
        let server = self.all.get(name).ok_or_else(|| not_found(name))?;
        if matches!(server.way, Way::Sdk(_)) {
            let text = format!("{name} lives in the process of the SDK: ask it there");
            return Err(ReplyError::new(text));
        }
        let connection = server.connection.clone();
        connection.ok_or_else(|| {
            let status = server.status().name();
            ReplyError::new(format!("MCP server not connected: {name} ({status})"))
        })
    }

    /// The program that has a tool, by the name by which the model calls it, and the name by which the program knows it; none
    /// where no server has such a tool.
    #[cfg(unix)]
    pub(in crate::engine) fn connection_of_tool(
        &self,
        tool: &str,
    ) -> Option<Result<(Connection, String), ReplyError>> {
        self.all.iter().find_map(|(name, server)| {
            let mut tools = server.offer.tools.iter();
            let (_, own) = tools.find(|(definition, _)| definition.name == tool)?;
            let connection = self.connection(name);
            Some(connection.map(|connection| (connection, own.clone())))
        })
    }

    /// Why a server could not be reached, if it could not.
    pub(in crate::engine) fn failure(&self, name: &str) -> Option<&str> {
        match &self.all.get(name)?.status {
            Status::Failed(reason) => Some(reason),
            _ => None,
        }
    }

    /// Every tool, with what runs it.
    pub(in crate::engine) fn tools(
        &self,
    ) -> impl Iterator<Item = (ToolDefinition, Arc<dyn RunTool>)> {
        self.all.values().flat_map(|server| {
            let tools = server.offer.tools.iter();
            tools.filter_map(|(definition, name)| Some((definition.clone(), server.runner(name)?)))
        })
    }

    /// Ends the programs that were started, and waits until they have ended.
    pub(in crate::engine) async fn close(&mut self) {
        #[cfg(unix)]
        futures_util::future::join_all(
            self.all
                .values_mut()
                .filter_map(|server| server.connection.take())
                .map(|connection| async move { connection.close().await }),
        )
        .await;
    }

    /// The servers as `init` names them.
    pub(in crate::engine) fn infos(&self) -> Vec<McpServer> {
        let info = |(name, server): (&String, &Server)| McpServer {
            name: name.clone(),
            status: server.status().name().to_owned(),
        };
        self.all.iter().map(info).collect()
    }

    /// The servers as `mcp_status` describes them.
    pub(in crate::engine) fn status(&self) -> impl Iterator<Item = Value> {
        self.all.iter().map(|(name, server)| {
            let mut described = server.describe(name);
            if let Some(agent) = &self.agent {
                described["agent"] = agent.as_str().into();
            }
            described
        })
    }
}

pub(super) fn not_found(name: &str) -> ReplyError {
    ReplyError::new(format!("Server not found: {name}"))
}
