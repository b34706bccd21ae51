//! Which settings files an agent reads, and the type of the variables that they set.

use std::{collections::BTreeMap, path::PathBuf};

use windlass_engine::settings::SettingSource;

use crate::store::{ConfigDir, NoConfigDir};

/// Which settings files are read, and whether they are trusted.
#[derive(Debug, Default)]
pub(super) struct ReadSettings {
    pub(super) sources: Vec<SettingSource>,
    pub(super) trusts_project: bool,
    /// The user's configuration folder, if it is not the default one.
    pub(super) config: Option<PathBuf>,
    /// The organisation's settings file, if it is not the default one.
    pub(super) managed: Option<PathBuf>,
}

impl ReadSettings {
    /// The user's configuration folder.
    pub(super) fn folder(&self) -> Result<ConfigDir, NoConfigDir> {
        let named = std::env::var("CLAUDE_CONFIG_DIR").ok();
        match &self.config {
            Some(folder) => Ok(ConfigDir::at(folder)),
            None => ConfigDir::find(named.as_deref(), etcetera::home_dir().ok().as_deref()),
        }
    }
}

/// Environment variables from settings, for the processes that are started.
pub(super) type Variables = BTreeMap<String, String>;
