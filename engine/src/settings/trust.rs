//! Whether a user has trusted a folder.

use std::collections::BTreeMap;

use serde::Deserialize;
use windlass_core::{RawJson, json::RawObject};

use super::change::object;
use crate::path::TextPath;

/// The state file of the user, as written by the official program.
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

/// Whether the user's state file lists a folder, or one that contains it, as trusted. An unreadable file means no trust.
#[must_use]
pub fn is_trusted(person: &str, folder: &TextPath) -> bool {
    let person: Person = serde_json::from_str(person).unwrap_or_default();
    folder.ancestors().any(|folder| {
        let noted = person.projects.get(folder.as_str());
        noted.is_some_and(|project| project.has_trust_dialog_accepted)
    })
}

/// Records in the user's state file that a folder is trusted. Everything else in the file is preserved.
///
/// # Errors
/// The part of the file that cannot be parsed.
pub fn trust(person: &mut RawObject, folder: &TextPath) -> Result<(), String> {
    let under = |parent: &RawObject, key: &str| match parent.get(key) {
        Some(value) => object(value.get()),
        None => Ok(RawObject::default()),
    };
    let mut projects = under(person, "projects")?;
    let mut project = under(&projects, folder.as_str())?;
    project.set(
        "hasTrustDialogAccepted",
        RawJson::encode(&true).map_err(|error| error.to_string())?,
    );
    projects.set(folder.as_str(), project.to_raw());
    person.set("projects", projects.to_raw());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_trusted_folder_is_trusted() {
        let mut person = RawObject::parse(r#"{"x": 1.0, "projects": {"/y": {"z": []}}}"#).unwrap();
        let is_trusted =
            |person: &RawObject, folder: &str| is_trusted(person.to_raw().get(), &folder.into());
        assert!(!is_trusted(&person, "/a/b"));
        trust(&mut person, &"/a/b".into()).unwrap();
        assert!(is_trusted(&person, "/a/b") && is_trusted(&person, "/a/b/c"));
        assert!(!is_trusted(&person, "/a") && !is_trusted(&person, "/a/bc"));
        let text = person.to_raw();
        assert!(
            text.get().contains("1.0") && text.get().contains(r#""z": []"#),
            "{}",
            text.get()
        );
        assert!(
            trust(
                &mut RawObject::parse(r#"{"projects": []}"#).unwrap(),
                &"/a".into()
            )
            .is_err()
        );
    }
}
