//! What settings files say about permissions and about the sandbox. Of the rest of them a run at the command line takes nothing yet.

use std::path::PathBuf;

use windlass::{core::permission::Layer, sandbox::SandboxSettings};
use windlass_engine::{
    config_dir::ConfigDir,
    settings::{LoadedSettings, SettingSources, SettingsPlaces, is_trusted},
};

use super::{args::RunArgs, keys::variable, start::StartError};

/// Settings of all sources, and whether what the folder's own ones widen counts.
pub(crate) struct Settings {
    loaded: LoadedSettings,
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
            config,
            project: cwd,
            policy: None,
        };
        let loaded = places.load(sources, args.settings.as_deref(), None);
        Ok(Self {
            loaded: loaded.map_err(|error| StartError::Settings(error.to_string()))?,
            is_trusted,
        })
    }

    /// Who may do what.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        self.loaded.layers(self.is_trusted)
    }

    /// How commands are confined.
    pub(crate) fn sandbox(&self) -> SandboxSettings {
        self.loaded.sandbox(self.is_trusted)
    }
}
