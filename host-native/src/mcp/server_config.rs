//! Configuration of any server outside of this program.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use windlass_core::RawJson;

use super::{
    ConfigError, ConnectError, Connection, HttpServer, StdioServer, elicitation::Elicitations,
};

/// A server outside of this program.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ServerConfig {
    /// A program that is started.
    Stdio(StdioServer),
    /// An address.
    Http(HttpServer),
}

impl ServerConfig {
    /// Reads a server's configuration: of a program if it has no `type`. `${NAME}` and `${NAME:-default}` are expanded.
    ///
    /// # Errors
    /// [`ConfigError`]
    pub fn read(
        name: &str,
        config: &RawJson,
        value_of: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type", default)]
            kind: Option<String>,
        }
        let kind = config.decode::<Kind>().ok().and_then(|it| it.kind);
        match kind.as_deref() {
            None | Some("stdio") => StdioServer::read(name, config, value_of).map(Self::Stdio),
            Some(_) => HttpServer::read(name, config, value_of).map(Self::Http),
        }
    }

    /// Its name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stdio(server) => server.name(),
            Self::Http(server) => server.name(),
        }
    }

    /// The configuration passed to the engine for a server added by the program.
    pub(super) fn stand_in(&self) -> RawJson {
        let kind = match self {
            Self::Stdio(_) => "stdio",
            Self::Http(server) => server.kind(),
        };
        RawJson::encode(&json!({ "type": kind })).unwrap_or_else(|_| RawJson::empty_object())
    }

    /// Connects to it; it may ask the person.
    pub(super) async fn connect_asked(
        &self,
        elicitations: &Arc<Elicitations>,
    ) -> Result<Connection, ConnectError> {
        match self {
            Self::Stdio(server) => server.connect_asked(elicitations).await,
            Self::Http(server) => server.connect_asked(elicitations).await,
        }
    }

    /// Connects to it.
    ///
    /// # Errors
    /// [`ConnectError`]
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        match self {
            Self::Stdio(server) => server.connect().await,
            Self::Http(server) => server.connect().await,
        }
    }
}
