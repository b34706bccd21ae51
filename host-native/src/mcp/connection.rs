//! A connection to a running MCP server.

use std::{
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ClientHandler, Peer, RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, JsonObject,
        PaginatedRequestParams, ReadResourceRequestParams, Tool as Listed,
    },
    service::{ClientInitializeError, NotificationContext, RunningService, ServiceError},
};
use serde::Serialize;
use tokio::{sync::Notify, time::Instant};
use windlass_core::{
    json::{JsonError, RawJson},
    permission::server_tool_name,
    tool::{Annotations, ToolDefinition},
};

use super::{
    process::Process,
    stdio::StdioServer,
    wire::{Fault, Wire},
};
use windlass_engine::mcp::Pages;

/// The minimum interval between two tool listings.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);

/// Why a server could not be connected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Its program cannot be started.
    #[error("cannot start `{command}`: {source}; is it installed and on PATH?")]
    Start {
        /// The program.
        command: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// It exited or closed its output before it listed its tools.
    #[error("`{command}` ended before it answered: {how}")]
    Ended {
        /// The program.
        command: String,
        /// How it ended, and the end of its standard error.
        how: String,
    },
    /// It did not answer in time.
    #[error("`{command}` did not answer within {} seconds", .limit.as_secs())]
    TimedOut {
        /// The program.
        command: String,
        /// The timeout.
        limit: Duration,
    },
    /// It does not follow the protocol.
    #[error("`{command}` does not speak the Model Context Protocol as it should: {reason}")]
    Protocol {
        /// The program.
        command: String,
        /// What was wrong.
        reason: String,
    },
}

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
    process: Process,
    /// Why this side gave up the connection, if it did.
    fault: Fault,
    /// The earliest time of the next tool listing.
    list_again_at: Mutex<Option<Instant>>,
}

/// Receives the server's notifications that its tools have changed.
#[derive(Clone)]
struct Listener {
    config: ClientConfig,
    changed: Arc<Notify>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        // A notification is stored if nobody waits, so no change is missed.
        self.changed.notify_one();
    }
}

/// Why the exchange with a server failed.
enum Failure {
    Introduction(Box<ClientInitializeError>),
    Listing(ServiceError),
    Endless(String),
    Tool(String, JsonError),
}

impl StdioServer {
    /// Starts the program, performs the handshake and lists its tools. It inherits the environment of this process
    /// except the keys of the model endpoint, plus the variables of its configuration.
    ///
    /// # Errors
    /// [`ConnectError`]; no process of the server is left running then.
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        Connection::open(self).await
    }
}

impl Connection {
    async fn open(server: &StdioServer) -> Result<Self, ConnectError> {
        let command = || server.command.clone();
        let (process, output, input) =
            Process::start(server).map_err(|source| ConnectError::Start {
                command: command(),
                source,
            })?;
        let limit = server.limits.connect;
        let client = Implementation::new("windlass", env!("CARGO_PKG_VERSION"));
        let listener = Listener {
            config: ClientConfig::new(ClientCapabilities::default(), client),
            changed: Arc::default(),
        };
        let wire = Wire::new(output, input);
        let fault = wire.fault();
        let introduced = async {
            let service = (listener.serve(wire).await)
                .map_err(|error| Failure::Introduction(Box::new(error)))?;
            let tools = list(service.peer(), &server.name).await?;
            Ok::<_, Failure>((service, tools))
        };
        match tokio::time::timeout(limit, introduced).await {
            Ok(Ok((service, tools))) => Ok(Self(Arc::new(Shared {
                name: server.name.clone(),
                connect_limit: limit,
                call_limit: server.limits.call,
                info: service
                    .peer_info()
                    .and_then(|peer| peer.server_info.clone())
                    .map(|info| ServerInfo {
                        name: info.name,
                        version: info.version,
                    }),
                tools,
                service,
                process,
                fault,
                list_again_at: Mutex::default(),
            }))),
            Ok(Err(failure)) => {
                let error = match (fault.get(), failure.is_an_end()) {
                    (None, true) => ConnectError::Ended {
                        command: command(),
                        how: process.epitaph().await,
                    },
                    (fault, _) => ConnectError::Protocol {
                        command: command(),
                        reason: fault.cloned().unwrap_or_else(|| failure.to_string()),
                    },
                };
                process.end().await;
                Err(error)
            }
            Err(_) => {
                process.end().await;
                Err(ConnectError::TimedOut {
                    command: command(),
                    limit,
                })
            }
        }
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
            .peer()
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
        let called = self.peer().call_tool(parameters);
        self.within(limit.unwrap_or(self.0.call_limit), called)
            .await
    }

