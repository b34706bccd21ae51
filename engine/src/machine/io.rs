//! What the engine is told, and what it asks for.
//!
//! Every effect of the engine is answered exactly once by an [`Outcome`] of its kind; effects of its session are answered as
//! the core says ([`windlass_core::effect`]).

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_core::{
    EffectId, HostError, Input as SessionInput, Message, Prompt, RawJson, SessionId, UnixMillis,
    Uuid,
    effect::{Answer, Effect as SessionEffect},
    hook::Occurrence,
    permission::{Destination, PermissionUpdate},
    tool::{Observation, ToolCall, ToolDefinition},
};

use super::config::{Configuration, ConfigureRequest};
use crate::{
    protocol::{line::Line, reply::ReplyError},
    store::Lease,
    transcript::{SavedSession, Which},
};

/// What the engine is told.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// A line of the SDK.
    Line(Line),
    /// A prompt of the program that the host is part of.
    Prompt(Prompt),
    /// Something else that this program tells its session.
    Tell(SessionInput),
    /// No line and no prompt comes any more.
    InputEnded,
    /// An answer to an effect of the session.
    Session(EffectId, Answer),
    /// What came of an effect of the engine.
    Done(EffectNumber, Outcome),
    /// An MCP server says something of its own accord.
    Server(ConnectionId, ServerEvent),
    /// A deadline may have passed.
    Tick,
    /// Whoever started the engine wants it to end.
    Stop,
    /// Nobody reads what it says.
    Unread,
}

/// What the engine asks for.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// A line for the SDK, with its line end.
    Line(String),
    /// The session that is spoken to is this one, for the program that the host is part of.
    Opened(SessionId),
    /// What the session says, for this program.
    Message(Message),
    /// Why nothing more is answered, for this program.
    Fault(Fault),
    /// An effect of the session. The number is that of the configuration whose tools and hooks perform it.
    Session(ConfigNumber, EffectId, SessionEffect),
    /// A call of an MCP server's tool, which answers as an effect of the session does.
    ServerTool(EffectId, ServerTool),
    /// Stop an effect of the session; it still comes to its last answer.
    Cancel(EffectId),
    /// Drop an effect of the session, of which nothing more is to be heard.
    Abandon(EffectId),
    /// An effect of the engine.
    Effect(EffectNumber, Effect),
    /// A word for the person who started the engine, on standard error.
    Warning(String),
    /// Why no session begins, for the person: as it is.
    Refusal(String),
    /// A line for whoever reads what the engine does (`--debug`).
    Note(Topic, String),
    /// A line of the journal of a session, where one is kept.
    Journal(SessionId, String),
    /// This configuration is not needed any more.
    Forget(ConfigNumber),
    /// The right to write to a session is given back.
    Release(Lease),
    /// This connection ends; calls that run on it fail.
    Disconnect(ConnectionId),
    /// The engine has ended.
    Exit(Ending),
}

/// Why nothing more is answered: what a program is told where an SDK reads a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The session that was to go on cannot be read, or somebody else writes to it.
    #[error("{0}")]
    NotOpened(String),
    /// Code that the session was given panicked.
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
    /// In good order. The exit code is 1 where the last result was an error, else 0.
    Done {
        /// Whether the last result was an error.
        failed: bool,
    },
    /// It was told to stop, or nobody read what it wrote.
    Stopped,
}

/// The number of an effect of the engine.
pub type EffectNumber = u64;

/// The number of a connection to an MCP server: no two connections have the same.
pub type ConnectionId = u64;

/// The number of a configuration, given by whoever read it.
pub type ConfigNumber = u64;

