//! Where the engine keeps what belongs to a user, and how a working directory is named there.

use std::path::{Path, PathBuf};

use icu_normalizer::ComposingNormalizerBorrowed;
use windlass_core::SessionId;

/// Characters of a directory's name that stay; a hash tells longer ones apart.
const LONGEST_KEY: usize = 200;

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

    /// The folder of the file backups of a session.
    #[must_use]
    pub fn file_history(&self, session: SessionId) -> PathBuf {
        self.root.join("file-history").join(session.to_string())
    }
}

/// The name under which a working directory's sessions are kept: its real path in NFC, everything but ASCII letters and
/// digits as `-`. Names over 200 characters are cut and end in a hash of the whole path.
///
/// Characters are counted as UTF-16 code units, as the official engine does.
#[must_use]
pub fn project_key(cwd: &Path) -> String {
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_path_buf());
    key_of(&composed(&real.to_string_lossy()))
}

/// NFC, so that a path typed on one system and read on another is the same.
fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(text)
        .into_owned()
}

fn key_of(path: &str) -> String {
    let key: String = path
        .encode_utf16()
        .map(|unit| match char::from_u32(u32::from(unit)) {
            Some(c) if c.is_ascii_alphanumeric() => c,
            _ => '-',
        })
        .collect();
    if key.len() <= LONGEST_KEY {
        return key;
    }
    let hash = path.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    format!("{}-{}", &key[..LONGEST_KEY], base_36(hash.unsigned_abs()))
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sess_1_a_working_directory_is_named_as_the_sdks_name_it() {
        assert_eq!(key_of("/workspace"), "-workspace");
        assert_eq!(key_of("/a b/c.d_e"), "-a-b-c-d-e");
        // A character outside the basic plane is two code units.
        assert_eq!(key_of("/é/😀"), "-----");
    }

    #[test]
    fn sess_1_long_names_end_in_a_hash() {
        let path = format!("/{}", "x".repeat(250));
        let key = key_of(&path);
        assert_eq!(key.len(), 200 + 1 + 6);
        assert_eq!(&key[..3], "-xx");
        assert_eq!(&key[200..], "-v734pd");
        assert_ne!(key, key_of(&format!("{path}y")));
        assert_eq!(key_of(&format!("/{}", "x".repeat(199))).len(), 200);
    }

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
