//! Whether a person has trusted a folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use windlass_core::{RawJson, json::RawObject};

use super::write::{WriteError, edit, object};
use crate::config_dir::ConfigDir;

/// What a person has agreed to, as the official program notes it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Person {
    projects: BTreeMap<String, Project>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Project {
    has_trust_dialog_accepted: bool,
}

/// Whether a person has trusted a folder, or one in which it lies. Nothing that can be read is no trust.
#[must_use]
pub fn is_trusted(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(person_file(config, home)) else {
        return false;
    };
    let person: Person = serde_json::from_str(&text).unwrap_or_default();
    folder.ancestors().any(|folder| {
        let noted = person.projects.get(&folder.display().to_string());
        noted.is_some_and(|project| project.has_trust_dialog_accepted)
    })
}

/// Notes that a person has trusted a folder. What else is in the file stays as it is.
///
/// # Errors
/// [`WriteError`]: the file is as it was.
pub fn trust(config: &ConfigDir, home: Option<&Path>, folder: &Path) -> Result<(), WriteError> {
    let under = |parent: &RawObject, key: &str| match parent.get(key) {
        Some(value) => object(value.get()),
        None => Ok(RawObject::default()),
    };
    let folder = folder.display().to_string();
    edit(&person_file(config, home), |person| {
        let mut projects = under(person, "projects")?;
        let mut project = under(&projects, &folder)?;
        project.set(
            "hasTrustDialogAccepted",
            RawJson::encode(&true).map_err(|error| error.to_string())?,
        );
        projects.set(&folder, project.to_raw());
        person.set("projects", projects.to_raw());
        Ok(())
    })
}

/// It lies in the configuration directory, but beside the usual one.
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
        let config = ConfigDir::find(None, Some(home.path()));
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
        // A file that is no JSON is left alone.
        std::fs::write(&file, "{").unwrap();
        assert!(trust(&config, Some(home.path()), &other).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
    }
}
