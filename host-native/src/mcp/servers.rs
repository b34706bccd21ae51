//! The MCP server processes of an engine: connects to them, receives their notifications, and calls their tools.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt as _};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use windlass_core::{EffectId, RawJson, effect::Answer, host::CancelSignal, tool::ToolResult};
use windlass_engine::{
    machine::{
        ConnectRequest, ConnectionId, Input, Offer, Outcome, Question, ServerEvent, ServerTool,
    },
    mcp::ServerPrompt,
};

use super::{
    ConnectError, Connection, ServerConfig,
    elicitation::{Elicitation, Elicitations},
    http_server,
};
use crate::{credentials::Credentials, host::RunTool as _, redact::Redactor};

/// How long a server may take to list its prompts; the session does not wait longer for commands.
const PROMPTS_LIMIT: Duration = Duration::from_secs(5);

/// The connections of an engine to MCP servers.
pub(crate) struct Servers {
    /// Servers added by the program.
    named: BTreeMap<String, ServerConfig>,
    /// The directory in which servers are started; `None` for that of this process.
    cwd: Option<PathBuf>,
    /// The keys of model servers.
    keys: Credentials,
    /// Removes keys from the servers' output.
    redactor: Redactor,
    /// Sends notifications of servers to the engine.
    inputs: mpsc::UnboundedSender<Input>,
    all: Mutex<BTreeMap<ConnectionId, Entry>>,
    /// The questions of servers that the engine has yet to answer.
    asked: Arc<Asked>,
}

/// Questions of servers, by the numbers under which the engine knows them.
#[derive(Default)]
struct Asked(Mutex<(u64, BTreeMap<u64, Elicitation>)>);

impl Asked {
    fn all(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Elicitation>)> {
        // A panic while the lock is held leaves a valid map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a question until it is answered.
    fn keep(&self, question: Elicitation) -> ServerEvent {
        let mut all = self.all();
        let (last, waiting) = &mut *all;
        waiting.retain(|_, question| !question.is_given_up());
        *last += 1;
        let asked = question.asked.clone();
        waiting.insert(*last, question);
        ServerEvent::Elicitation {
            number: *last,
            asked,
        }
    }

    fn answer(&self, number: u64, answer: &RawJson) {
        let question = self.all().1.remove(&number);
        question.into_iter().for_each(|it| it.answer(answer));
    }
}

enum Entry {
    /// Connecting; cancelled by this token.
    Connecting(CancellationToken),
    Connected {
        connection: Connection,
        listening: JoinHandle<()>,
        /// Whether the engine knows that it has ended.
        is_known_closed: bool,
    },
}

impl Servers {
    /// Servers are started in `cwd`, or in the directory of this process. Their notifications are sent to the engine.
    pub(crate) fn new(cwd: Option<PathBuf>, inputs: mpsc::UnboundedSender<Input>) -> Self {
        Self {
            named: BTreeMap::new(),
            cwd,
            keys: Credentials::default(),
            redactor: Redactor::default(),
            inputs,
            all: Mutex::default(),
            asked: Arc::default(),
        }
    }

    /// Sets the keys that servers get if their configuration names them.
    pub(crate) fn with_keys(mut self, keys: Credentials) -> Self {
        self.keys = keys;
        self
    }

    /// Removes keys from the servers' output.
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Self {
        self.redactor = redactor;
        self
    }

    /// Adds servers of the program. The engine gets them as [`configurations`](Self::configurations).
    pub(crate) fn with_named(mut self, servers: &[ServerConfig]) -> Self {
        let named = servers.iter().map(|it| (it.name().to_owned(), it.clone()));
        self.named.extend(named);
        self
    }

    /// The configurations of the program's servers, for the engine.
    pub(crate) fn configurations(&self) -> BTreeMap<String, RawJson> {
        let named = self.named.iter();
        named
            .map(|(name, server)| (name.clone(), server.stand_in()))
            .collect()
    }

    /// Whether a request is for one of the program's servers.
    pub(crate) fn is_named(&self, request: &ConnectRequest) -> bool {
        self.named(request).is_some()
    }

