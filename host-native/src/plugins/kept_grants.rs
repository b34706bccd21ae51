//! What a person granted to components for good: a file of the user, in which a component is known by the digest of its file. A
//! component that changes is another one, and has none of it.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{grant::ComponentGrant, user_folder::plugins_of_user};
use crate::{
    os,
    regular::{self, Link},
};

/// Bytes of the largest file that is read.
const LARGEST: u64 = 4 << 20;

/// Where the grants of a user are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantFile {
    path: PathBuf,
}

/// The grants of a file, by the digests of components (`sha256:` and hexadecimal digits).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGrants {
    version: Version,
    /// The components.
    pub components: BTreeMap<String, KeptGrant>,
}

/// The grant of one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptGrant {
    /// The name that it declares.
    pub name: String,
    /// The version that it declares.
    pub version: String,
    /// What it asked for when it was granted something, a line for each, so that another version can be compared with it.
    pub asks: Vec<String>,
    /// What it is granted.
    pub grant: ComponentGrant,
}

/// The version of the file's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
struct Version;

impl Default for Version {
    fn default() -> Self {
        Self
    }
}

impl TryFrom<u32> for Version {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        match version {
            1 => Ok(Self),
            other => Err(format!("version {other} is not known here, only 1")),
        }
    }
}

impl From<Version> for u32 {
    fn from(_: Version) -> Self {
        1
    }
}

/// The grants cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum GrantFileError {
    /// What the system says.
    #[error("the grants of plugins in {}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not of that form. Nothing of it holds.
    #[error("the grants of plugins in {} cannot be read: {reason}. Mend the file, or remove it and grant again", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl GrantFile {
    /// That of the user: `windlass/plugins/grants.json` in the configuration directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        plugins_of_user().map(|folder| Self::at(folder.join("grants.json")))
    }

    /// Another one.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The grants; none if there is no file.
    ///
    /// # Errors
    /// [`GrantFileError`]: there is one, and nothing of it can be relied on.
    pub fn read(&self) -> Result<KeptGrants, GrantFileError> {
        let bytes = match regular::read(&self.path, Link::Refused, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(KeptGrants::default());
            }
            Err(error) => return Err(self.io(error)),
        };
        serde_json::from_slice(&bytes).map_err(|error| GrantFileError::Form {
            path: self.path.clone(),
            reason: error.to_string(),
        })
    }

    /// Replaces the grants.
    ///
    /// # Errors
    /// [`GrantFileError::Io`]; the file is as it was then.
    pub fn write(&self, grants: &KeptGrants) -> Result<(), GrantFileError> {
        let mut text =
            serde_json::to_string_pretty(grants).map_err(|error| self.io(error.into()))?;
        text.push('\n');
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            os::create_private_directory(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(io::Error::from)
        };
        write().map_err(|error| self.io(error))
    }

    fn io(&self, error: io::Error) -> GrantFileError {
        GrantFileError::Io {
            path: self.path.clone(),
            error,
        }
    }
}

impl KeptGrants {
    /// The component of this name that was granted something, if it is another one than that with the digest: an older version, or
    /// somebody else's.
    #[must_use]
    pub fn other_of_name(&self, name: &str, digest: &str) -> Option<&KeptGrant> {
        let mut others = self.components.iter().filter(|(known, _)| *known != digest);
        others
            .find(|(_, kept)| kept.name == name)
            .map(|(_, kept)| kept)
    }
}
