//! Connecting to servers: started or reached, introduced, and asked for their tools.

use std::{io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
    transport::{
        Transport, WorkerTransport,
        common::client_side_sse::ExponentialBackoff,
        streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpClientWorker},
    },
};
use windlass_core::tool::ToolDefinition;

use super::{
    connection::{Connection, Listener},
    elicitation::Elicitations,
    http_client::{Watched, client},
    http_server::{HttpServer, HttpTransport},
    limited::Limited,
    link::Link,
    listing::{Failure, list},
    process::Process,
    sse::SseTransport,
    stdio::StdioServer,
    trouble::{Exchanges, Trouble},
    wire::{MAX_MESSAGE, Wire},
};

/// How often an answer that broke off is asked for again, and the longest wait before that.
const RESUMPTIONS: usize = 5;
const RESUMPTION_WAIT: Duration = Duration::from_secs(10);

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
    #[error("`{server}` did not answer within {} seconds", .limit.as_secs_f64())]
    TimedOut {
        /// Its program, or its address.
        server: String,
        /// The timeout.
        limit: Duration,
    },
    /// It does not follow the protocol.
    #[error("`{server}` does not speak the Model Context Protocol as it should: {reason}")]
    Protocol {
        /// Its program, or its address.
        server: String,
        /// What was wrong.
        reason: String,
    },
    /// Its address cannot be reached, or answers with something else.
    #[error("{reason}")]
    Http {
        /// What was wrong, with the address.
        reason: String,
    },
    /// It lets nobody in who has not signed in.
    #[error("{reason}")]
    NeedsAuth {
        /// What it wants, with its address.
        reason: String,
    },
}

impl From<Trouble> for ConnectError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NeedsAuth(reason) => Self::NeedsAuth { reason },
            Trouble::Unreachable(reason) | Trouble::Refused(reason) => Self::Http { reason },
        }
    }
}

/// A server that has been introduced, and its tools.
type Introduced = (
    RunningService<RoleClient, Listener>,
    Vec<(ToolDefinition, String)>,
);

/// Introduces this client, and asks for the tools.
async fn introduce<T>(
    transport: T,
    lifecycle: ClientLifecycleMode,
    name: &str,
    elicitations: &Arc<Elicitations>,
) -> Result<Introduced, Failure>
where
    T: Transport<RoleClient> + 'static,
{
    let transport = Limited::new(transport);
    let service = serve_client_with_lifecycle(Listener::new(elicitations), transport, lifecycle)
        .await
        .map_err(|error| Failure::Introduction(Box::new(error)))?;
    let tools = list(service.peer(), name).await?;
    Ok((service, tools))
}

impl StdioServer {
    /// Starts the program, performs the handshake and lists its tools. It inherits the environment of this process
    /// except the keys of the model endpoint, plus the variables of its configuration.
    ///
    /// # Errors
    /// [`ConnectError`]; no process of the server is left running then.
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        self.connect_asked(&Arc::default()).await
    }

    /// The same, for a server that may ask the person.
    pub(super) async fn connect_asked(
        &self,
        elicitations: &Arc<Elicitations>,
    ) -> Result<Connection, ConnectError> {
        let command = || self.command.clone();
        let (process, output, input) =
            Process::start(self).map_err(|source| ConnectError::Start {
                command: command(),
                source,
            })?;
        let limit = self.limits.connect;
        let wire = Wire::new(output, input);
        let fault = wire.fault();
        let introduced = introduce(
            wire,
            ClientLifecycleMode::Initialize,
            &self.name,
            elicitations,
        );
        match tokio::time::timeout(limit, introduced).await {
            Ok(Ok((service, tools))) => {
                let link = Link::Program(process, fault);
                Ok(Connection::new(
                    self.name.clone(),
                    self.limits,
                    service,
                    tools,
                    link,
                ))
            }
            Ok(Err(failure)) => {
                let error = match (fault.get(), failure.is_an_end()) {
                    (None, true) => ConnectError::Ended {
                        command: command(),
                        how: process.epitaph().await,
                    },
                    (fault, _) => ConnectError::Protocol {
                        server: command(),
                        reason: fault.cloned().unwrap_or_else(|| failure.to_string()),
                    },
                };
                process.end().await;
                Err(error)
            }
            Err(_) => {
                process.end().await;
                Err(ConnectError::TimedOut {
                    server: command(),
                    limit,
                })
            }
        }
    }
}

