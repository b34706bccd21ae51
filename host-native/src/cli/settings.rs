//! What settings files say about permissions and about the sandbox. Of the rest of them a run at the command line takes nothing yet.

use std::path::{Path, PathBuf};

use windlass::{core::permission::Layer, sandbox::SandboxSettings};
use windlass_engine::{
    config_dir::ConfigDir,
    settings::{LoadedSettings, SettingSources, SettingsPlaces, is_trusted},
};

use super::{args::RunArgs, keys::variable, start::StartError};

/// Settings of all sources, and whether what the folder's own ones widen counts.
pub(crate) struct Settings {
    loaded: LoadedSettings,
    config: ConfigDir,
    is_trusted: bool,
}

impl Settings {
    /// Reads them.
    ///
    /// # Errors
    /// [`StartError`]: a source that does not exist, or a file that cannot be used.
    pub(crate) fn read(args: &RunArgs) -> Result<Self, StartError> {
        let sources = match &args.setting_sources {
            None => SettingSources::ALL,
            Some(names) => SettingSources::parse(names)
                .map_err(|error| StartError::Usage(format!("--setting-sources: {error}")))?,
        };
        let cwd = std::fs::canonicalize(".").map_err(|error| StartError::File {
            what: "the working directory",
            path: ".".into(),
            reason: error.to_string(),
        })?;
        let home = variable("HOME")
            .map(PathBuf::from)
            .or_else(|| etcetera::home_dir().ok());
        let config_dir = variable("CLAUDE_CONFIG_DIR");
        let config = ConfigDir::find(config_dir.as_deref(), home.as_deref());
        let is_trusted = args.trust || is_trusted(&config, home.as_deref(), &cwd);
        let places = SettingsPlaces {
            config: config.clone(),
            project: cwd,
            policy: None,
        };
        let loaded = places.load(sources, args.settings.as_deref(), None);
        Ok(Self {
            loaded: loaded.map_err(|error| StartError::Settings(error.to_string()))?,
            config,
            is_trusted,
        })
    }

    /// Who may do what.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        self.loaded.layers(self.is_trusted)
    }

    /// How commands are confined, with what the command line says of it.
    pub(crate) fn sandbox(&self, command_line: Option<&SandboxSettings>) -> SandboxSettings {
        self.loaded.sandbox(self.is_trusted, command_line)
    }

    /// Where the user's own settings lie.
    pub(crate) fn config_dir(&self) -> &Path {
        self.config.root()
    }
}
