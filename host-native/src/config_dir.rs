//! Where the engine keeps what belongs to a user, and how a working directory is named there.

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
}

impl ConfigDir {
    /// What `CLAUDE_CONFIG_DIR` names, else `.claude` in the home directory; without one, in the working directory. An empty variable is
    /// none.
    #[must_use]
    pub fn find(config_dir: Option<&str>, home: Option<&Path>) -> Self {
        match config_dir.filter(|dir| !dir.is_empty()) {
            Some(dir) => Self::at(composed(dir)),
            None => Self::at(home.unwrap_or(Path::new(".")).join(".claude")),
        }
    }

    /// This directory. It need not exist: whoever writes creates it.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with a folder for each project's sessions.
    #[must_use]
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The folder of the sessions that ran in a working directory.
    #[must_use]
    pub fn project(&self, cwd: &Path) -> PathBuf {
        self.projects().join(project_key(cwd))
    }

    /// The settings file of a destination, for a project in this folder; none for what lasts no longer than a session.
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

/// The name under which a working directory's sessions are kept: that of its real path in NFC ([`key_of`]).
pub(crate) fn project_key(cwd: &Path) -> String {
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    key_of(&composed(&real.to_string_lossy()))
}

/// NFC, so that a path typed on one system and read on another is the same.
fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .into_owned()
}

/// A folder with all above it, for its owner's eyes only.
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
        let home = Path::new("/home/u");
        assert_eq!(
            ConfigDir::find(None, Some(home)).root(),
            Path::new("/home/u/.claude")
        );
        assert_eq!(
            ConfigDir::find(Some(""), Some(home)).root(),
            Path::new("/home/u/.claude")
        );
        assert_eq!(
            ConfigDir::find(Some("/c"), Some(home)).root(),
            Path::new("/c")
        );
        // An e and an accent become one character.
        let composed = ConfigDir::find(Some("/cafe\u{301}"), Some(home));
        assert_eq!(composed.root(), Path::new("/caf\u{e9}"));
    }
}
