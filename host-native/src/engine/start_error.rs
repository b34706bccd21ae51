//! Why an engine does not start.

use windlass_engine::{machine::CompleteError, project_config::FlagsError};

use crate::{
    BuildError,
    plugin_dir::PluginDirError,
    plugins::{GrantFileError, StoreError},
    project_config::ProjectConfigError,
    sandbox::SandboxError,
    settings::SettingsError,
};

/// Why an engine cannot start. Nothing was written to its output; the message is for standard error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A file named by a flag cannot be used.
    #[error("--{flag} `{path}`: {reason}")]
    File {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// The value of a flag is invalid.
    #[error("--{flag}: {reason}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// The combination of flags is invalid.
    #[error(transparent)]
    Flags(#[from] FlagsError),
    /// A settings file cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The settings contain invalid rules; without them, more would be allowed than intended.
    #[error("the permissions of the settings cannot be used: {0}")]
    Permissions(String),
    /// The settings require a sandbox, and it is not available.
    #[error(
        "the settings require a sandbox (`sandbox.failIfUnavailable`), and commands cannot be confined here: {0}"
    )]
    NoSandbox(String),
    /// The sandbox settings are invalid; without them, commands could access more than intended.
    #[error("the settings of the sandbox cannot be used: {0}")]
    Sandbox(#[from] SandboxError),
    /// The folder's files have changed since a person agreed to them.
    #[error(
        "the files of this folder are not what you were asked about: they were changed since, and nothing was started. Start again to see what they do now"
    )]
    NotAsAgreed,
    /// Something that the project's files provide cannot be used.
    #[error(transparent)]
    Complete(#[from] CompleteError),
    /// The agent cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What components were granted cannot be read.
    #[error(transparent)]
    Grants(#[from] GrantFileError),
    /// The installed plugins cannot be read.
    #[error(transparent)]
    Installed(#[from] StoreError),
    /// A plugin cannot be loaded.
    #[error("{0}")]
    Plugin(String),
}

impl From<PluginDirError> for StartError {
    fn from(error: PluginDirError) -> Self {
        Self::Plugin(error.to_string())
    }
}

impl From<ProjectConfigError> for StartError {
    fn from(error: ProjectConfigError) -> Self {
        match error {
            ProjectConfigError::Settings(error) => error.into(),
            ProjectConfigError::Permissions(problem) => Self::Permissions(problem),
        }
    }
}
