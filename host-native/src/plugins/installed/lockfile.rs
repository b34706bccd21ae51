//! `installed.json`: which plugins are installed, from where, with which content, and what they declare.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use windlass_core::RawJson;
use windlass_engine::plugin;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The installed plugins, by name. It is read strictly: a person is told of what is not understood, and nothing of it holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lockfile {
    version: u32,
    /// The plugins.
    pub plugins: BTreeMap<String, InstalledPlugin>,
}

/// A plugin that is installed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledPlugin {
    /// The version that it names.
    pub version: String,
    /// Where it was taken from, and an update is looked for: an absolute path, an address `https://…` or `oci://…`.
    pub source: String,
    /// The digest of the component's file, or of the folder: `sha256:` and hexadecimal digits.
    pub digest: String,
    /// The public key by which its signature was checked. An update must be signed by the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether it is a folder.
    #[serde(default)]
    pub folder: bool,
    /// Whether a person agreed to its hooks and servers, which run with the rights of the user.
    #[serde(default)]
    pub runs_programs: bool,
    /// What it asks for, a line for each thing, so that another version can be compared with it.
    pub asks: Vec<String>,
    /// What of it runs with the rights of the user where a person agreed, a line for each hook and server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Its components.
    pub components: Vec<LockedComponent>,
}

/// A component of an installed plugin.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedComponent {
    /// Its path in the plugin's folder; empty where the plugin is this component.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The digest of its file.
    pub digest: String,
    /// Its declaration, as it stands in the component.
    pub declaration: RawJson,
}

impl Default for Lockfile {
    fn default() -> Self {
        Self {
            version: VERSION,
            plugins: BTreeMap::new(),
        }
    }
}

impl Lockfile {
    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let lockfile: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        check_version(lockfile.version)?;
        for (name, plugin) in &lockfile.plugins {
            let components = plugin.components.iter();
            let components = components.map(|it| (it.file.as_str(), it.digest.as_str()));
            check(name, plugin.folder, &plugin.digest, components)?;
        }
        Ok(lockfile)
    }
}

impl InstalledPlugin {
    /// All that a person is asked for: what its components ask for, and what it runs.
    #[must_use]
    pub fn wishes(&self) -> Vec<String> {
        self.asks.iter().chain(&self.programs).cloned().collect()
    }
}

/// Checks the version of a lock file.
pub(super) fn check_version(version: u32) -> Result<(), String> {
    match version {
        VERSION => Ok(()),
        _ => Err(format!(
            "version {version} is not known here, only {VERSION}"
        )),
    }
}

/// Checks what of a plugin becomes part of a path: its name, its digest, and file and digest of each component.
pub(super) fn check<'a>(
    name: &str,
    is_folder: bool,
    digest: &str,
    components: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), String> {
    let fault = |fault: String| Err(format!("`{name}`: {fault}"));
    if !plugin::is_name(name) {
        return fault("it is no name of a plugin".to_owned());
    }
    if hex_of(digest).is_none() {
        return fault(format!("`{digest}` is no digest"));
    }
    for (file, digest) in components {
        if hex_of(digest).is_none() {
            return fault(format!("`{digest}` is no digest"));
        }
        let is_plain = match is_folder {
            true => is_below(file),
            false => file.is_empty(),
        };
        if !is_plain {
            return fault(format!("`{file}` is no file of it"));
        }
    }
    Ok(())
}

/// The hexadecimal digits of a digest.
pub(super) fn hex_of(digest: &str) -> Option<&str> {
    let digits = digest.strip_prefix("sha256:")?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digits.len() == 64 && digits.bytes().all(is_hex)).then_some(digits)
}

/// Whether a path leads to something below the folder that it starts from, on every system.
pub(super) fn is_below(path: &str) -> bool {
    let is_name =
        |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['\\', ':', '\0']);
    path.split('/').all(is_name) && Path::new(path).is_relative()
}
