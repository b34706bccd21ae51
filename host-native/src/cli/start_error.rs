//! Why nothing was started.

use std::{io, path::PathBuf};

use windlass::{
    BuildError,
    engine::{self, FlagsError},
    store::NoConfigDir,
};

use super::args::ProviderArg;

/// Why nothing was started: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// There is no key for a server that certainly requires one.
    #[error("there is no API key: set {}. `windlass demo` shows the agent without one.", key_variables(*.0))]
    MissingKey(ProviderArg),
    /// Standard input cannot be used as the prompt.
    #[error("standard input cannot be used as the prompt: {0}")]
    StandardInput(String),
    /// A file cannot be used.
    #[error("{what} `{}`: {reason}", .path.display())]
    File {
        /// What the file is for.
        what: &'static str,
        /// The file as it was named.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The configuration directory cannot be determined.
    #[error(transparent)]
    NoConfigDir(#[from] NoConfigDir),
    /// The agent cannot be built.
    #[error(transparent)]
    Build(BuildError),
    /// The engine cannot be started.
    #[error(transparent)]
    Engine(engine::StartError),
    /// The runtime or a signal handler cannot be set up.
    #[error("the system refuses what the program needs to run: {0}")]
    Runtime(io::Error),
    /// Something that this command needs does not work.
    #[error("{0}")]
    Unable(String),
}

impl From<engine::StartError> for StartError {
    fn from(error: engine::StartError) -> Self {
        match error {
            engine::StartError::Flag { .. }
            | engine::StartError::Flags(FlagsError::Value { .. }) => Self::Usage(error.to_string()),
            engine::StartError::Sandbox(error) => Self::Usage(format!("--sandbox: {error}")),
            engine::StartError::Flags(FlagsError::BypassAsRoot) => Self::Usage(
                "as root, nothing runs unasked: use another user, or allow what is needed with --allowedTools".to_owned(),
            ),
            engine::StartError::Build(error) => error.into(),
            other => Self::Engine(other),
        }
    }
}

impl From<BuildError> for StartError {
    /// The builder's errors name its methods; here they are translated to flags.
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::MissingKey | BuildError::NoKeyInEnvironment => {
                Self::MissingKey(ProviderArg::Anthropic)
            }
            BuildError::Directory {
                place: "add_dir",
                path,
                reason,
            } => Self::File {
                what: "--add-dir",
                path,
                reason,
            },
            BuildError::Directory { path, reason, .. } => Self::File {
                what: "the working directory",
                path,
                reason,
            },
            BuildError::PriceFile { path, reason } => Self::File {
                what: "--prices",
                path,
                reason,
            },
            BuildError::PriceFileForm { path, error } => Self::File {
                what: "--prices",
                path,
                reason: error.to_string(),
            },
            other => Self::Build(other),
        }
    }
}

/// The variables that can hold a key, for an error message.
pub(crate) fn key_variables(provider: ProviderArg) -> &'static str {
    match provider {
        ProviderArg::Anthropic => "ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN for a bearer token)",
        ProviderArg::Openai => "OPENAI_API_KEY",
    }
}
