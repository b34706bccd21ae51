//! Finds and reads settings files.

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

/// The locations of settings files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlaces {
    /// The user's configuration directory.
    pub config: ConfigDir,
    /// The project's folder: the one that contains `.claude`, or would.
    pub project: PathBuf,
    /// The organisation's settings file, if there can be one.
    pub policy: Option<PathBuf>,
}

/// The location of an organisation's settings for a machine, the same as in Claude Code. They take precedence over
/// all others and cannot be skipped by the user who starts a session, so no variable or flag changes the location.
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

/// A settings file is invalid. No settings of any file are used then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A file cannot be read.
    #[error("the settings file {} cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        error: io::Error,
    },
    /// The file does not exist, although it was named explicitly.
    #[error("Settings file not found: {}", .0.display())]
    Missing(PathBuf),
    /// The content is not valid settings.
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
    /// The settings file of a source.
    #[must_use]
    pub fn file(&self, destination: Destination) -> Option<PathBuf> {
        self.config.settings_file(&self.project, destination)
    }

    /// Reads the settings of the sources. `flag` is the value of `--settings`: JSON, or a path (relative to the
    /// project's folder). `managed` is the value of `--managed-settings`: JSON, over which only the organisation's
    /// file takes precedence.
    ///
    /// # Errors
    /// [`SettingsError`] for the first file that cannot be used. A source without a file is skipped.
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
