//! One MCP server: how it is reached, how it is doing, what it offers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::{Millis, RawJson};

use crate::{
    machine::{
        io::{ConnectionId, Offer},
        routes::Route,
    },
    protocol::reply::ReplyError,
};

/// A server, connected or not.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) config: RawJson,
    /// What the settings add to the environment of programs, as it was when it was added.
    pub(super) variables: BTreeMap<String, String>,
    /// Its configuration may name keys, and then gets them.
    pub(super) may_name_keys: bool,
    pub(super) status: Status,
    pub(super) offer: Offer,
    /// It was added while the engine ran.
    pub(super) is_dynamic: bool,
    /// It stands in the project's `.mcp.json`.
    pub(super) is_of_project: bool,
    /// Which connection counts: an answer to an earlier one comes too late. 0 before the first.
    pub(super) connection: ConnectionId,
    /// When it has taken too long to answer.
    pub(super) due: Option<Millis>,
    /// It has ended by itself.
    pub(super) is_closed: bool,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It lives in the SDK's process.
    Sdk,
    /// By the host: a program that is started.
    Host,
}

impl Kind {
    pub(super) fn of(config: &RawJson) -> Self {
        #[derive(Deserialize)]
        struct Typed {
            #[serde(rename = "type", default)]
            kind: Option<String>,
        }
        let kind = config.decode::<Typed>().ok().and_then(|it| it.kind);
        match kind.as_deref() {
            Some("sdk") => Self::Sdk,
            _ => Self::Host,
        }
    }
}

impl Server {
    /// One that is not yet connected.
    pub(super) fn new(kind: Kind, config: RawJson, may_name_keys: bool) -> Self {
        Self {
            kind,
            config,
            variables: BTreeMap::new(),
            may_name_keys,
            status: Status::NotStarted,
            offer: Offer::default(),
            is_dynamic: false,
            is_of_project: false,
            connection: 0,
            due: None,
            is_closed: false,
        }
    }

    /// The way to a tool of it.
    pub(super) fn route(&self, name: &str, tool: &str) -> Option<Route> {
        let tool = tool.to_owned();
        match self.kind {
            Kind::Sdk => Some(Route::Sdk {
                server: name.to_owned(),
                tool,
            }),
            Kind::Host if self.connection != 0 => Some(Route::Program {
                connection: self.connection,
                tool,
            }),
            Kind::Host => None,
        }
    }

    /// How it is doing now: a program may have ended meanwhile.
    pub(super) fn status(&self) -> Status {
        if self.status == Status::Connected && self.is_closed {
            return Status::Failed("it has ended; reconnect it to use its tools".to_owned());
        }
        self.status.clone()
    }

    /// Leaves it out for now.
    pub(super) fn disable(&mut self) {
        self.status = Status::Disabled;
    }

    /// Why it could not be reached, if it could not.
    pub(super) fn failure(&self) -> Option<&str> {
        match &self.status {
            Status::Failed(reason) => Some(reason),
            _ => None,
        }
    }

    /// The connection to the program that it is.
    pub(super) fn program(&self, name: &str) -> Result<ConnectionId, ReplyError> {
        if self.kind == Kind::Sdk {
            let text = format!("{name} lives in the process of the SDK: ask it there");
            return Err(ReplyError::new(text));
        }
        match self.status {
            Status::Connected => Ok(self.connection),
            _ => {
                let status = self.status().name();
                Err(ReplyError::new(format!(
                    "MCP server not connected: {name} ({status})"
                )))
            }
        }
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
        let is_sdk = self.kind == Kind::Sdk;
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
