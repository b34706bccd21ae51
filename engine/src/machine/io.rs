//! The inputs and outputs of the engine.
//!
//! Every effect of the engine is answered exactly once, by an [`Outcome`] of its kind. Effects of its session are answered as
//! the core requires ([`windlass_core::effect`]).

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_core::{
    ApprovedCall, EffectId, HostError, Input as SessionInput, Message, Prompt, RawJson, SessionId,
    UnixMillis, Uuid,
    effect::{Answer, Effect as SessionEffect},
    hook::Occurrence,
    permission::{Destination, PermissionUpdate},
    tool::{Observation, ToolCall, ToolDefinition},
};

use super::config::{ConfigNumber, Configuration, ConfigureRequest};
use crate::{
    mcp::ServerPrompt,
    protocol::{line::Line, reply::ReplyError},
    store::Lease,
    transcript::{SavedSession, Which},
};

/// An input to the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// A line from the SDK.
    Line(Line),
    /// A prompt from the embedding program.
    Prompt(Prompt),
    /// Another input from this program to its session.
    Tell(SessionInput),
    /// The end of the input: no further line or prompt arrives.
    InputEnded,
    /// An answer to an effect of the session.
    Session(EffectId, Answer),
    /// The outcome of an effect of the engine.
    Done(EffectNumber, Outcome),
    /// An unsolicited event of an MCP server.
    Server(ConnectionId, ServerEvent),
    /// The embedding program asks to connect anew to this MCP server of the session; one that is not known is passed over.
    Reconnect(String),
    /// The clock has advanced; a deadline may have passed.
    Tick,
    /// A request to stop, from the caller that started the engine.
    Stop,
    /// The reader of the output is gone.
    Unread,
}

/// An output of the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// A line for the SDK, including the line end.
    Line(String),
    /// The id of the current session, for the embedding program.
    Opened(SessionId),
    /// A message of the session, for the embedding program.
    Message(Message),
    /// A call of the session may run, for the embedding program's log of decisions.
    Allowed(ApprovedCall),
    /// The reason why no further prompts are answered, for the embedding program.
    Fault(Fault),
    /// An effect of the session. The number identifies the configuration whose tools and hooks perform it.
    Session(ConfigNumber, EffectId, SessionEffect),
    /// A call of an MCP server's tool, answered like an effect of the session.
    ServerTool(EffectId, ServerTool),
    /// Cancel an effect of the session; its last answer is still expected.
    Cancel(EffectId),
    /// Drop an effect of the session; no further answer is expected.
    Abandon(EffectId),
    /// An effect of the engine.
    Effect(EffectNumber, Effect),
    /// A warning for the user who started the engine, on standard error.
    Warning(String),
    /// The reason why no session begins, for the user; to be printed unchanged.
    Refusal(String),
    /// A line of the debug log (`--debug`).
    Note(Topic, String),
    /// A line of a session's journal, if one is kept.
    Journal(SessionId, String),
    /// This session is over, and another one follows: nothing that was kept for it is needed.
    Ended(SessionId),
    /// This configuration is no longer needed.
    Forget(ConfigNumber),
    /// Release a lease: the right to write to a session.
    Release(Lease),
    /// Close this connection; calls that run on it fail.
    Disconnect(ConnectionId),
    /// The engine has ended.
    Exit(Ending),
}

/// The reason why no further prompts are answered. A program receives a fault where an SDK reads a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The session to be resumed cannot be read, or another process writes to it.
    #[error("{0}")]
    NotOpened(String),
    /// Code that runs inside the session panicked.
    #[error("{0}")]
    Panicked(String),
    /// The host broke its contract with the core.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// How an engine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It completed normally. The exit code is 1 if the last result was an error, else 0.
    Done {
        /// Whether the last result was an error.
        failed: bool,
    },
    /// It was told to stop, or the reader of its output was gone.
    Stopped,
}

/// The number of an effect of the engine.
pub type EffectNumber = u64;

/// The number of a connection to an MCP server, unique within the engine.
pub type ConnectionId = u64;