    async fn within<T: Serialize>(
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

    /// Ends the server and everything it has started, and waits for that: its input is closed, then it is asked to
    /// end, then killed. Running calls fail.
    pub async fn close(&self) {
        self.0.service.cancellation_token().cancel();
        self.0.process.end().await;
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.0.service.peer()
    }

    pub(super) fn call_limit(&self) -> Duration {
        self.0.call_limit
    }

    /// The error message for a call that the server did not answer.
    pub(super) async fn epitaph(&self) -> String {
        let how = match self.0.fault.get() {
            Some(fault) => fault.clone(),
            None => self.0.process.epitaph().await,
        };
        format!(
            "The MCP server {} is not there any more: {how}. Its tools fail until it is connected anew.",
            self.0.name
        )
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

/// Lists the server's current tools.
async fn list(
    peer: &Peer<RoleClient>,
    server: &str,
) -> Result<Vec<(ToolDefinition, String)>, Failure> {
    let mut pages = Pages::default();
    let mut tools = Vec::new();
    let mut cursor = None;
    loop {
        let asked = PaginatedRequestParams::default().with_cursor(cursor.take());
        let page = peer
            .list_tools(Some(asked))
            .await
            .map_err(Failure::Listing)?;
        cursor = pages
            .next(page.tools.len(), page.next_cursor)
            .map_err(Failure::Endless)?;
        for tool in page.tools {
            tools.push(definition(server, tool)?);
        }
        if cursor.is_none() {
            return Ok(tools);
        }
    }
}

/// The definition for the model, with the tool's name on the server.
fn definition(server: &str, tool: Listed) -> Result<(ToolDefinition, String), Failure> {
    let name = tool.name.into_owned();
    let read = || -> Result<ToolDefinition, JsonError> {
        let schema = RawJson::encode(&*tool.input_schema)?;
        let description = tool.description.unwrap_or_default().into_owned();
        let mut definition =
            ToolDefinition::new(server_tool_name(server, &name), description, schema);
        if let Some(hints) = tool.annotations {
            definition.annotations = RawJson::encode(&hints)?.decode::<Annotations>()?;
        }
        Ok(definition)
    };
    match read() {
        Ok(definition) => Ok((definition, name)),
        Err(error) => Err(Failure::Tool(name, error)),
    }
}

impl Failure {
    /// Whether the server is gone, as opposed to having sent something wrong.
    fn is_an_end(&self) -> bool {
        match self {
            Self::Introduction(error) => matches!(
                **error,
                ClientInitializeError::ConnectionClosed(_)
                    | ClientInitializeError::TransportError { .. }
            ),
            Self::Listing(error) => matches!(
                error,
                ServiceError::TransportClosed | ServiceError::TransportSend(_)
            ),
            Self::Endless(_) | Self::Tool(..) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Introduction(error) => write!(f, "initialize: {error}"),
            Self::Listing(error) => write!(f, "tools/list: {error}"),
            Self::Endless(reason) => write!(f, "tools/list: {reason}"),
            Self::Tool(name, error) => write!(f, "the tool `{name}`: {error}"),
        }
    }
}
