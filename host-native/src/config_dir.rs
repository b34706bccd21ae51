//! The user's configuration directory, and the names of working directories in it.

use std::{
    fs::DirBuilder,
    io,
    path::{Path, PathBuf},
};

use icu_normalizer::ComposingNormalizerBorrowed;
use windlass_core::{SessionId, permission::Destination};
use windlass_engine::project_key::key_of;

/// The user's configuration directory: settings, agents, commands, transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigDir {
    root: PathBuf,
    /// Whether `CLAUDE_CONFIG_DIR` names it.
    is_named: bool,
}

/// The configuration directory cannot be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no home directory, so nothing says where the user's settings and sessions are: set HOME, or CLAUDE_CONFIG_DIR to a directory for them"
)]
pub struct NoConfigDir;

impl ConfigDir {
    /// The directory that `CLAUDE_CONFIG_DIR` names, else `.claude` in the home directory. An empty variable counts
    /// as unset. There is no other fallback: the working directory belongs to the project, and nothing of a project
    /// may count as the user's.
    ///
    /// # Errors
    /// [`NoConfigDir`] if neither is set.
    pub fn find(config_dir: Option<&str>, home: Option<&Path>) -> Result<Self, NoConfigDir> {
        match (config_dir.filter(|dir| !dir.is_empty()), home) {
            (Some(dir), _) => Ok(Self {
                root: composed(dir).into(),
                is_named: true,
            }),
            (None, Some(home)) => Ok(Self::at(home.join(".claude"))),
            (None, None) => Err(NoConfigDir),
        }
    }

    /// Uses this directory. It need not exist: it is created when something is written.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            is_named: false,
        }
    }

    /// Whether `CLAUDE_CONFIG_DIR` names it. The user's state file is inside it then, and else beside the default directory.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// The path of the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that contains one folder of sessions per project.
    #[must_use]
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The folder of the sessions that ran in a working directory.
    #[must_use]
    pub fn project(&self, cwd: &Path) -> PathBuf {
        self.projects().join(project_key(cwd))
    }

    /// The settings file of a destination, for a project in this folder; `None` for destinations that last only as
    /// long as the session.
    #[must_use]
    pub fn settings_file(&self, project: &Path, of: Destination) -> Option<PathBuf> {
        match of {
            Destination::UserSettings => Some(self.root.join("settings.json")),
            Destination::ProjectSettings => Some(project.join(".claude/settings.json")),
            Destination::LocalSettings => Some(project.join(".claude/settings.local.json")),
            Destination::Session | Destination::CliArg => None,
        }
    }

    /// The folder of the file backups of a session.
    #[must_use]
    pub fn file_history(&self, session: SessionId) -> PathBuf {
        self.root.join("file-history").join(session.to_string())
    }
}

/// The folder name for a working directory's sessions, made from its real path in NFC ([`key_of`]).
pub(crate) fn project_key(cwd: &Path) -> String {
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    key_of(&composed(&real.to_string_lossy()))
}

/// Normalizes to NFC, so that a path is the same on all systems.
fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .into_owned()
}

/// Creates a folder and its parents, accessible only to the owner.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conf_1_the_variable_names_the_directory_and_empty_is_none() {
        let found = |config_dir, home: Option<&str>| {
            ConfigDir::find(config_dir, home.map(Path::new)).map(|config| config.root)
        };
        let home = Some("/home/u");
        assert_eq!(found(None, home), Ok("/home/u/.claude".into()));
        assert_eq!(found(Some(""), home), Ok("/home/u/.claude".into()));
        assert_eq!(found(Some("/c"), home), Ok("/c".into()));
        assert_eq!(found(Some("/c"), None), Ok("/c".into()));
        // An e and a combining accent become one character.
        assert_eq!(found(Some("/cafe\u{301}"), home), Ok("/caf\u{e9}".into()));
        assert_eq!(found(Some(""), None), Err(NoConfigDir));
    }
}
