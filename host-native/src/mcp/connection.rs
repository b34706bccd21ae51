//! A connection to a running MCP server.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ClientHandler, ErrorData, Peer, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        Implementation, JsonObject, ReadResourceRequestParams,
    },
    service::{NotificationContext, RequestContext, RunningService, ServiceError},
};
use serde::Serialize;
use tokio::{sync::Notify, time::Instant};
use windlass_core::{RawJson, tool::ToolDefinition};

use super::{
    elicitation::{Elicitation, Elicitations},
    link::Link,
    listing::list,
    stdio::Limits,
};

/// The minimum interval between two tool listings.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);

/// The server's self-description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its own name, which may differ from the one in the configuration.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A connected server. Cloning is cheap. The server ends with [`close`](Self::close), or when the last clone and the
/// last of its tools are dropped.
#[derive(Clone)]
pub struct Connection(Arc<Shared>);

struct Shared {
    name: String,
    connect_limit: Duration,
    call_limit: Duration,
    info: Option<ServerInfo>,
    tools: Vec<(ToolDefinition, String)>,
    service: RunningService<RoleClient, Listener>,
    link: Link,
    /// The earliest time of the next tool listing.
    list_again_at: Mutex<Option<Instant>>,
}

/// Receives the server's notifications that its tools have changed.
#[derive(Clone)]
pub(super) struct Listener {
    config: ClientConfig,
    changed: Arc<Notify>,
    elicitations: Arc<Elicitations>,
}

impl Listener {
    /// A server is told that it may ask the person if somebody takes its questions.
    pub(super) fn new(elicitations: &Arc<Elicitations>) -> Self {
        let client = Implementation::new("windlass", env!("CARGO_PKG_VERSION"));
        let capabilities = match elicitations.are_taken() {
            true => ClientCapabilities::builder().enable_elicitation().build(),
            false => ClientCapabilities::default(),
        };
        Self {
            config: ClientConfig::new(capabilities, client),
            changed: Arc::default(),
            elicitations: Arc::clone(elicitations),
        }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        // A notification is stored if nobody waits, so no change is missed.
        self.changed.notify_one();
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.elicitations.ask(&request).await)
    }
}

impl Connection {
    /// A server that has been introduced and has listed its tools.
    pub(super) fn new(
        name: String,
        limits: Limits,
        service: RunningService<RoleClient, Listener>,
        tools: Vec<(ToolDefinition, String)>,
        link: Link,
    ) -> Self {
        let peer = service.peer_info();
        let info = peer.and_then(|peer| peer.server_info.clone());
        Self(Arc::new(Shared {
            name,
            connect_limit: limits.connect,
            call_limit: limits.call,
            info: info.map(|info| ServerInfo {
                name: info.name,
                version: info.version,
            }),
            tools,
            service,
            link,
            list_again_at: Mutex::default(),
        }))
    }

    /// The server's name in the configuration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The server's self-description.
    #[must_use]
    pub fn info(&self) -> Option<&ServerInfo> {
        self.0.info.as_ref()
    }

    /// Its tools, each with its name on the server.
    pub fn tools(&self) -> impl Iterator<Item = (&ToolDefinition, &str)> {
        let tools = self.0.tools.iter();
        tools.map(|(definition, name)| (definition, name.as_str()))
    }

    /// Waits until the server reports that its tools have changed, and lists them again. If listing fails, the
    /// previous tools stay and the next change is awaited. Each change wakes one caller.
    pub async fn changed_tools(&self) -> Vec<(ToolDefinition, String)> {
        loop {
            self.0.service.service().changed.notified().await;
            self.rest().await;
            let listing = list(self.peer(), &self.0.name);
            if let Ok(Ok(tools)) = tokio::time::timeout(self.0.connect_limit, listing).await {
                return tools;
            }
        }
    }

    /// The next question of the server to the person, once there is one, if it was connected to be asked.
    pub(super) async fn elicitation(&self) -> Elicitation {
        self.0.service.service().elicitations.next().await
    }

    /// Limits listings to one per second, however often the tools change.
    async fn rest(&self) {
        let due = {
            let again_at = self.0.list_again_at.lock();
            let mut again_at = again_at.unwrap_or_else(PoisonError::into_inner);
            let due = again_at.unwrap_or_else(Instant::now).max(Instant::now());
            *again_at = Some(due + BETWEEN_LISTS);
            due
        };
        tokio::time::sleep_until(due).await;
    }

    /// The server's answer to `resources/read`, unchanged; or why there is none.
    ///
    /// # Errors
    /// A message: the server refused, exceeded the timeout of a call, or is gone.
    pub async fn read_resource(&self, uri: &str) -> Result<RawJson, String> {
        let asked = self
            .service()
            .read_resource(ReadResourceRequestParams::new(uri));
        self.within(self.0.call_limit, asked).await
    }

    /// The server's answer to a call, unchanged; the tool is given by its name on the server.
    ///
    /// # Errors
    /// As with [`read_resource`](Self::read_resource). The error of a tool is an answer.
    pub async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        limit: Option<Duration>,
    ) -> Result<RawJson, String> {
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let called = self.service().call_tool(parameters);
        self.within(limit.unwrap_or(self.0.call_limit), called)
            .await
    }

    pub(super) async fn within<T: Serialize>(
        &self,
        limit: Duration,
        asked: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<RawJson, String> {
        let Ok(answer) = tokio::time::timeout(limit, asked).await else {
            return Err(format!("no answer within {} seconds", limit.as_secs_f64()));
        };
        match answer {
            Ok(answer) => RawJson::encode(&answer).map_err(|error| error.to_string()),
            Err(ServiceError::McpError(error)) => Err(error.message.into_owned()),
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                Err(self.epitaph().await)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether the server is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.service.is_closed() || self.0.service.is_transport_closed()
    }

    /// Ends the connection; a program and everything it has started end, which is waited for: its input is closed, then it is
    /// asked to end, then killed. Running calls fail.
    pub async fn close(&self) {
        self.0.service.cancellation_token().cancel();
        self.0.link.end().await;
    }

    /// For requests to which a server may answer that it needs more input.
    pub(super) fn service(&self) -> &RunningService<RoleClient, Listener> {
        &self.0.service
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.0.service.peer()
    }

    pub(super) fn call_limit(&self) -> Duration {
        self.0.call_limit
    }

    /// The error message for a call that the server did not answer.
    pub(super) async fn epitaph(&self) -> String {
        self.0.link.epitaph(&self.0.name).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("name", &self.0.name)
            .field("info", &self.0.info)
            .field("tools", &self.0.tools.len())
            .finish_non_exhaustive()
    }
}
