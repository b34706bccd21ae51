//! Whether a person has trusted a folder, according to the file that records it.

use std::path::{Path, PathBuf};

use windlass_engine::{settings, store::digest};

use super::WriteError;
use crate::{
    config_dir::ConfigDir,
    regular::{self, Link},
    store::{Replaced, read_settings, replace_settings},
    text_path::lossy,
};

/// The maximum size of the file, in bytes: other programs store much in it.
const MOST_READ: u64 = 64 << 20;

/// Whether a person has trusted a folder or one of its parents. An unreadable file means no trust.
#[must_use]
pub fn is_trusted(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> bool {
    let text = regular::read_text(&person_file(config, home), Link::Followed, MOST_READ);
    text.is_ok_and(|text| settings::is_trusted(&text, &lossy(folder)))
}

/// Records that a person has trusted a folder. The rest of the file is preserved.
///
/// # Errors
/// [`WriteError`]: the file is unchanged.
pub fn trust(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> Result<(), WriteError> {
    let path = person_file(config, home);
    let failed = |error: std::io::Error| WriteError::Store {
        place: path.display().to_string(),
        reason: error.to_string(),
    };
    loop {
        let read = read_settings(&path).map_err(failed)?;
        let text = read.as_deref().unwrap_or_default();
        let content = settings::changed(text, |person| settings::trust(person, &lossy(folder)));
        let content = content.map_err(|problem| WriteError::Malformed {
            place: path.display().to_string(),
            problem,
        })?;
        let read = read.as_deref().map(|text| digest(text.as_bytes()));
        let replaced = replace_settings(&path, read.as_deref(), content.as_bytes());
        // Retried if another process has changed the file since.
        if replaced.map_err(failed)? == Replaced::Yes {
            return Ok(());
        }
    }
}

/// The path of that file: inside the configuration directory, or beside it if it is the default one.
fn person_file(config: &ConfigDir, home: Option<&Path>) -> PathBuf {
    let beside = home.filter(|home| home.join(".claude") == config.root());
    beside.unwrap_or(config.root()).join(".claude.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_trusted_once_somebody_said_so() {
        let home = tempfile::tempdir().unwrap();
        let config = ConfigDir::at(home.path().join(".claude"));
        let (trusted, other) = (home.path().join("a/b"), home.path().join("c"));
        let is_trusted = |folder: &Path| is_trusted(&config, Some(home.path()), folder);
        assert!(!is_trusted(&trusted));
        let file = home.path().join(".claude.json");
        std::fs::write(&file, r#"{"x": 1.0, "projects": {"/y": {"z": []}}}"#).unwrap();
        trust(&config, Some(home.path()), &trusted).unwrap();
        assert!(is_trusted(&trusted) && is_trusted(&trusted.join("below")));
        assert!(!is_trusted(&other) && !is_trusted(home.path()));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("1.0") && text.contains("\"z\": []"), "{text}");
        // A file that is not valid JSON is not changed.
        std::fs::write(&file, "{").unwrap();
        assert!(trust(&config, Some(home.path()), &other).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
    }
}
