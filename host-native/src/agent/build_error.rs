//! Errors of building an agent.

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

/// An agent cannot be built as described. The message says what is wrong, where, and what to do about it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is neither an API key nor another way to reach a model.
    #[error(
        "there is no API key: call `api_key`, or `api_key_from_env` with ANTHROPIC_API_KEY set, or name another server with `base_url`, or give a `transport`"
    )]
    MissingKey,
    /// A private host for WebFetch is not one.
    #[error("web_private_hosts: {0}")]
    PrivateHost(String),
    /// A session is to be resumed, but there is no store.
    #[error(
        "`{0}` names a session that is to go on, but no sessions are kept: call `store`, with `FileStore::of_user(cwd)` for those of the command line"
    )]
    NoStore(&'static str),
    /// `fork` was called without a session to fork.
    #[error("`fork` needs a session to begin with: call `resume` or `continue_latest` as well")]
    NothingToFork,
    /// The user's configuration directory cannot be determined.
    #[error("{0}; or call `config_dir`")]
    NoConfigDir(#[from] NoConfigDir),
    /// The text is not a session id.
    #[error(
        "`{0}` is no session's id: `resume` takes the UUID that messages carry as `session_id`"
    )]
    SessionId(String),
    /// The sandbox settings are invalid.
    #[error("the sandbox cannot be made: {0}")]
    Sandbox(#[from] SandboxError),
    /// The settings require a sandbox, and it is not available.
    #[error("commands cannot be confined here, and `failIfUnavailable` is set: {0}")]
    NoSandbox(String),
    /// `api_key_from_env` found no key.
    #[error(
        "neither ANTHROPIC_API_KEY nor ANTHROPIC_AUTH_TOKEN is set: set one of them, or call `api_key`"
    )]
    NoKeyInEnvironment,
    /// The endpoint configuration is invalid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// `tools` names a built-in tool that does not exist.
    #[error("there is no built-in tool named `{name}`: `tools` takes the names {known}")]
    UnknownTool {
        /// The name as given.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// Two tools have the same name.
    #[error(
        "two tools are named `{name}`: rename one of them, or leave the built-in one out of `tools`"
    )]
    DuplicateTool {
        /// The name.
        name: String,
    },
    /// Two MCP servers have the same name.
    #[error("two MCP servers are named `{name}`: rename one of them")]
    DuplicateMcpServer {
        /// The name.
        name: String,
    },
    /// A settings file cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The definition of a subagent is invalid.
    #[error(transparent)]
    Subagent(#[from] AgentError),
    /// `run_as` names an agent that does not exist.
    #[error(transparent)]
    RunAs(#[from] NoSuchAgent),
    /// The session spec is invalid, for example the input schema of a tool.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The Messages API does not accept the tool's name.
    #[error("the tool name `{name}` is not made of 1 to 64 letters, digits, `_` and `-`")]
    ToolName {
        /// The name.
        name: String,
    },
    /// The input schema of a tool is not an object.
    #[error("the tool `{tool}` cannot be offered: {problem}")]
    ToolInput {
        /// The tool.
        tool: String,
        /// What is wrong with its input.
        problem: String,
    },
    /// A permission rule cannot be parsed.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The path is not a directory.
    #[error("{place}: `{}` cannot be used as a directory: {reason}", .path.display())]
    Directory {
        /// The builder's method.
        place: &'static str,
        /// The path as given.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The budget is not a valid amount of money.
    #[error("max_budget_usd: {given} is not an amount in dollars such as 0.25")]
    Budget {
        /// The value as given.
        given: f64,
    },
    /// A price file cannot be read.
    #[error("prices_file: `{}` cannot be read: {reason}", .path.display())]
    PriceFile {
        /// The path as given.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// A price file cannot be parsed.
    #[error("prices_file: `{}`: {error}", .path.display())]
    PriceFileForm {
        /// The path as given.
        path: PathBuf,
        /// What is wrong, with line and column.
        error: PriceFileError,
    },
    /// A component file cannot be read.
    #[error("plugin: `{}` cannot be read: {reason}", .path.display())]
    PluginFile {
        /// The path as given.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// A directory that a plugin is granted cannot be opened.
    #[error(
        "plugin `{}`: the directory `{}` that it is granted cannot be resolved: {reason}. Make it again, or grant the plugin another one or nothing", .plugin.display(), .directory.display()
    )]
    PluginGrant {
        /// The component file as given.
        plugin: PathBuf,
        /// The directory as given.
        directory: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// A component is not the one that was granted something.
    #[cfg(feature = "plugins")]
    #[error("plugin `{}` is not the file that was granted something: it has changed since, so grant again", .path.display())]
    PluginChanged {
        /// The component file as given.
        path: PathBuf,
    },
    /// A plugin is granted something for which it does not ask.
    #[cfg(feature = "plugins")]
    #[error("plugin `{}`: {fault}", .plugin.display())]
    PluginGranted {
        /// The component file as given.
        plugin: PathBuf,
        /// What is granted.
        fault: crate::plugins::GrantError,
    },
    /// A component cannot be loaded.
    #[cfg(feature = "plugins")]
    #[error(transparent)]
    Plugin(#[from] crate::plugins::LoadError),
    /// Mode `bypassPermissions` was not allowed.
    #[error(
        "permission mode bypassPermissions lets everything run unasked: call `allow_dangerously_skip_permissions(true)` too if that is meant"
    )]
    BypassNotAllowed,
    /// The permissions of the settings files are invalid.
    #[error("the permissions in the settings cannot be used: {0}")]
    PermissionSettings(String),
    /// A deny or ask rule names a tool that does not exist, but nearly: the call it should have stopped would run.
    #[error("{0}")]
    MisspeltRule(String),
    /// The settings disable mode `bypassPermissions`.
    #[error(
        "permission mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): allow what is needed by rules"
    )]
    BypassDisabled,
    /// Mode `bypassPermissions` is refused for root.
    #[error(
        "permission mode bypassPermissions is refused for root: run as another user, or allow what is needed by rules (`allowed_tools`)"
    )]
    BypassAsRoot,
}

/// The same text as [`Display`](std::fmt::Display): `main` prints this form when it returns the error.
impl std::fmt::Debug for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}
