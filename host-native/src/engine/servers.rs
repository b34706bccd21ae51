//! The MCP servers of an engine: which there are, how they are doing, what tools they have.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use windlass_core::{RawJson, message::McpServer, tool::ToolDefinition};
use windlass_engine::protocol::reply::ReplyError;

use super::{
    channel::ControlChannel,
    sdk_server::{Offer, SdkServer, SdkTool},
};
use crate::host::RunTool;
#[cfg(unix)]
use crate::mcp::{Connection, StdioServer};

/// How long a server may take to say what tools it has.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Status {
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
enum Way {
    Sdk(SdkServer),
    /// A program that is started.
    #[cfg(unix)]
    Stdio(Box<StdioServer>),
    /// Not from here; why.
    None(String),
}

struct Server {
    way: Way,
    config: RawJson,
    status: Status,
    offer: Offer,
    /// The program that was started and answers.
    #[cfg(unix)]
    connection: Option<Connection>,
    /// Who listens to it, until it is let go.
    listening: JoinSet<()>,
    /// It was added while the engine ran.
    is_dynamic: bool,
    /// It stands in the project's `.mcp.json`.
    is_of_project: bool,
    /// Which connection counts: an answer to an earlier one comes too late.
    attempt: u64,
}

/// Servers of the session, or those that one agent has for itself, by name.
pub(super) struct Servers {
    /// The agent that alone has them; none where they are the session's.
    agent: Option<String>,
    channel: ControlChannel,
    /// Where programs are started, if not where this one was.
    cwd: Option<PathBuf>,
    /// What the settings add to the environment of programs, and may stand in configurations.
    variables: BTreeMap<String, String>,
    all: BTreeMap<String, Server>,
    /// How often anything was connected: no two connections have one number, also where another server has taken a name.
    attempts: u64,
}

/// What a connection came to.
pub(super) struct Connected {
    agent: Option<String>,
    name: String,
    attempt: u64,
    answer: Result<Answered, String>,
}

/// The tools of a server, after they have changed.
pub(super) struct Relisted {
    agent: Option<String>,
    name: String,
    attempt: u64,
    tools: Vec<(ToolDefinition, String)>,
}

impl Connected {
    /// The server.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The agent whose server it is; none where it is the session's.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }
}

impl Relisted {
    /// The agent whose server it is; none where it is the session's.
    pub(super) fn agent(&self) -> Option<&str> {
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigFile {
    #[serde(default)]
    mcp_servers: BTreeMap<String, RawJson>,
}

/// The servers of a project's own file; none where there is no such file.
pub(super) fn read_project_config(path: &Path) -> Result<BTreeMap<String, RawJson>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let json = match fs::read_to_string(path) {
        Ok(json) => json,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(wrong(&error)),
    };
    let file: ConfigFile = serde_json::from_str(&json).map_err(|error| wrong(&error))?;
    Ok(file.mcp_servers)
}

/// The servers that a configuration names: JSON, or a file of it.
pub(super) fn read_config(text: &str) -> Result<BTreeMap<String, RawJson>, String> {
    let json = match text.trim_start().starts_with('{') {
        true => text.to_owned(),
        false => {
            fs::read_to_string(text).map_err(|error| format!("--mcp-config `{text}`: {error}"))?
        }
    };
    let file: ConfigFile =
        serde_json::from_str(&json).map_err(|error| format!("--mcp-config: {error}"))?;
    Ok(file.mcp_servers)
}

impl Servers {
    pub(super) fn new(channel: ControlChannel, cwd: Option<PathBuf>) -> Self {
        Self {
            agent: None,
            channel,
            cwd,
            variables: BTreeMap::new(),
            all: BTreeMap::new(),
            attempts: 0,
        }
    }

    /// None yet, that are one agent's alone: what comes of their connections says so.
    pub(super) fn of_agent(agent: &str, channel: ControlChannel, cwd: Option<PathBuf>) -> Self {
        Self {
            agent: Some(agent.to_owned()),
            ..Self::new(channel, cwd)
        }
    }

    /// What the settings add to the environment: for servers that are added from now on.
    pub(super) fn set_variables(&mut self, variables: BTreeMap<&str, &str>) {
        let variables = variables.into_iter();
        self.variables = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
    }

    /// Adds a server of the project's own file, not yet connected.
    pub(super) fn add_of_project(&mut self, name: &str, config: RawJson) {
        self.add(name, config, false);
        if let Some(server) = self.all.get_mut(name) {
            server.is_of_project = true;
        }
    }