/// Something only a host can do for the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Effect {
    /// Read settings and project files, and say what sessions are made of. [`Outcome::Configured`].
    Configure(Box<ConfigureRequest>),
    /// Read a session that goes on. [`Outcome::Loaded`].
    Load {
        /// Which one.
        which: Which,
        /// With the right to write to it, taken before it is read.
        exclusive: bool,
    },
    /// Take the right to write to a session that begins. [`Outcome::Leased`].
    Create(SessionId),
    /// Append lines to the transcripts of a session, each group in one step. [`Outcome::Appended`].
    Append(Lease, Vec<LineGroup>),
    /// Keep a document beside the transcripts. [`Outcome::Kept`].
    Keep {
        /// The right to write to the session.
        lease: Lease,
        /// The subagent that it is about.
        agent: String,
        /// The name of the document.
        name: String,
        /// What it says.
        document: Vec<u8>,
    },
    /// Files before they are changed, and the way back. [`Outcome::Checkpointed`].
    Checkpoint(Checkpoint),
    /// Keep what a command puts out in the background beside the transcript of the session; the call that started it.
    /// [`Outcome::OutputFile`].
    KeepOutput(Lease, String),
    /// Write changes of the permissions into the settings files that they are for. [`Outcome::Written`].
    WritePermissions(Vec<PermissionUpdate>),
    /// Write texts under their keys into a settings file. [`Outcome::Written`].
    WriteSettings(Destination, BTreeMap<String, String>),
    /// Look at files for the SDK. [`Outcome::Looked`].
    Look(Look),
    /// Connect to an MCP server. [`Outcome::Connected`].
    Connect(Box<ConnectRequest>),
    /// Ask an MCP server past the model. [`Outcome::Asked`].
    Ask(ConnectionId, Question),
    /// End the programs behind these connections and wait until they have ended. [`Outcome::Finished`].
    CloseServers(Vec<ConnectionId>),
    /// Say which worktrees of agents are to go. [`Outcome::Worktrees`].
    ListWorktrees,
    /// Remove those that were listed. [`Outcome::Finished`].
    RemoveWorktrees,
}

/// What came of an effect of the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// What sessions are made of, or why there can be none.
    Configured(Result<Box<Configuration>, String>),
    /// A session that goes on; none where the latest was asked for and there is none.
    Loaded(Result<Option<LoadedSession>, String>),
    /// The right to write to a session that begins, or why it is not to be had.
    Leased(Result<Lease, String>),
    /// For each group of lines where it was written, or why it was not.
    Appended(Vec<Result<String, String>>),
    /// Where a document is kept, or why it is not.
    Kept(Result<String, String>),
    /// What came of a checkpoint.
    Checkpointed(Result<Checkpointed, String>),
    /// Where what a command puts out is kept, or why it is not.
    OutputFile(Result<String, String>),
    /// The files that were written: whose they are, and where.
    Written(Result<Vec<(Destination, String)>, String>),
    /// What was seen.
    Looked(Result<Seen, ReplyError>),
    /// What a server offers, or why it does not answer.
    Connected(Result<Offer, String>),
    /// A server's own answer, or why there is none.
    Asked(Result<RawJson, String>),
    /// What hooks are told of each worktree that is to go.
    Worktrees(Vec<Occurrence>),
    /// It is done.
    Finished,
}

/// Lines for one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineGroup {
    /// Whose transcript: a subagent, by its id; none for the session.
    pub agent: Option<String>,
    /// JSON objects, each of which becomes a line.
    pub lines: Vec<RawJson>,
}

/// A session that goes on.
#[derive(Debug)]
pub struct LoadedSession {
    /// What was written of it.
    pub saved: SavedSession,
    /// The right to write to it, where that was asked for.
    pub lease: Option<Lease>,
}

