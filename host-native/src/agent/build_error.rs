//! Why an agent cannot be built.

use std::path::PathBuf;

use windlass_core::{
    agent::AgentError,
    permission::RuleError,
    price::PriceFileError,
    spec::{NoSuchAgent, SpecError},
};

use crate::{
    http::EndpointError, sandbox::SandboxError, settings::SettingsError, store::NoConfigDir,
};

/// An agent that cannot be built as it was described: what is wrong, where, and what to do about it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Neither a key nor another way to a model.
    #[error(
        "there is no API key: call `api_key`, or `api_key_from_env` with ANTHROPIC_API_KEY set, or name another server with `base_url`, or give a `transport`"
    )]
    MissingKey,
    /// A session is to go on, and nobody keeps sessions.
    #[error(
        "`{0}` names a session that is to go on, but no sessions are kept: call `store`, with `FileStore::of_user(cwd)` for those of the command line"
    )]
    NoStore(&'static str),
    /// `fork` without a session that it could be a fork of.
    #[error("`fork` needs a session to begin with: call `resume` or `continue_latest` as well")]
    NothingToFork,
    /// Nothing says where the user's settings are.
    #[error("{0}; or call `config_dir`")]
    NoConfigDir(#[from] NoConfigDir),
    /// A text that is no session's id.
    #[error(
        "`{0}` is no session's id: `resume` takes the UUID that messages carry as `session_id`"
    )]
    SessionId(String),
    /// Settings of the sandbox that cannot be understood.
    #[error("the sandbox cannot be made: {0}")]
    Sandbox(#[from] SandboxError),
    /// Commands are to be confined or nothing is to begin, and they cannot be.
    #[error("commands cannot be confined here, and `failIfUnavailable` is set: {0}")]
    NoSandbox(String),
    /// `api_key_from_env` found none.
    #[error(
        "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set: set one of them, or call `api_key`"
    )]
    NoKeyInEnvironment,
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// `tools` names a built-in tool that does not exist.
    #[error("there is no built-in tool named `{name}`: `tools` takes the names {known}")]
    UnknownTool {
        /// The name as given.
        name: String,
        /// The names that are known, with commas between them.
        known: String,
    },
    /// Two tools of the same name.
    #[error(
        "two tools are named `{name}`: rename one of them, or leave the built-in one out of `tools`"
    )]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// Two MCP servers of the same name.
    #[error("two MCP servers are named `{name}`: rename one of them")]
    DuplicateMcpServer {
        /// The name.
        name: String,
    },
    /// A settings file that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An agent that cannot be started as it is defined.
    #[error(transparent)]
    Subagent(#[from] AgentError),
    /// `run_as` names no agent.
    #[error(transparent)]
    RunAs(#[from] NoSuchAgent),
    /// Something in what the session is told cannot be used: the schema of a tool's input.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A tool whose name no model could call.
    #[error("the tool name `{name}` is not made of 1 to 64 letters, digits, `_` and `-`")]
    ToolName {
        /// The name.
        name: String,
    },
    /// A tool whose input is no object.
    #[error("the tool `{tool}` cannot be offered: {problem}")]
    ToolInput {
        /// The tool.
        tool: String,
        /// What is wrong with its input.
        problem: String,
    },
    /// A rule that cannot be read.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A directory that is none.
    #[error("{place}: `{}` cannot be used as a directory: {reason}", .path.display())]
    Directory {
        /// The builder's method.
        place: &'static str,
        /// The path as given.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A budget that is no amount of money.
    #[error("max_budget_usd: {given} is not an amount in dollars such as 0.25")]
    Budget {
        /// As given.
        given: f64,
    },
    /// A price file that cannot be read.
    #[error("prices_file: `{}` cannot be read: {reason}", .path.display())]
    PriceFile {
        /// The path as given.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A price file of another form.
    #[error("prices_file: `{}`: {error}", .path.display())]
    PriceFileForm {
        /// The path as given.
        path: PathBuf,
        /// What is wrong, with line and column.
        error: PriceFileError,
    },
    /// A component file that cannot be read.
    #[error("plugin: `{}` cannot be read: {reason}", .path.display())]
    PluginFile {
        /// The path as given.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A component that cannot be loaded.
    #[cfg(feature = "plugins")]
    #[error(transparent)]
    Plugin(#[from] crate::plugins::LoadError),
    /// bypassPermissions without leave.
    #[error(
        "permission mode bypassPermissions lets everything run unasked: call `allow_dangerously_skip_permissions(true)` too if that is meant"
    )]
    BypassNotAllowed,
    /// Settings files that cannot be used as they are.
    #[error("the permissions in the settings cannot be used: {0}")]
    PermissionSettings(String),
    /// A rule that denies or asks about a tool whose name is nearly that of another: what it forbids would run.
    #[error("{0}")]
    MisspeltRule(String),
    /// The settings forbid the mode that bypasses permissions.
    #[error(
        "permission mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): allow what is needed by rules"
    )]
    BypassDisabled,
    /// bypassPermissions as root.
    #[error(
        "permission mode bypassPermissions is refused for root: run as another user, or allow what is needed by rules (`allowed_tools`)"
    )]
    BypassAsRoot,
}

/// The same words as its [`Display`](std::fmt::Display): a `main` that returns it shows this form to people.
impl std::fmt::Debug for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
