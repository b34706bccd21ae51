//! An agent inside your program.
//!
//! [`Agent::builder`] describes the agent: model, prompt, tools, permissions. Then [`Agent::query`] answers one
//! prompt as a stream of messages, [`Agent::run`] answers one prompt and returns the result, and [`Agent::session`]
//! starts a conversation.
//!
//! ```no_run
//! use windlass::{Agent, NoInput, Tool};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder()
//!     .api_key_from_env()?
//!     .tool(Tool::new("dice", "Throws a die", |_: NoInput| async { 4 }).read_only())
//!     .allowed_tools(["dice"])
//!     .build()?;
//! let result = agent.run("Throw the die twice and add the numbers.").await?;
//! println!("{}", result.result.unwrap_or_default());
//! # Ok(())
//! # }
//! ```

mod begin;
mod build;
mod build_error;
mod builder;
mod builtin;
mod closure;
#[cfg_attr(not(feature = "plugins"), path = "no_components.rs")]
mod components;
#[cfg(feature = "engine")]
pub(crate) use self::components::default_plugin_host;
#[cfg(unix)]
mod git_settings;
mod hook;
mod host;
mod input;
mod mcp_server;
mod nested;
mod of_files;
mod offered_hook;
mod offered_tool;
mod output;
mod places;
mod prompt_queue;
mod read_settings;
mod run;
mod run_error;
mod schema;
mod session;
mod settings;
mod tool;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use tokio::sync::mpsc;
use windlass_core::{
    Message, Seeded, SessionId, Spec,
    agent::AgentInfo,
    initialization::{AccountInfo, Initialization, ModelInfo, SlashCommand},
    message::ResultMessage,
};
use windlass_engine::{models::offered_models, project::ProjectFiles};

use self::begin::Resumes;
pub use self::{
    build_error::BuildError,
    builder::AgentBuilder,
    closure::ToolContext,
    hook::{HookContext, IntoHookAnswer},
    input::UserInput,
    mcp_server::McpServer,
    output::{IntoToolResult, Json},
    run::{AbortHandle, Run},
    run_error::{BypassNotAllowed, ControlError, RunError},
    session::{NotFromOutside, Session},
    tool::{NoInput, Tool},
};
use crate::{
    host::{MessageSink, NativeHost, PermissionCallback, RunHook, RunTool, Transport},
    random::{fresh_uuid, random_seed},
    sandbox::Lack,
    store::SharedStore,
    web::WebTools,
};

/// Capacity of the message channel. The session waits while it is full.
const MESSAGES_AHEAD: usize = 64;

/// An agent: built once, used for any number of prompts and sessions. Cloning is cheap.
#[derive(Clone)]
pub struct Agent {
    parts: Arc<Parts>,
}

/// Sees every message before it is delivered.
type MessageCallback = dyn Fn(&Message) + Send + Sync;

/// Called when a session starts; returns the sink for the lines of its journal.
pub(crate) type RecordTo = dyn Fn(SessionId) -> JournalSink + Send + Sync;

/// Receives the lines of a journal, without line ends.
pub type JournalSink = Box<dyn FnMut(&str) + Send>;

/// What the sessions of an agent share.
struct Parts {
    spec: Arc<Spec>,
    /// Like `spec`, for sessions with an engine, which always get prompts replayed. Made for the first of them.
    spec_of_sessions: OnceLock<Arc<Spec>>,
    transport: Arc<dyn Transport>,
    tools: Arc<BTreeMap<String, Arc<dyn RunTool>>>,
    hooks: Arc<BTreeMap<String, Arc<dyn RunHook>>>,
    permission: Option<Arc<PermissionCallback>>,
    on_message: Option<Arc<MessageCallback>>,
    record: Option<Arc<RecordTo>>,
    session_id: Option<SessionId>,
    #[cfg(all(unix, feature = "mcp"))]
    outside_servers: Vec<crate::mcp::ServerConfig>,
    web: WebTools,
    store: Option<SharedStore>,
    resumes: Resumes,
    seed: Option<[u8; 32]>,
    sandbox_lacks: Vec<Lack>,
    warnings: Vec<String>,
    /// Environment variables from settings, for the processes that are started.
    variables: read_settings::Variables,
    project: Project,
    /// Whether the contents of files are saved before they are changed.
    file_checkpoints: bool,
}

/// The project's own files, if settings files are read.
#[derive(Default)]
struct Project {
    /// Commands, skills, agents, instructions.
    files: Arc<ProjectFiles>,
    /// Whether a person, or the embedding program, has trusted the project's folder.
    is_trusted: bool,
    /// Whether the programs that its files start may run.
    runs_programs: bool,
}