    fn named(&self, request: &ConnectRequest) -> Option<&ServerConfig> {
        let server = self.named.get(&request.name)?;
        (request.config == server.stand_in()).then_some(server)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<ConnectionId, Entry>> {
        // A panic while the lock is held leaves a valid map.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to a server and lists its tools.
    pub(crate) async fn connect(&self, request: ConnectRequest) -> Outcome {
        let number = request.connection;
        let server = match self.server(&request) {
            Ok(server) => server,
            Err(reason) => return Outcome::Connected(Err(reason)),
        };
        let given_up = CancellationToken::new();
        let entry = Entry::Connecting(given_up.clone());
        self.all().insert(number, entry);
        let elicitations = Arc::new(Elicitations::taken());
        let connected = tokio::select! {
            connected = server.connect_asked(&elicitations) => connected,
            () = given_up.cancelled() => {
                self.all().remove(&number);
                return Outcome::Connected(Err("nobody waits for it any more".to_owned()));
            }
        };
        let connection = match connected {
            Ok(connection) => connection,
            Err(error) => {
                self.all().remove(&number);
                return match error {
                    ConnectError::NeedsAuth { reason } => Outcome::NeedsAuth(reason),
                    error => Outcome::Connected(Err(error.to_string())),
                };
            }
        };
        let info = connection
            .info()
            .map(|info| json!({"name": info.name, "version": info.version}));
        let tools = connection
            .tools()
            .map(|(definition, name)| (definition.clone(), name.to_owned()))
            .collect();
        let has_resources = connection.has_resources();
        let prompts = prompts(&connection).await;
        let entry = Entry::Connected {
            listening: self.listen(number, connection.clone()),
            connection,
            is_known_closed: false,
        };
        self.all().insert(number, entry);
        Outcome::Connected(Ok(Offer {
            info,
            tools,
            has_resources,
            prompts,
        }))
    }

    /// The server of a configuration.
    fn server(&self, request: &ConnectRequest) -> Result<ServerConfig, String> {
        if let Some(server) = self.named(request) {
            return Ok(server.clone());
        }
        let variable = |name: &str| {
            http_server::variable(name, &request.variables, &self.keys, request.may_name_keys)
        };
        let server = ServerConfig::read(&request.name, &request.config, &variable);
        Ok(match server.map_err(|error| error.to_string())? {
            ServerConfig::Http(server) => ServerConfig::Http(server.hiding(&self.keys)),
            ServerConfig::Stdio(server) => {
                let server = server
                    .with_variables(&request.variables)
                    .redacting(self.redactor.clone());
                ServerConfig::Stdio(match &self.cwd {
                    Some(cwd) => server.directory(cwd),
                    None => server,
                })
            }
        })
    }

    /// Reports changes of a server's tools and its questions to the engine from now on.
    fn listen(&self, number: ConnectionId, connection: Connection) -> JoinHandle<()> {
        let inputs = self.inputs.clone();
        let asked = Arc::clone(&self.asked);
        tokio::spawn(async move {
            let tools = async {
                loop {
                    let tools = ServerEvent::Tools(connection.changed_tools().await);
                    // The engine has ended, so nobody receives it.
                    if inputs.send(Input::Server(number, tools)).is_err() {
                        return;
                    }
                }
            };
            let questions = async {
                loop {
                    let question = asked.keep(connection.elicitation().await);
                    if inputs.send(Input::Server(number, question)).is_err() {
                        return;
                    }
                }
            };
            tokio::join!(tools, questions);
        })
    }

    /// A server that has ended since the last call.
    pub(crate) fn newly_closed(&self) -> Option<Input> {
        let mut all = self.all();
        all.iter_mut().find_map(|(number, entry)| match entry {
            Entry::Connected {
                connection,
                is_known_closed,
                ..
            } if !*is_known_closed && connection.is_closed() => {
                *is_known_closed = true;
                Some(Input::Server(*number, ServerEvent::Closed))
            }
            _ => None,
        })
    }

    fn connection(&self, number: ConnectionId) -> Option<Connection> {
        match self.all().get(&number)? {
            Entry::Connected { connection, .. } => Some(connection.clone()),
            Entry::Connecting(_) => None,
        }
    }

    /// Calls a tool. If the server was disconnected, the error says so.
    pub(crate) fn call(
        &self,
        id: EffectId,
        call: ServerTool,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match self.connection(call.connection) {
            Some(connection) => connection.tool(call.tool).run(id, call.call, cancel),
            None => {
                let gone = ToolResult::error("The MCP server is not connected.".to_owned());
                stream::iter([Answer::Tool(gone)]).boxed()
            }
        }
    }

    /// Sends a request to a server that does not come from the model.
    pub(crate) async fn ask(
        &self,
        number: ConnectionId,
        question: Question,
    ) -> Result<RawJson, String> {
        if let Question::Elicited { number, answer } = question {
            self.asked.answer(number, &answer);
            return Ok(RawJson::empty_object());
        }
        let connection = self.connection(number).ok_or("it is not connected")?;
        match question {
            Question::Call {
                tool,
                arguments,
                timeout_ms,
            } => {
                let limit = timeout_ms.map(|ms| std::time::Duration::from_millis(ms.into()));
                connection.call(&tool, arguments, limit).await
            }
            Question::Resource(uri) => connection.read_resource(&uri).await,
            Question::Resources => {
                let listed = connection.resources().await?;
                RawJson::encode(&listed).map_err(|error| error.to_string())
            }
            Question::Prompt { name, arguments } => connection.prompt(&name, arguments).await,
            _ => Err("this host cannot ask that".to_owned()),
        }
    }

    /// Closes a connection without waiting for the server's end. Its running and later calls fail.
    pub(crate) fn disconnect(&self, number: ConnectionId) {
        match self.all().get_mut(&number) {
            Some(Entry::Connecting(given_up)) => given_up.cancel(),
            Some(Entry::Connected {
                connection,
                listening,
                is_known_closed,
            }) => {
                *is_known_closed = true;
                listening.abort();
                let connection = connection.clone();
                tokio::spawn(async move { connection.close().await });
            }
            None => {}
        }
    }

    /// Ends servers and waits until they have exited.
    pub(crate) async fn close(&self, numbers: &[ConnectionId]) {
        let closing: Vec<Connection> = {
            let mut all = self.all();
            let gone = numbers.iter().filter_map(|number| all.remove(number));
            gone.filter_map(|entry| match entry {
                Entry::Connecting(given_up) => {
                    given_up.cancel();
                    None
                }
                Entry::Connected {
                    connection,
                    listening,
                    ..
                } => {
                    listening.abort();
                    Some(connection)
                }
            })
            .collect()
        };
        let closing = closing
            .into_iter()
            .map(|connection| async move { connection.close().await });
        futures_util::future::join_all(closing).await;
    }
}

/// The prompts of a server; none if it does not list them in time: it still has its tools.
async fn prompts(connection: &Connection) -> Vec<ServerPrompt> {
    let listed = tokio::time::timeout(PROMPTS_LIMIT, connection.prompts()).await;
    let listed = listed
        .unwrap_or_else(|_| Ok(Vec::new()))
        .unwrap_or_default();
    listed.iter().filter_map(ServerPrompt::read).collect()
}