/// An effect of the engine: an operation that only the host can perform.
#[derive(Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Read settings and project files and return the resulting configuration. [`Outcome::Configured`].
    Configure(Box<ConfigureRequest>),
    /// Read a session to be resumed. [`Outcome::Loaded`].
    Load {
        /// The session.
        which: Which,
        /// Whether to acquire the lease for it first, before reading.
        exclusive: bool,
    },
    /// Acquire the lease for a new session. [`Outcome::Leased`].
    Create(SessionId),
    /// Append lines to the transcripts of a session, each group atomically. [`Outcome::Appended`].
    Append(Lease, Vec<LineGroup>),
    /// Store a document beside the transcripts. [`Outcome::Kept`].
    Keep {
        /// The lease for the session.
        lease: Lease,
        /// The id of the subagent that the document describes.
        agent: String,
        /// The document's name.
        name: String,
        /// The document's content.
        document: Vec<u8>,
    },
    /// A file checkpoint operation. [`Outcome::Checkpointed`].
    Checkpoint(Checkpoint),
    /// Store the output of a background command beside the session's transcript. The text is the id of the call that started
    /// it. [`Outcome::OutputFile`].
    KeepOutput(Lease, String),
    /// Write permission updates into the settings files that they are for. [`Outcome::Written`].
    WritePermissions(Vec<PermissionUpdate>),
    /// Write string values by key into a settings file. [`Outcome::Written`].
    WriteSettings(Destination, BTreeMap<String, String>),
    /// Look at files for the SDK. [`Outcome::Looked`].
    Look(Look),
    /// Connect to an MCP server. [`Outcome::Connected`] or [`Outcome::NeedsAuth`].
    Connect(Box<ConnectRequest>),
    /// Send a request to an MCP server outside of the conversation. [`Outcome::Asked`].
    Ask(ConnectionId, Question),
    /// End the programs behind these connections and wait for them to exit. [`Outcome::Finished`].
    CloseServers(Vec<ConnectionId>),
    /// List the worktrees of agents that are to be removed. [`Outcome::Worktrees`].
    ListWorktrees,
    /// Remove the listed worktrees. [`Outcome::Finished`].
    RemoveWorktrees,
}

/// The outcome of an effect of the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The configuration, or why there is none.
    Configured(Result<Box<Configuration>, String>),
    /// A session to be resumed; `None` if the latest was requested and there is none.
    Loaded(Result<Option<LoadedSession>, String>),
    /// The lease for a new session, or why it could not be acquired.
    Leased(Result<Lease, String>),
    /// For each group of lines the place where it was written, or why it was not.
    Appended(Vec<Result<String, String>>),
    /// The place where a document is stored, or why it is not.
    Kept(Result<String, String>),
    /// The result of a checkpoint operation.
    Checkpointed(Result<Checkpointed, String>),
    /// The place where the output of a command is stored, or why it is not.
    OutputFile(Result<String, String>),
    /// The files that were written: destination and place.
    Written(Result<Vec<(Destination, String)>, String>),
    /// The result of looking at files.
    Looked(Result<Seen, ReplyError>),
    /// The server's offer, or why it could not be reached.
    Connected(Result<Offer, String>),
    /// The server lets nobody in who has not signed in; what it said.
    NeedsAuth(String),
    /// A server's own answer, or why there is none.
    Asked(Result<RawJson, String>),
    /// For each worktree to be removed, the occurrence to report to hooks.
    Worktrees(Vec<Occurrence>),
    /// The operation is complete.
    Finished,
}

/// Lines for one transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineGroup {
    /// The transcript: a subagent's, by its id, or the session's if `None`.
    pub agent: Option<String>,
    /// JSON objects, each of which becomes a line.
    pub lines: Vec<RawJson>,
    /// The state of the session after these lines, from which another engine can go on.
    pub snapshot: Option<Vec<u8>>,
}

impl LineGroup {
    /// A copy of the lines, for what follows when they are written.
    pub(super) fn only_lines(&self) -> Self {
        Self {
            agent: self.agent.clone(),
            lines: self.lines.clone(),
            snapshot: None,
        }
    }
}

/// A session to be resumed.
#[derive(Debug)]
pub struct LoadedSession {
    /// The stored session.
    pub saved: SavedSession,
    /// The lease for it, if it was requested.
    pub lease: Option<Lease>,
}

/// A checkpoint operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoint {
    /// Open the checkpoints of a session; a fork starts with those of the session it was forked from.
    Open {
        /// The session.
        session: SessionId,
        /// The lease for it. `None` if nothing of the session is persisted: its checkpoints then last only as long as it
        /// runs.
        lease: Option<Lease>,
        /// The session whose checkpoints are the starting point: the fork's origin, or the session itself if it is not
        /// persisted.
        begins_with: Option<SessionId>,
    },
    /// Begin a checkpoint for a prompt.
    Begin {
        /// The prompt's id.
        prompt: Uuid,
        /// The time.
        at: UnixMillis,
    },
    /// Keep these files before a call changes them.
    Before {
        /// The directory to which the paths are relative.
        cwd: String,
        /// The paths as the call names them.
        paths: Vec<String>,
        /// The time.
        at: UnixMillis,
    },
    /// Rewind files to their state when a prompt arrived, or report what that would change.
    Rewind {
        /// The id of the prompt, as the SDK gives it.
        message: String,
        /// Only report.
        dry_run: bool,
    },
}

