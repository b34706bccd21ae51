//! Whether a person has trusted a folder, according to the file that records it.

use std::path::Path;

use windlass_engine::settings;

use super::{
    WriteError,
    person_file::{change, person_file, read_person},
};
use crate::{config_dir::ConfigDir, text_path::lossy};

/// Whether a person has trusted a folder or one of its parents. An unreadable file means no trust.
#[must_use]
pub fn is_trusted(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> bool {
    let text = read_person(config, home);
    text.is_ok_and(|text| settings::is_trusted(&text, &lossy(folder)))
}

/// Records that a person has trusted a folder. The rest of the file is preserved.
///
/// # Errors
/// [`WriteError`]: the file is unchanged.
pub fn trust(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> Result<(), WriteError> {
    change(&person_file(config, home), |person| {
        settings::trust(person, &lossy(folder))
    })
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
        // If a variable names the very directory, the file is inside it.
        let named = home.path().join(".claude").display().to_string();
        let named = ConfigDir::find(Some(&named), Some(home.path())).unwrap();
        assert!(!super::is_trusted(&named, Some(home.path()), &trusted));
        super::trust(&named, Some(home.path()), &other).unwrap();
        assert!(home.path().join(".claude/.claude.json").is_file());
        assert!(super::is_trusted(&named, Some(home.path()), &other));
        // A file that is not valid JSON is not changed.
        std::fs::write(&file, "{").unwrap();
        assert!(trust(&config, Some(home.path()), &other).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
    }
}
