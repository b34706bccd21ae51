//! One MCP server: how it is reached, how it is doing, what it offers.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use windlass_core::RawJson;

use super::super::sdk_server::{Offer, SdkServer, SdkTool};
use crate::host::RunTool;
#[cfg(unix)]
use crate::mcp::{Connection, StdioServer};

/// A server, connected or not.
pub(super) struct Server {
    pub(super) way: Way,
    pub(super) config: RawJson,
    pub(super) status: Status,
    pub(super) offer: Offer,
    /// The program that was started and answers.
    #[cfg(unix)]
    pub(super) connection: Option<Connection>,
    /// Who listens to it, until it is let go.
    pub(super) listening: JoinSet<()>,
    /// It was added while the engine ran.
    pub(super) is_dynamic: bool,
    /// It stands in the project's `.mcp.json`.
    pub(super) is_of_project: bool,
    /// Which connection counts: an answer to an earlier one comes too late.
    pub(super) attempt: u64,
}

/// How a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// Nobody has connected to it yet.
    NotStarted,
    /// It has not answered yet.
    Pending,
    Connected,
    /// It could not be reached, and why.
    Failed(String),
    /// It is left out for now.
    Disabled,
}

/// How a server is reached.
#[derive(Clone)]
pub(super) enum Way {
    Sdk(SdkServer),
    /// A program that is started.
    #[cfg(unix)]
    Stdio(Box<StdioServer>),
    /// Not from here; why.
    None(String),
}

impl Server {
    /// One that is not yet connected.
    pub(super) fn new(way: Way, config: RawJson, is_dynamic: bool) -> Self {
        Self {
            way,
            config,
            status: Status::NotStarted,
            offer: Offer::default(),
            #[cfg(unix)]
            connection: None,
            listening: JoinSet::new(),
            is_dynamic,
            is_of_project: false,
            attempt: 0,
        }
    }

    /// What runs a tool of it.
    pub(super) fn runner(&self, name: &str) -> Option<Arc<dyn RunTool>> {
        match &self.way {
            Way::Sdk(server) => Some(Arc::new(SdkTool {
                server: server.clone(),
                name: name.to_owned(),
            })),
            #[cfg(unix)]
            Way::Stdio(_) => Some(Arc::new(self.connection.as_ref()?.tool(name))),
            Way::None(_) => None,
        }
    }

    /// Forgets what it offers and ends what was started for it.
    pub(super) fn let_go(&mut self) {
        self.offer = Offer::default();
        self.listening.abort_all();
        #[cfg(unix)]
        if let Some(connection) = self.connection.take() {
            // Its calls fail; nobody waits for its end.
            tokio::spawn(async move { connection.close().await });
        }
    }

    /// How it is doing now: a program may have ended meanwhile.
    pub(super) fn status(&self) -> Status {
        #[cfg(unix)]
        if self.status == Status::Connected
            && self.connection.as_ref().is_some_and(Connection::is_closed)
        {
            return Status::Failed("it has ended; reconnect it to use its tools".to_owned());
        }
        self.status.clone()
    }

    pub(super) fn describe(&self, name: &str) -> Value {
        let status = self.status();
        let tools: Vec<Value> = (self.offer.tools.iter())
            .map(|(definition, name)| {
                json!({"name": name, "description": definition.description, "annotations": definition.annotations})
            })
            .collect();
        let mut described = json!({"name": name, "status": status.name(), "tools": tools});
        let mut config: Map<String, Value> = self.config.decode().unwrap_or_default();
        let is_sdk = matches!(self.way, Way::Sdk(_));
        // What says nothing is a program.
        let transport = config.entry("type").or_insert("stdio".into()).clone();
        if transport == "stdio" {
            config.entry("args").or_insert(json!([]));
        }
        described["transport"] = transport;
        described["config"] = config.into();
        let scope = if self.is_of_project {
            "project"
        } else {
            "dynamic"
        };
        described["scope"] = scope.into();
        described["source"] = if is_sdk { "sdk" } else { scope }.into();
        if let Some(info) = &self.offer.info {
            described["serverInfo"] = info.clone();
        }
        if let Status::Failed(reason) = status {
            described["error"] = reason.as_str().into();
        }
        described
    }
}

impl Status {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotStarted | Self::Pending => "pending",
            Self::Connected => "connected",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
        }
    }
}