/// What is to be done with the checkpoints of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpoint {
    /// Open those of a session; a fork begins with those of the session it was forked from.
    Open {
        /// The session.
        session: SessionId,
        /// The right to write to it. None where nothing is kept of it: its checkpoints last as long as it runs.
        lease: Option<Lease>,
        /// The session with whose checkpoints it begins: that which it was forked from, or itself where nothing more is kept of it.
        begins_with: Option<SessionId>,
    },
    /// A prompt begins to be answered.
    Begin {
        /// Its id.
        prompt: Uuid,
        /// When.
        at: UnixMillis,
    },
    /// A call is about to change these files.
    Before {
        /// The directory that they are relative to.
        cwd: String,
        /// As the call names them.
        paths: Vec<String>,
        /// When.
        at: UnixMillis,
    },
    /// Take the files back to what they were when a prompt came, or say what that would change.
    Rewind {
        /// The prompt, as the SDK names it.
        message: String,
        /// Only say it.
        dry_run: bool,
    },
}

/// What came of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checkpointed {
    /// A line for the transcript, if there is something to say.
    Line(Option<RawJson>),
    /// What a rewind changed, or would change, as the SDK is told.
    Rewound(Value),
}

/// A look at files.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// The content of a file. [`Seen::Value`].
    File {
        /// The directory it is relative to.
        cwd: String,
        /// The file.
        path: String,
        /// Bytes at most.
        max_bytes: Option<u64>,
        /// `base64`, or text.
        encoding: Option<String>,
    },
    /// Files whose names begin in some way. [`Seen::Value`].
    Suggestions {
        /// The directory they are relative to.
        cwd: String,
        /// What was typed.
        query: String,
    },
    /// The real path of a folder. [`Seen::Path`].
    Folder {
        /// The directory it is relative to.
        cwd: String,
        /// The folder.
        path: String,
    },
    /// A file that the SDK has read for the model, if it has not changed since. [`Seen::Observed`].
    Observe {
        /// The directory it is relative to.
        cwd: String,
        /// The file.
        path: String,
        /// When it was changed last as the SDK knows it, in milliseconds since 1970.
        mtime: i64,
    },
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// What the SDK is told.
    Value(Value),
    /// A real path.
    Path(String),
    /// A file as it is, unless it has changed since it was read.
    Observed(Option<Observation>),
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct ConnectRequest {
    /// The number under which it is spoken of from now on.
    pub connection: ConnectionId,
    /// Its name in the configuration.
    pub name: String,
    /// Its configuration.
    pub config: RawJson,
    /// What the settings add to the environment of programs.
    pub variables: BTreeMap<String, String>,
    /// The configuration may name keys of model servers, and then gets them.
    pub may_name_keys: bool,
}

/// What an MCP server has to offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offer {
    /// What it says of itself.
    pub info: Option<Value>,
    /// Its tools, under the names the model calls them by, with those that the server knows them by.
    pub tools: Vec<(ToolDefinition, String)>,
}

/// What an MCP server says of its own accord.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// Its tools are these from now on.
    Tools(Vec<(ToolDefinition, String)>),
    /// It has ended.
    Closed,
}

/// A call of an MCP server's tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerTool {
    /// The connection.
    pub connection: ConnectionId,
    /// The tool, by the name by which the server knows it.
    pub tool: String,
    /// The call.
    pub call: ToolCall,
}

/// What an MCP server is asked past the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// To run a tool.
    Call {
        /// By the name by which the server knows it.
        tool: String,
        /// Its input.
        arguments: serde_json::Map<String, Value>,
        /// How long it may take.
        timeout_ms: Option<u32>,
    },
    /// For a resource.
    Resource(String),
}

/// What a line for `--debug` is about; `--debug=api,!tools` chooses among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// How the engine begins and ends, and what it was told that has no effect.
    Engine,
    /// Requests of the SDK.
    Control,
    /// Requests to the model server.
    Api,
    /// Calls of tools.
    Tools,
    /// Command lines, as they run.
    Commands,
    /// Hooks.
    Hooks,
    /// Questions whether a call may run.
    Permissions,
    /// MCP servers.
    Mcp,
    /// What the session says.
    Session,
}

impl Topic {
    /// The name behind `--debug`.
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
            Self::Session => "session",
        }
    }
}