    /// Adds a server, not yet connected.
    pub(super) fn add(&mut self, name: &str, config: RawJson, is_dynamic: bool) {
        let way = self.way(name, &config);
        let server = Server {
            way,
            config,
            status: Status::Pending,
            offer: Offer::default(),
            #[cfg(unix)]
            connection: None,
            listening: JoinSet::new(),
            is_dynamic,
            is_of_project: false,
            attempt: 0,
        };
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
            Some("sdk") => Way::Sdk(SdkServer::new(name.to_owned(), self.channel.clone())),
            #[cfg(unix)]
            None | Some("stdio") => {
                let variable = |name: &str| {
                    let own = self.variables.get(name).cloned();
                    own.or_else(|| std::env::var(name).ok())
                };
                match StdioServer::read(name, config, &variable) {
                    Ok(server) => {
                        let server = server.with_variables(&self.variables);
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
    pub(super) fn add_sdk(&mut self, name: &str) {
        let config = RawJson::encode(&json!({"type": "sdk", "name": name}));
        self.add(
            name,
            config.unwrap_or_else(|_| RawJson::empty_object()),
            false,
        );
    }

    pub(super) fn is_sdk(&self, name: &str) -> bool {
        self.all
            .get(name)
            .is_some_and(|server| matches!(server.way, Way::Sdk(_)))
    }

    /// Whether a server has not answered yet.
    pub(super) fn are_pending(&self) -> bool {
        self.all
            .values()
            .any(|server| server.status == Status::Pending)
    }

    /// The connection to a server, to be waited for elsewhere; what comes of it goes to [`Servers::connected`].
    pub(super) fn connect(
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
    pub(super) fn listen(&mut self, name: &str, tell: impl Fn(Relisted) + Send + 'static) {
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
    pub(super) fn relisted(&mut self, relisted: Relisted) {
        let server = self.all.get_mut(&relisted.name);
        if let Some(server) = server.filter(|server| server.attempt == relisted.attempt) {
            server.offer.tools = relisted.tools;
        }
    }

    /// Takes in what came of a connection: whether the tools there are may have changed.
    pub(super) fn connected(&mut self, connected: Connected) -> Result<(), String> {
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

    /// The names of all servers.
    pub(super) fn names(&self) -> Vec<String> {
        self.all.keys().cloned().collect()
    }

    /// Leaves a server out for now.
    pub(super) fn disable(&mut self, name: &str) -> Result<(), ReplyError> {
        let server = self.all.get_mut(name).ok_or_else(|| not_found(name))?;
        server.let_go();
        server.status = Status::Disabled;
        Ok(())
    }

    pub(super) fn check(&self, name: &str) -> Result<(), ReplyError> {
        match self.all.contains_key(name) {
            true => Ok(()),
            false => Err(not_found(name)),
        }
    }

    /// The servers that were added while the engine runs are these from now on. The names of those to connect, and what
    /// was removed.
    pub(super) fn replace_dynamic(
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
    pub(super) fn connection(&self, name: &str) -> Result<Connection, ReplyError> {
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

    /// The program that has a tool, by the name by which the model calls it, and the name by which the program knows it.
    #[cfg(unix)]
    pub(super) fn connection_of_tool(
        &self,
        tool: &str,
    ) -> Result<(Connection, String), ReplyError> {
        for (name, server) in &self.all {
            let mut tools = server.offer.tools.iter();
            if let Some((_, own)) = tools.find(|(definition, _)| definition.name == tool) {
                return Ok((self.connection(name)?, own.clone()));
            }
        }
        Err(ReplyError::new(format!("no MCP server has a tool {tool}")))
    }

    /// Why a server could not be reached, if it could not.
    pub(super) fn failure(&self, name: &str) -> Option<&str> {
        match &self.all.get(name)?.status {
            Status::Failed(reason) => Some(reason),
            _ => None,
        }
    }

    /// Every tool, with what runs it.
    pub(super) fn tools(&self) -> impl Iterator<Item = (ToolDefinition, Arc<dyn RunTool>)> {
        self.all.values().flat_map(|server| {
            let tools = server.offer.tools.iter();
            tools.filter_map(|(definition, name)| Some((definition.clone(), server.runner(name)?)))
        })
    }

    /// Ends the programs that were started, and waits until they have ended.
    pub(super) async fn close(&mut self) {
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
    pub(super) fn infos(&self) -> Vec<McpServer> {
        let info = |(name, server): (&String, &Server)| McpServer {
            name: name.clone(),
            status: server.status().name().to_owned(),
        };
        self.all.iter().map(info).collect()
    }

    /// The servers as `mcp_status` describes them.
    pub(super) fn status(&self) -> impl Iterator<Item = Value> {
        self.all.iter().map(|(name, server)| {
            let mut described = server.describe(name);
            if let Some(agent) = &self.agent {
                described["agent"] = agent.as_str().into();
            }
            described
        })
    }
}

impl Server {
    /// What runs a tool of it.
    fn runner(&self, name: &str) -> Option<Arc<dyn RunTool>> {
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
    fn let_go(&mut self) {
        self.offer = Offer::default();
        self.listening.abort_all();
        #[cfg(unix)]
        if let Some(connection) = self.connection.take() {
            // Its calls fail; nobody waits for its end.
            tokio::spawn(async move { connection.close().await });
        }
    }

    /// How it is doing now: a program may have ended meanwhile.
    fn status(&self) -> Status {
        #[cfg(unix)]
        if self.status == Status::Connected
            && self.connection.as_ref().is_some_and(Connection::is_closed)
        {
            return Status::Failed("it has ended; reconnect it to use its tools".to_owned());
        }
        self.status.clone()
    }

    fn describe(&self, name: &str) -> Value {
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
    fn name(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Connected => "connected",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
        }
    }
}

pub(super) fn not_found(name: &str) -> ReplyError {
    ReplyError::new(format!("Server not found: {name}"))
}
