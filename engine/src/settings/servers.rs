//! MCP servers in the files in which the official program keeps them: a project's `.mcp.json`, and the user's state file.

use std::collections::BTreeMap;

use serde::Deserialize;
use windlass_core::{RawJson, json::RawObject};

use super::change::object;
use crate::path::TextPath;

/// The key under which servers are, in either file.
const SERVERS: &str = "mcpServers";

/// The servers that the user's state file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonalServers {
    /// For every folder.
    pub user: BTreeMap<String, RawJson>,
    /// For one folder, and this user only.
    pub local: BTreeMap<String, RawJson>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Person {
    mcp_servers: BTreeMap<String, RawJson>,
    projects: BTreeMap<String, RawJson>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Project {
    mcp_servers: BTreeMap<String, RawJson>,
}

impl PersonalServers {
    /// Reads them from the state file; those of a folder by its path.
    ///
    /// # Errors
    /// The reason why the file cannot be used.
    pub fn read(person: &str, folder: &TextPath) -> Result<Self, String> {
        let person: Person = serde_json::from_str(person).map_err(|error| error.to_string())?;
        let project = person.projects.get(folder.as_str());
        let project: Project = match project {
            Some(project) => project.decode().map_err(|error| error.to_string())?,
            None => Project::default(),
        };
        Ok(Self {
            user: person.mcp_servers,
            local: project.mcp_servers,
        })
    }
}

/// Sets a server in a file, or removes it. Everything else in the file is preserved. Returns whether it was there.
///
/// # Errors
/// The part of the file that cannot be parsed.
pub fn set_server(
    file: &mut RawObject,
    name: &str,
    config: Option<RawJson>,
) -> Result<bool, String> {
    let mut servers = under(file, SERVERS)?;
    let was_there = servers.get(name).is_some();
    match config {
        Some(config) => servers.set(name, config),
        None if !was_there => return Ok(false),
        None => servers.remove(name),
    }
    file.set(SERVERS, servers.to_raw());
    Ok(was_there)
}

/// The same for one folder, in the user's state file.
///
/// # Errors
/// The part of the file that cannot be parsed.
pub fn set_local_server(
    person: &mut RawObject,
    folder: &TextPath,
    name: &str,
    config: Option<RawJson>,
) -> Result<bool, String> {
    let mut projects = under(person, "projects")?;
    let mut project = under(&projects, folder.as_str())?;
    let is_removed = config.is_none();
    let was_there = set_server(&mut project, name, config)?;
    if was_there || !is_removed {
        projects.set(folder.as_str(), project.to_raw());
        person.set("projects", projects.to_raw());
    }
    Ok(was_there)
}

/// The object under a key; an empty one if there is none.
fn under(parent: &RawObject, key: &str) -> Result<RawObject, String> {
    match parent.get(key) {
        Some(value) => object(value.get()).map_err(|problem| format!("`{key}`: {problem}")),
        None => Ok(RawObject::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_1_servers_are_set_and_removed_and_nothing_else_changes() {
        let text =
            r#"{"x": 1.0, "projects": {"/y": {"z": []}}, "mcpServers": {"old": {"command": "a"}}}"#;
        let mut person = RawObject::parse(text).unwrap();
        let config = || Some(RawJson::parse(r#"{"type":"http","url":"https://x"}"#).unwrap());
        let folder = TextPath::from("/y");
        assert_eq!(set_server(&mut person, "new", config()), Ok(false));
        assert_eq!(set_server(&mut person, "new", config()), Ok(true));
        assert_eq!(
            set_local_server(&mut person, &folder, "mine", config()),
            Ok(false)
        );
        let read = PersonalServers::read(person.to_raw().get(), &folder).unwrap();
        assert_eq!(read.user.keys().collect::<Vec<_>>(), ["new", "old"]);
        assert_eq!(read.local.keys().collect::<Vec<_>>(), ["mine"]);
        assert!(
            PersonalServers::read(person.to_raw().get(), &"/other".into())
                .unwrap()
                .local
                .is_empty()
        );
        for name in ["new", "old"] {
            assert_eq!(set_server(&mut person, name, None), Ok(true));
        }
        assert_eq!(
            set_local_server(&mut person, &folder, "mine", None),
            Ok(true)
        );
        assert_eq!(
            set_local_server(&mut person, &folder, "mine", None),
            Ok(false)
        );
        let left = person.to_raw().get().to_owned();
        assert!(left.contains("1.0") && left.contains(r#""z":[]"#), "{left}");
        let mut wrong = RawObject::parse(r#"{"mcpServers": []}"#).unwrap();
        assert!(
            set_server(&mut wrong, "a", config())
                .unwrap_err()
                .contains("`mcpServers`")
        );
        assert!(PersonalServers::read("{", &folder).is_err());
    }
}
