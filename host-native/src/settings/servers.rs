//! MCP servers in files: which there are, and changes of them.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use windlass_core::RawJson;
use windlass_engine::settings::{PersonalServers, set_local_server, set_server};

use super::{
    WriteError,
    person_file::{change, person_file, read_person},
};
use crate::{config_dir::ConfigDir, store::read_text, text_path::lossy};

/// The maximum size of a file of servers, in bytes.
pub(crate) const MAX_SERVERS_FILE: u64 = 4 << 20;

/// For whom a server is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerScope {
    /// For this user in one folder: in the user's state file.
    Local,
    /// For everybody who has the project: in its `.mcp.json`.
    Project,
    /// For this user in every folder: in the user's state file.
    User,
}

impl ServerScope {
    /// Every scope; of servers of the same name, the one of the first scope is used.
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    /// Its name in flags and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// The files in which the servers of a folder are.
#[derive(Debug, Clone)]
pub struct ServersOfFiles {
    config: ConfigDir,
    home: Option<PathBuf>,
    folder: PathBuf,
}

impl ServersOfFiles {
    /// The files for a folder, given by its absolute path.
    #[must_use]
    pub fn of(config: ConfigDir, home: Option<PathBuf>, folder: PathBuf) -> Self {
        Self {
            config,
            home,
            folder,
        }
    }

    /// The file of a scope.
    #[must_use]
    pub fn file(&self, scope: ServerScope) -> PathBuf {
        match scope {
            ServerScope::Project => self.folder.join(".mcp.json"),
            ServerScope::Local | ServerScope::User => {
                person_file(&self.config, self.home.as_deref())
            }
        }
    }

    /// The servers of a scope, by name.
    ///
    /// # Errors
    /// A message about why the file cannot be used.
    pub fn servers(&self, scope: ServerScope) -> Result<BTreeMap<String, RawJson>, String> {
        let personal = || read_personal_servers(&self.config, self.home.as_deref(), &self.folder);
        match scope {
            ServerScope::Project => read_project_servers(&self.file(scope)),
            ServerScope::Local => personal().map(|servers| servers.local),
            ServerScope::User => personal().map(|servers| servers.user),
        }
    }

    /// Sets a server, or removes it; the rest of the file is preserved. Returns whether it was there.
    ///
    /// # Errors
    /// [`WriteError`]: the file is unchanged.
    pub fn set(
        &self,
        scope: ServerScope,
        name: &str,
        config: Option<&RawJson>,
    ) -> Result<bool, WriteError> {
        let folder = lossy(&self.folder);
        change(&self.file(scope), |file| match scope {
            ServerScope::Local => set_local_server(file, &folder, name, config.cloned()),
            ServerScope::Project | ServerScope::User => set_server(file, name, config.cloned()),
        })
    }
}

/// The servers of the user's state file; none if there is no such file.
///
/// # Errors
/// A message about why the file cannot be used.
pub(crate) fn read_personal_servers(
    config: &ConfigDir,
    home: Option<&Path>,
    folder: &Path,
) -> Result<PersonalServers, String> {
    let wrong =
        |error: &dyn std::fmt::Display| format!("{}: {error}", person_file(config, home).display());
    match read_person(config, home) {
        Ok(text) if text.trim().is_empty() => Ok(PersonalServers::default()),
        Ok(text) => PersonalServers::read(&text, &lossy(folder)).map_err(|error| wrong(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(PersonalServers::default()),
        Err(error) => Err(wrong(&error)),
    }
}

/// The servers of a project's own file; empty if there is no such file.
///
/// # Errors
/// A message about why the file cannot be used.
pub(crate) fn read_project_servers(path: &Path) -> Result<BTreeMap<String, RawJson>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    match read_text(path, MAX_SERVERS_FILE) {
        Ok(json) => servers_of_text(&json).map_err(|error| wrong(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(wrong(&error)),
    }
}

/// The servers of a text: `{"mcpServers": {…}}`.
///
/// # Errors
/// The problem of the text.
pub(crate) fn servers_of_text(json: &str) -> Result<BTreeMap<String, RawJson>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct File {
        #[serde(default)]
        mcp_servers: BTreeMap<String, RawJson>,
    }
    serde_json::from_str(json).map(|file: File| file.mcp_servers)
}
