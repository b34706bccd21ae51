//! Whether a person has trusted a folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

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

/// It lies in the configuration directory, but beside the usual one.
fn person_file(config: &ConfigDir, home: Option<&Path>) -> PathBuf {
    let beside = home.filter(|home| home.join(".claude") == config.root());
    beside.unwrap_or(config.root()).join(".claude.json")
}
