//! Connecting to servers, and what is heard of them later.

use std::time::Duration;

#[cfg(unix)]
use serde_json::json;
use windlass_core::tool::ToolDefinition;

use super::{
    super::sdk_server::Offer,
    Servers,
    server::{Status, Way},
};
#[cfg(unix)]
use crate::mcp::Connection;

/// How long a server may take to say what tools it has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// What a connection came to.
pub(in crate::engine) struct Connected {
    agent: Option<String>,
    name: String,
    attempt: u64,
    answer: Result<Answered, String>,
}

/// The tools of a server, after they have changed.
pub(in crate::engine) struct Relisted {
    agent: Option<String>,
    name: String,
    attempt: u64,
    tools: Vec<(ToolDefinition, String)>,
}

impl Connected {
    /// The server.
    pub(in crate::engine) fn name(&self) -> &str {
        &self.name
    }

    /// The agent whose server it is; none where it is the session's.
    pub(in crate::engine) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }
}

impl Relisted {
    /// The agent whose server it is; none where it is the session's.
    pub(in crate::engine) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }
}

/// A server that answered.
struct Answered {
    offer: Offer,
    #[cfg(unix)]
    connection: Option<Connection>,
}

impl From<Offer> for Answered {
    fn from(offer: Offer) -> Self {
        Self {
            offer,
            #[cfg(unix)]
            connection: None,
        }
    }
}

#[cfg(unix)]
impl From<Connection> for Answered {
    fn from(connection: Connection) -> Self {
        let info = connection
            .info()
            .map(|info| json!({"name": info.name, "version": info.version}));
        let tools = connection
            .tools()
            .map(|(definition, name)| (definition.clone(), name.to_owned()))
            .collect();
        Self {
            offer: Offer { info, tools },
            connection: Some(connection),
        }
    }
}

impl Servers {
    /// The connection to a server, to be waited for elsewhere; what comes of it goes to [`Servers::connected`].
    pub(in crate::engine) fn connect(
        &mut self,
        name: &str,
    ) -> Option<impl Future<Output = Connected> + Send + use<>> {
        let server = self.all.get_mut(name)?;
        server.let_go();
        server.status = Status::Pending;
        self.attempts += 1;
        server.attempt = self.attempts;
        let agent = self.agent.clone();
        let (name, attempt, way) = (name.to_owned(), server.attempt, server.way.clone());
        Some(async move {
            let connecting = async {
                match way {
                    Way::Sdk(server) => server.connect().await.map(Answered::from),
                    #[cfg(unix)]
                    Way::Stdio(server) => match server.connect().await {
                        Ok(connection) => Ok(Answered::from(connection)),
                        Err(error) => Err(error.to_string()),
                    },
                    Way::None(reason) => Err(reason),
                }
            };
            let late = |_| {
                Err(format!(
                    "no answer within {} seconds",
                    CONNECT_TIMEOUT.as_secs()
                ))
            };
            let in_time = tokio::time::timeout(CONNECT_TIMEOUT, connecting);
            let answer = in_time.await.unwrap_or_else(late);
            Connected {
                agent,
                name,
                attempt,
                answer,
            }
        })
    }

    /// Listens to a server that has answered: what it says of its tools later goes to [`Servers::relisted`].
    #[cfg(unix)]
    pub(in crate::engine) fn listen(
        &mut self,
        name: &str,
        tell: impl Fn(Relisted) + Send + 'static,
    ) {
        let Some(server) = self.all.get_mut(name) else {
            return;
        };
        let Some(connection) = server.connection.clone() else {
            return;
        };
        let agent = self.agent.clone();
        let (name, attempt) = (name.to_owned(), server.attempt);
        server.listening.abort_all();
        server.listening.spawn(async move {
            loop {
                let tools = connection.changed_tools().await;
                tell(Relisted {
                    agent: agent.clone(),
                    name: name.clone(),
                    attempt,
                    tools,
                });
            }
        });
    }

    /// Takes in the tools that a server has by now.
    pub(in crate::engine) fn relisted(&mut self, relisted: Relisted) {
        let server = self.all.get_mut(&relisted.name);
        if let Some(server) = server.filter(|server| server.attempt == relisted.attempt) {
            server.offer.tools = relisted.tools;
        }
    }

    /// Takes in what came of a connection: whether the tools there are may have changed.
    pub(in crate::engine) fn connected(&mut self, connected: Connected) -> Result<(), String> {
        let Some(server) = self.all.get_mut(&connected.name) else {
            return Ok(());
        };
        if server.attempt != connected.attempt || server.status != Status::Pending {
            return Ok(());
        }
        match connected.answer {
            Ok(answered) => {
                server.offer = answered.offer;
                #[cfg(unix)]
                {
                    server.connection = answered.connection;
                }
                server.status = Status::Connected;
                Ok(())
            }
            Err(reason) => {
                server.offer = Offer::default();
                server.status = Status::Failed(reason.clone());
                Err(reason)
            }
        }
    }
}