impl Agent {
    /// What was ignored in settings and the project's files, and why: sentences for the person.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    /// What this kernel lacks for the sandbox of [`AgentBuilder::sandbox`]. If more than Landlock is missing,
    /// commands are not confined.
    #[must_use]
    pub fn sandbox_lacks(&self) -> &[Lack] {
        &self.parts.sandbox_lacks
    }

    /// Starts the description of an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::new()
    }

    /// Sends a prompt in a new session and returns the messages as they come. The input is text, or a stream of user
    /// messages ([`UserInput::stream`]).
    ///
    /// The work runs in a tokio task whether the messages are read or not. Dropping the [`Run`] stops it.
    pub fn query(&self, input: impl Into<UserInput>) -> Run {
        self.session().only_prompt(input)
    }

    /// Sends a prompt in a new session and waits for the result.
    ///
    /// A run that failed, for example because a limit was reached or the model could not be reached, also has a
    /// result: see [`ResultMessage::subtype`].
    ///
    /// # Errors
    /// [`RunError`] when there is no result.
    pub async fn run(&self, input: impl Into<UserInput>) -> Result<ResultMessage, RunError> {
        self.query(input).result().await
    }

    /// Starts a conversation: each prompt sees the earlier ones.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::start(self)
    }

    /// The spec of the agent's sessions, for a [`windlass_core::Session`] that you drive yourself.
    #[must_use]
    pub fn spec(&self) -> Arc<Spec> {
        Arc::clone(&self.parts.spec)
    }

    /// What the agent's sessions offer: commands, agents, models, output styles, and the account.
    #[must_use]
    pub fn initialization(&self) -> Initialization {
        let mut offers = self.parts.spec.initialization();
        offers.models = offered_models(&self.parts.spec, None);
        offers
    }

    /// Slash commands that a prompt may begin with.
    #[must_use]
    pub fn supported_commands(&self) -> Vec<SlashCommand> {
        self.initialization().commands
    }

    /// Known models, with what they support.
    #[must_use]
    pub fn supported_models(&self) -> Vec<ModelInfo> {
        self.initialization().models
    }

    /// Subagents that can be started: the built-in ones and those added to this agent.
    #[must_use]
    pub fn supported_agents(&self) -> Vec<AgentInfo> {
        self.initialization().agents
    }

    /// The account that pays, if known.
    #[must_use]
    pub fn account_info(&self) -> AccountInfo {
        self.initialization().account
    }

    /// A host with the agent's tools, hooks and callbacks, for a session that you drive yourself
    /// ([`windlass_core::drive`]) or for your own host around it. Its messages come from the receiver; the session
    /// waits while they are not taken. It stores nothing: persistence is part of the engine, on which
    /// [`Agent::session`] runs.
    #[must_use]
    pub fn host(&self) -> (NativeHost, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(MESSAGES_AHEAD);
        (self.host_for(sender), receiver)
    }

    /// The tools that ask a model, as far as they are offered.
    #[cfg(feature = "engine")]
    pub(crate) fn web_tools(&self) -> Option<&WebTools> {
        let tools = &self.parts.spec.tools.definitions;
        let is_offered = tools.iter().any(|tool| tool.asks_model);
        is_offered.then_some(&self.parts.web)
    }

    /// What sends requests to the model.
    #[cfg(feature = "engine")]
    pub(crate) fn transport(&self) -> Arc<dyn Transport> {
        Arc::clone(&self.parts.transport)
    }

    fn host_for(&self, messages: impl Into<MessageSink>) -> NativeHost {
        let parts = &self.parts;
        NativeHost::new(Arc::clone(&parts.transport), messages)
            .with_tools(Arc::clone(&parts.tools))
            .with_hooks(Arc::clone(&parts.hooks))
            .with_permission(parts.permission.clone())
            .with_cwd(parts.spec.environment.cwd.as_str())
    }

    /// The id and seed of a new session: the configured ones, or random ones.
    fn identity(&self) -> (SessionId, [u8; 32]) {
        let seed = self.parts.seed.unwrap_or_else(random_seed);
        let id = self
            .parts
            .session_id
            .unwrap_or_else(|| match self.parts.seed {
                // Derived from the seed alone, so that every session gets the same id.
                Some(seed) => Seeded::new(seed).uuid(),
                None => fresh_uuid(),
            });
        (id, seed)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.parts.spec.model.name)
            .field("tools", &self.parts.tools.keys())
            .finish_non_exhaustive()
    }
}
