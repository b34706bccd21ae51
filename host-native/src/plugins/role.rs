//! Directories by role: what a plugin needs a directory for, and the directory that somebody chose for it.

use std::{collections::BTreeSet, fs, io, path::Path};

use serde::{Deserialize, Serialize};
use windlass_core::tool::Access;

use super::asked::AskedFault;

/// The most roles of a plugin.
pub(super) const MOST_ROLES: usize = 16;

/// The longest name of a role.
pub(super) const LONGEST_ROLE: usize = 64;

/// The most characters of a description.
pub(super) const LONGEST_DESCRIPTION: usize = 200;

/// With what the names begin by which `windlass:host/config` tells the directories of roles. No variable can be declared that is
/// called so.
pub(super) const ROLE_SETTING: &str = "directory:";

/// A directory that a plugin asks for, by what it needs it for. Where it is says whoever grants it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredDirectory {
    /// By which the plugin and the grant know it: 1 to 64 letters, digits, `_` and `-`.
    pub role: String,
    /// The most that the plugin does there.
    pub access: Access,
    /// What is expected there, for whoever grants it: up to 200 characters on one line.
    pub description: String,
}

/// The directory that a role was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleDirectory {
    /// Its absolute path.
    pub path: String,
    /// The access that is granted below it: at most what the plugin declares.
    pub access: Access,
}

impl RoleDirectory {
    /// The same directory by its real path, as calls are judged by real paths. One without an absolute path stays as it is: it is
    /// refused when it is granted.
    ///
    /// # Errors
    /// It is not there, is no directory, or has a name that is no text.
    pub fn real(&self) -> io::Result<Self> {
        if !self.has_full_path() {
            return Ok(self.clone());
        }
        let real = fs::canonicalize(&self.path)?;
        if !real.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let path = real.into_os_string().into_string();
        let path = path.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
        Ok(Self { path, ..*self })
    }

    /// Whether the path says where the directory is wherever the program runs: absolute, and without `..`.
    pub(super) fn has_full_path(&self) -> bool {
        let path = Path::new(&self.path);
        path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..")
    }

    /// Whether a path is that of the directory, or of something below it.
    pub(super) fn contains(&self, path: &str) -> bool {
        Path::new(path).starts_with(&self.path)
    }
}

/// Checks the roles that a plugin declares.
pub(super) fn check(directories: &[DeclaredDirectory]) -> Result<(), AskedFault> {
    if directories.len() > MOST_ROLES {
        return Err(AskedFault::TooManyRoles(directories.len()));
    }
    let mut known = BTreeSet::new();
    for DeclaredDirectory {
        role, description, ..
    } in directories
    {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !(1..=LONGEST_ROLE).contains(&role.len()) || !role.chars().all(letters) {
            return Err(AskedFault::Role(role.clone()));
        }
        if !known.insert(role) {
            return Err(AskedFault::RepeatedRole(role.clone()));
        }
        let is_plain = !description.chars().any(acts);
        let length = description.chars().count();
        if !is_plain || description.trim().is_empty() || length > LONGEST_DESCRIPTION {
            return Err(AskedFault::RoleDescription(role.clone()));
        }
    }
    Ok(())
}

/// Whether a character is more than shown: it moves a cursor, ends a line, or turns the direction of what follows.
fn acts(c: char) -> bool {
    let turns = matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}
