//! One MCP server: how to reach it, its status, and what it offers.

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

/// What stands in place of the values of headers.
const HIDDEN: &str = "[hidden]";

/// A server, connected or not.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) config: RawJson,
    /// The variables that the settings added to the environment of programs when the server was added.
    pub(super) variables: BTreeMap<String, String>,
    /// Whether its configuration may refer to API keys and receive their values.
    pub(super) may_name_keys: bool,
    pub(super) status: Status,
    pub(super) offer: Offer,
    /// Whether it was added while the engine ran.
    pub(super) is_dynamic: bool,
    /// Where its configuration comes from.
    pub(super) scope: Scope,
    /// The current connection; answers of earlier ones are ignored. 0 before the first.
    pub(super) connection: ConnectionId,
    /// The deadline for its answer.
    pub(super) due: Option<Millis>,
    /// Whether it has ended by itself.
    pub(super) is_closed: bool,
}

/// The status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// It has not been started yet.
    NotStarted,
    /// It is connecting.
    Pending,
    Connected,
    /// It could not be reached; holds the reason.
    Failed(String),
    /// It lets nobody in who has not signed in; holds what it said.
    NeedsAuth(String),
    /// It is disabled for now.
    Disabled,
}

/// Where the configuration of a server comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The user's state file, for every folder.
    User,
    /// The project's `.mcp.json`.
    Project,
    /// The user's state file, for this folder.
    Local,
    /// A plugin.
    Plugin,
    /// A flag, the SDK or an agent.
    Dynamic,
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Plugin | Self::Dynamic => "dynamic",
        }
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// In the SDK's process.
    Sdk,
    /// Through the host.
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
    /// A server that is not connected yet.
    pub(super) fn new(kind: Kind, config: RawJson, may_name_keys: bool) -> Self {
        Self {
            kind,
            config,
            variables: BTreeMap::new(),
            may_name_keys,
            status: Status::NotStarted,
            offer: Offer::default(),
            is_dynamic: false,
            scope: Scope::Dynamic,
            connection: 0,
            due: None,
            is_closed: false,
        }
    }

    /// The route to one of its tools.
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

    /// Its current status; the program may have ended in the meantime.
    pub(super) fn status(&self) -> Status {
        if self.status == Status::Connected && self.is_closed {
            return Status::Failed("it has ended; reconnect it to use its tools".to_owned());
        }
        self.status.clone()
    }

    /// Disables the server for now.
    pub(super) fn disable(&mut self) {
        self.status = Status::Disabled;
    }

    /// The reason why it could not be reached, if it failed.
    pub(super) fn failure(&self) -> Option<&str> {
        match &self.status {
            Status::Failed(reason) | Status::NeedsAuth(reason) => Some(reason),
            _ => None,
        }
    }

    /// The host's connection to the server; an error for a server in the SDK's process, or if it is not connected.
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
        // A configuration without `type` describes a program.
        let transport = config.entry("type").or_insert("stdio".into()).clone();
        if transport == "stdio" {
            config.entry("args").or_insert(json!([]));
        }
        if let Some(headers) = config.get_mut("headers").and_then(Value::as_object_mut) {
            // They let somebody in: whoever configured them knows them.
            headers
                .values_mut()
                .for_each(|value| *value = HIDDEN.into());
        }
        described["transport"] = transport;
        described["config"] = config.into();
        let scope = self.scope.name();
        described["scope"] = scope.into();
        let is_sdk = self.kind == Kind::Sdk;
        described["source"] = if is_sdk { "sdk" } else { scope }.into();
        if let Some(info) = &self.offer.info {
            described["serverInfo"] = info.clone();
        }
        if let Status::Failed(reason) | Status::NeedsAuth(reason) = status {
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
            Self::NeedsAuth(_) => "needs-auth",
            Self::Disabled => "disabled",
        }
    }
}
