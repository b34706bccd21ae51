//! An agent inside your program.
//!
//! [`Agent::builder`] says what the agent is: model, prompt, tools, what may run. Then
//! [`Agent::query`] asks once and gives a stream of messages, [`Agent::run`] asks once and gives the
//! result, and [`Agent::session`] is a conversation.
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
#[cfg(unix)]
mod git_settings;
mod hook;
mod host;
mod input;
mod mcp_server;
mod nested;
mod output;
mod places;
mod prompt_queue;
mod run;
mod schema;
mod session;
mod settings;
mod tool;

use std::{collections::BTreeMap, fmt, sync::Arc};

use tokio::sync::mpsc;
use windlass_core::{
    Message, Seeded, SessionId, Spec,
    agent::AgentInfo,
    initialization::{AccountInfo, Initialization, ModelInfo, SlashCommand},
    message::ResultMessage,
};
use windlass_engine::project::ProjectFiles;

use self::begin::Resumes;
pub use self::{
    build_error::BuildError,
    builder::AgentBuilder,
    closure::ToolContext,
    hook::{HookContext, IntoHookAnswer},
    input::UserInput,
    mcp_server::McpServer,
    output::{IntoToolResult, Json},
    run::{AbortHandle, ControlError, Run, RunError},
    session::{BypassNotAllowed, NotFromOutside, Session},
    tool::{NoInput, Tool},
};
use crate::{
    host::{MessageSink, NativeHost, PermissionCallback, RunHook, RunTool, Transport},
    random::{fresh_uuid, random_seed},
    sandbox::Lack,
    store::SharedStore,
};

/// Messages that may wait to be read before the loop waits too.
const MESSAGES_AHEAD: usize = 64;

/// What an agent is: made once, used for any number of prompts and sessions. Cloning is cheap.
#[derive(Clone)]
pub struct Agent {
    parts: Arc<Parts>,
}

/// Looks at every message before it is handed on.
type MessageCallback = dyn Fn(&Message) + Send + Sync;

/// Gives, for a session that begins, what takes the lines of its journal.
pub(crate) type RecordTo = dyn Fn(SessionId) -> JournalSink + Send + Sync;

/// What takes the lines of a journal, without their line ends.
pub type JournalSink = Box<dyn FnMut(&str) + Send>;

/// Everything that the sessions of an agent share.
struct Parts {
    spec: Arc<Spec>,
    /// The same for the engine of a session, which is always told of prompts.
    spec_of_sessions: Arc<Spec>,
    transport: Arc<dyn Transport>,
    tools: Arc<BTreeMap<String, Arc<dyn RunTool>>>,
    hooks: Arc<BTreeMap<String, Arc<dyn RunHook>>>,
    permission: Option<Arc<PermissionCallback>>,
    on_message: Option<Arc<MessageCallback>>,
    record: Option<Arc<RecordTo>>,
    session_id: Option<SessionId>,
    #[cfg(all(unix, feature = "mcp"))]
    processes: Vec<crate::mcp::StdioServer>,
    store: Option<SharedStore>,
    resumes: Resumes,
    seed: Option<[u8; 32]>,
    sandbox_lacks: Vec<Lack>,
    warnings: Vec<String>,
    /// What settings add to the environment of programs.
    variables: settings::Variables,
    project: Project,
    /// What files hold is kept before they are changed.
    file_checkpoints: bool,
}

/// What the project brings along, where its files are read.
#[derive(Default)]
struct Project {
    /// Commands, skills, agents, instructions.
    files: Arc<ProjectFiles>,
    /// A person has trusted its folder, or the program does.
    is_trusted: bool,
    /// What its files start runs.
    runs_programs: bool,
}

impl Agent {
    /// What settings and the project's files say and does not count, and why: sentences for the person.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    /// What this kernel does not give of that which [`AgentBuilder::sandbox`] asks for. Where it is more than Landlock, commands
    /// are not confined.
    #[must_use]
    pub fn sandbox_lacks(&self) -> &[Lack] {
        &self.parts.sandbox_lacks
    }

    /// Says what the agent is, step by step.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::new()
    }

    /// Asks in a session of its own and gives the messages as they come. The input is text, or a stream of
    /// user messages ([`UserInput::stream`]).
    ///
    /// The work goes on in a tokio task whether the messages are read or not, until [`Run`] is dropped: that
    /// stops it.
    pub fn query(&self, input: impl Into<UserInput>) -> Run {
        self.session().only_prompt(input)
    }

    /// Asks in a session of its own and waits for the result.
    ///
    /// A run that failed, because a limit was reached or the model could not be asked, is a result too:
    /// look at [`ResultMessage::subtype`].
    ///
    /// # Errors
    /// [`RunError`] when there is no result.
    pub async fn run(&self, input: impl Into<UserInput>) -> Result<ResultMessage, RunError> {
        self.query(input).result().await
    }

    /// Starts a conversation: prompts that see what came before.
    #[must_use]
    pub fn session(&self) -> Session {
        Session::start(self)
    }

    /// What its sessions are told, for a [`windlass_core::Session`] that you turn yourself.
    #[must_use]
    pub fn spec(&self) -> Arc<Spec> {
        Arc::clone(&self.parts.spec)
    }

    /// What its sessions offer: commands, agents, models, output styles, and who pays.
    #[must_use]
    pub fn initialization(&self) -> Initialization {
        self.parts.spec.initialization()
    }

    /// Commands that a prompt may begin with.
    #[must_use]
    pub fn supported_commands(&self) -> Vec<SlashCommand> {
        self.initialization().commands
    }

    /// Models that are known, with what they support.
    #[must_use]
    pub fn supported_models(&self) -> Vec<ModelInfo> {
        self.initialization().models
    }

    /// Agents that can be started: those built in, and the agent's own.
    #[must_use]
    pub fn supported_agents(&self) -> Vec<AgentInfo> {
        self.initialization().agents
    }

    /// Who pays, as far as is known.
    #[must_use]
    pub fn account_info(&self) -> AccountInfo {
        self.initialization().account
    }

    /// A host with its tools, hooks and callbacks, for a session that you turn yourself ([`windlass_core::drive`]) or for a host of
    /// your own around it. Its messages come out of the receiver; the session waits while they are not taken. It keeps nothing:
    /// what lasts is the engine's business, which [`Agent::session`] runs on.
    #[must_use]
    pub fn host(&self) -> (NativeHost, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(MESSAGES_AHEAD);
        (self.host_for(sender), receiver)
    }

    fn host_for(&self, messages: impl Into<MessageSink>) -> NativeHost {
        let parts = &self.parts;
        NativeHost::new(Arc::clone(&parts.transport), messages)
            .with_tools(Arc::clone(&parts.tools))
            .with_hooks(Arc::clone(&parts.hooks))
            .with_permission(parts.permission.clone())
            .with_cwd(parts.spec.environment.cwd.as_str())
    }

    /// The id and the seed of a new session: as they were fixed, else from the system's randomness.
    fn identity(&self) -> (SessionId, [u8; 32]) {
        let seed = self.parts.seed.unwrap_or_else(random_seed);
        let id = self
            .parts
            .session_id
            .unwrap_or_else(|| match self.parts.seed {
                // Of the seed alone, so that everything is the same the next time.
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