impl HttpServer {
    /// Connects, performs the handshake and lists the tools. A server of the protocol's newest version is asked without a handshake.
    ///
    /// # Errors
    /// [`ConnectError`]
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        self.connect_asked(&Arc::default()).await
    }

    /// The same, for a server that may ask the person.
    pub(super) async fn connect_asked(
        &self,
        elicitations: &Arc<Elicitations>,
    ) -> Result<Connection, ConnectError> {
        let limit = self.limits.connect;
        let connected = tokio::time::timeout(limit, self.connect_whenever(elicitations)).await;
        connected.unwrap_or_else(|_| {
            Err(ConnectError::TimedOut {
                server: self.address.clone(),
                limit,
            })
        })
    }

    async fn connect_whenever(
        &self,
        elicitations: &Arc<Elicitations>,
    ) -> Result<Connection, ConnectError> {
        let client = client(self)?;
        let exchanges = Arc::new(Exchanges::default());
        let introduced = match self.transport {
            HttpTransport::Streamable => self.introduce(&client, &exchanges, elicitations).await,
            HttpTransport::Sse => {
                let transport = SseTransport::open(client, self, Arc::clone(&exchanges)).await?;
                let handshake = ClientLifecycleMode::Initialize;
                introduce(transport, handshake, &self.name, elicitations).await
            }
        };
        let (service, tools) = introduced.map_err(|failure| self.error(&failure, &exchanges))?;
        let link = Link::Http(exchanges);
        Ok(Connection::new(
            self.name.clone(),
            self.limits,
            service,
            tools,
            link,
        ))
    }

    /// Asks for the newest version of the protocol first, which has no handshake. Servers from before answer that with all kinds of
    /// errors, so that whatever was not a matter of the network is answered with the handshake.
    async fn introduce(
        &self,
        client: &reqwest::Client,
        exchanges: &Arc<Exchanges>,
        elicitations: &Arc<Elicitations>,
    ) -> Result<Introduced, Failure> {
        let transport = || {
            let watched = Watched::new(client.clone(), self, Arc::clone(exchanges));
            let worker = StreamableHttpClientWorker::new(watched, self.transport_config());
            WorkerTransport::spawn(worker)
        };
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        let introduced = introduce(transport(), newest, &self.name, elicitations).await;
        let is_left = matches!(
            exchanges.trouble(),
            Some(Trouble::NeedsAuth(_) | Trouble::Unreachable(_))
        );
        match introduced {
            Err(Failure::Introduction(_)) if !is_left => {
                let handshake = ClientLifecycleMode::Initialize;
                introduce(transport(), handshake, &self.name, elicitations).await
            }
            introduced => introduced,
        }
    }

    fn transport_config(&self) -> StreamableHttpClientTransportConfig {
        let mut retries = ExponentialBackoff::default();
        retries.max_times = Some(RESUMPTIONS);
        retries.max_delay = Some(RESUMPTION_WAIT);
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .max_sse_event_size(MAX_MESSAGE);
        config.retry_config = Arc::new(retries);
        config
    }

    fn error(&self, failure: &Failure, exchanges: &Exchanges) -> ConnectError {
        match (failure, exchanges.trouble()) {
            (Failure::Endless(_) | Failure::Tool(..), _) | (_, None) => ConnectError::Protocol {
                server: self.address.clone(),
                reason: failure.to_string(),
            },
            (_, Some(trouble)) => trouble.into(),
        }
    }
}