/// The result of a checkpoint operation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpointed {
    /// A line for the transcript, if there is one to write.
    Line(Option<RawJson>),
    /// The result of a rewind or of a dry run, as reported to the SDK.
    Rewound(Value),
}

/// A request to look at files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// The content of a file. [`Seen::Value`].
    File {
        /// The directory to which the path is relative.
        cwd: String,
        /// The file.
        path: String,
        /// The maximum number of bytes.
        max_bytes: Option<u64>,
        /// `base64`; otherwise text.
        encoding: Option<String>,
    },
    /// Files whose names start with a text. [`Seen::Value`].
    Suggestions {
        /// The directory to which the names are relative.
        cwd: String,
        /// The text typed so far.
        query: String,
    },
    /// The real path of a folder. [`Seen::Path`].
    Folder {
        /// The directory to which the path is relative.
        cwd: String,
        /// The folder.
        path: String,
    },
    /// A file that the SDK has read for the model, unless it has changed since. [`Seen::Observed`].
    Observe {
        /// The directory to which the path is relative.
        cwd: String,
        /// The file.
        path: String,
        /// The modification time that the SDK knows, in milliseconds since 1970.
        mtime: i64,
    },
}

/// The result of looking at files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// A value for the SDK.
    Value(Value),
    /// A real path.
    Path(String),
    /// The file's current state; `None` if it has changed since it was read.
    Observed(Option<Observation>),
}

/// A request to connect to an MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectRequest {
    /// The number of the connection from now on.
    pub connection: ConnectionId,
    /// The server's name in the configuration.
    pub name: String,
    /// The server's configuration.
    pub config: RawJson,
    /// Variables that the settings add to the environment of programs.
    pub variables: BTreeMap<String, String>,
    /// Whether the configuration may refer to the API keys of model servers and receive their values.
    pub may_name_keys: bool,
}

/// What an MCP server offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// The server's description of itself.
    pub info: Option<Value>,
    /// The server's tools: each definition, under the name that the model uses, with the name that the server uses.
    pub tools: Vec<(ToolDefinition, String)>,
    /// Whether the server says that it has resources.
    pub has_resources: bool,
    /// The prompts that it offers as commands.
    pub prompts: Vec<ServerPrompt>,
}

/// An unsolicited event of an MCP server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The server's list of tools has changed to this.
    Tools(Vec<(ToolDefinition, String)>),
    /// The server has ended.
    Closed,
    /// The server asks the person something; [`Question::Elicited`] is the answer.
    Elicitation {
        /// The number of the question, given by the host.
        number: u64,
        /// The parameters of `elicitation/create`.
        asked: RawJson,
    },
}

/// A call of an MCP server's tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// The connection.
    pub connection: ConnectionId,
    /// The tool's name on the server.
    pub tool: String,
    /// The call.
    pub call: ToolCall,
}

/// A request to an MCP server outside of the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// Call a tool.
    Call {
        /// The tool's name on the server.
        tool: String,
        /// The call's input.
        arguments: serde_json::Map<String, Value>,
        /// The timeout in milliseconds.
        timeout_ms: Option<u32>,
    },
    /// Read the resource with this URI.
    Resource(String),
    /// List all resources: an array of them.
    Resources,
    /// Nothing is asked: this is the answer to the server's own question of this number.
    Elicited {
        /// The number of [`ServerEvent::Elicitation`].
        number: u64,
        /// The answer: `{"action", "content"?}`.
        answer: RawJson,
    },
    /// Get the messages of a prompt: the answer to `prompts/get`.
    Prompt {
        /// The prompt's name on the server.
        name: String,
        /// The values of its arguments, by name.
        arguments: BTreeMap<String, String>,
    },
}

/// The topic of a debug line; `--debug=api,!tools` selects among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Start and end of the engine, and inputs that have no effect.
    Engine,
    /// Control requests of the SDK.
    Control,
    /// Requests to the model server.
    Api,
    /// Tool calls.
    Tools,
    /// Command lines as they are run.
    Commands,
    /// Hooks.
    Hooks,
    /// Permission questions.
    Permissions,
    /// MCP servers.
    Mcp,
    /// What components of plugins log, and what of theirs was refused.
    Plugins,
    /// Messages of the session.
    Session,
}

impl Topic {
    /// The topic's name for `--debug`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Control => "control",
            Self::Api => "api",
            Self::Tools => "tools",
            Self::Commands => "commands",
            Self::Hooks => "hooks",
            Self::Permissions => "permissions",
            Self::Mcp => "mcp",
            Self::Plugins => "plugins",
            Self::Session => "session",
        }
    }
}
