//! Settings files, found and read.

use std::{
    io,
    path::{Path, PathBuf},
};

use windlass_core::permission::{Destination, Source};
use windlass_engine::settings::{LoadedSettings, SettingSources, SourcedSettings};

use crate::{
    config_dir::ConfigDir,
    store::{MAX_BYTES, read_text},
    text_path::lossy,
};

/// Where the files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlaces {
    /// The user's configuration directory.
    pub config: ConfigDir,
    /// The project's folder: that in which `.claude` lies or would lie.
    pub project: PathBuf,
    /// The organisation's file, where there can be one.
    pub policy: Option<PathBuf>,
}

/// Where an organisation keeps the settings of a machine, as Claude Code has it. They are stronger than any other, and nobody who
/// starts a session leaves them out: so no variable or flag names another place.
#[must_use]
pub fn managed_settings_file() -> PathBuf {
    PathBuf::from(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode\managed-settings.json"
    } else {
        "/etc/claude-code/managed-settings.json"
    })
}

/// Settings that cannot be used. Nothing of any file is used then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A file cannot be read.
    #[error("the settings file {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        error: io::Error,
    },
    /// A file that was named does not exist.
    #[error("Settings file not found: {}", .0.display())]
    Missing(PathBuf),
    /// It is no settings.
    #[error(
        "{place}: {problem}; correct it or take it away, nothing of the settings is used as it is"
    )]
    Malformed {
        /// The file, or the option.
        place: String,
        /// What is wrong, with line and key.
        problem: String,
    },
}

impl SettingsPlaces {
    /// The file of a source.
    #[must_use]
    pub fn file(&self, destination: Destination) -> Option<PathBuf> {
        self.config.settings_file(&self.project, destination)
    }

    /// Reads what the sources say. `flag` is the value of `--settings`, JSON or a path (relative ones below the project's
    /// folder); `managed` that of `--managed-settings`, JSON, which only the organisation's file is stronger than.
    ///
    /// # Errors
    /// [`SettingsError`] for the first file that cannot be used. A source without a file says nothing.
    pub fn load(
        &self,
        sources: SettingSources,
        flag: Option<&str>,
        managed: Option<&str>,
    ) -> Result<LoadedSettings, SettingsError> {
        let mut found = Vec::new();
        if let Some(path) = &self.policy {
            found.extend(self.read(Source::PolicySettings, path)?);
        }
        if let Some(json) = managed {
            let source = Source::PolicySettings;
            found.push(parsed(source, None, "--managed-settings", json)?);
        }
        if let Some(flag) = flag.map(str::trim).filter(|flag| !flag.is_empty()) {
            found.push(self.flag(flag)?);
        }
        for (wanted, destination) in [
            (sources.local, Destination::LocalSettings),
            (sources.project, Destination::ProjectSettings),
            (sources.user, Destination::UserSettings),
        ] {
            if let Some(path) = self.file(destination).filter(|_| wanted) {
                found.extend(self.read(destination.source(), &path)?);
            }
        }
        let user = lossy(self.config.root());
        Ok(LoadedSettings::new(found, lossy(&self.project), user))
    }

    fn flag(&self, flag: &str) -> Result<SourcedSettings, SettingsError> {
        if flag.starts_with('{') {
            return parsed(Source::CliArg, None, "--settings", flag);
        }
        let path = self.project.join(flag);
        let read = self.read(Source::CliArg, &path)?;
        read.ok_or(SettingsError::Missing(path))
    }

    fn read(&self, source: Source, path: &Path) -> Result<Option<SourcedSettings>, SettingsError> {
        let text = match read_text(path, MAX_BYTES) {
            Ok(text) => text,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(SettingsError::Malformed {
                    place: path.display().to_string(),
                    problem: "it is not UTF-8 text".into(),
                });
            }
            Err(error) => {
                let path = path.to_path_buf();
                return Err(SettingsError::Unreadable { path, error });
            }
        };
        let place = path.display().to_string();
        parsed(source, Some(path), &place, &text).map(Some)
    }
}

fn parsed(
    source: Source,
    path: Option<&Path>,
    place: &str,
    text: &str,
) -> Result<SourcedSettings, SettingsError> {
    let read = SourcedSettings::parse(source, path.map(lossy), text);
    read.map_err(|fault| SettingsError::Malformed {
        place: place.to_owned(),
        problem: fault.to_string(),
    })
}
