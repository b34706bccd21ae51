//! What a person granted to components for good: a file of the user, in which a component is known by the digest of its file. A
//! component that changes is another one, and has none of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::OpenOptions,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    grant::ComponentGrant, inspect::Inspection, left::LeftState, user_folder::plugins_of_user,
};
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
    /// What components remembered for good that have no grant any more, by its ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) left: BTreeMap<String, LeftState>,
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
    /// What else another version can be compared with ([`Declaration::details`](super::Declaration::details)); none if an older
    /// version of windlass granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Vec<String>>,
    /// What it is granted.
    pub grant: ComponentGrant,
}

impl KeptGrant {
    /// The grant of this component. Its secrets may be sent where they might before, or, if nothing says where that is, where it
    /// declares.
    #[must_use]
    pub fn of(component: &Inspection, grant: ComponentGrant) -> Self {
        let declaration = &component.declaration;
        Self {
            name: declaration.name.clone(),
            version: declaration.version.clone(),
            asks: component.asks(),
            details: Some(declaration.details()),
            grant: grant.with_audiences_of(&declaration.grants),
        }
    }
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
    /// Others may have written it, or can read it.
    #[error("the grants of plugins in {} are not used: the file belongs to another user, or others can read or change it. See that what it grants is what you granted, then make it yours alone (`chmod 600`), or remove it and grant again", .path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// It is not of that form. Nothing of it holds.
    #[error("the grants of plugins in {} cannot be read: {reason}. Mend the file, or remove it and grant again", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody could read it any more.
    #[error("the grants of plugins in {} would have {bytes} bytes, more than the {LARGEST} that are read, so nothing was changed: take back what is not used any more (`windlass plugin list` and `revoke`), or leave out the plugin that asks for so much", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bytes that it would have.
        bytes: usize,
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

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The grants; none if there is no file.
    ///
    /// # Errors
    /// [`GrantFileError`]: there is one, and nothing of it can be relied on. It may have been made by somebody else where it is no
    /// regular file, belongs to another user, or can be read or changed by others.
    pub fn read(&self) -> Result<KeptGrants, GrantFileError> {
        let file = match regular::open(&self.path, Link::Refused) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(KeptGrants::default());
            }
            Err(error) => return Err(self.io(error)),
        };
        let found = file.metadata().map_err(|error| self.io(error))?;
        if !os::is_secret(&found) {
            return Err(GrantFileError::NotPrivate {
                path: self.path.clone(),
            });
        }
        let bytes = regular::read_opened(file, LARGEST).map_err(|error| self.io(error))?;
        serde_json::from_slice(&bytes).map_err(|error| GrantFileError::Form {
            path: self.path.clone(),
            reason: error.to_string(),
        })
    }

    /// Changes the grants as they are when nobody else changes them.
    ///
    /// # Errors
    /// [`GrantFileError`]; the file is as it was then.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut KeptGrants) -> T,
    ) -> Result<T, GrantFileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let lock = || {
            os::create_private_directory(folder)?;
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            let lock = self.path.with_extension("lock");
            let lock = regular::open_with(&lock, Link::Refused, &mut options)?;
            lock.lock().map(|()| lock)
        };
        // Given back when it is closed, however this ends.
        let _lock = lock().map_err(|error| self.io(error))?;
        let (grants, changed) = self.changed(change)?;
        self.write(&grants)?;
        Ok(changed)
    }

    /// Checks that this change could be kept, and keeps nothing of it.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub fn check<T>(&self, change: impl FnOnce(&mut KeptGrants) -> T) -> Result<T, GrantFileError> {
        let (grants, changed) = self.changed(change)?;
        self.text(&grants).map(|_| changed)
    }

    /// The grants after a change, in which nothing is forgotten of what the grants before it led to.
    fn changed<T>(
        &self,
        change: impl FnOnce(&mut KeptGrants) -> T,
    ) -> Result<(KeptGrants, T), GrantFileError> {
        let before = self.read()?;
        let mut grants = before.clone();
        let changed = change(&mut grants);
        grants.note_left(&before);
        Ok((grants, changed))
    }

    /// Replaces the grants.
    ///
    /// # Errors
    /// [`GrantFileError::Io`], [`GrantFileError::TooLarge`]; the file is as it was then.
    fn write(&self, grants: &KeptGrants) -> Result<(), GrantFileError> {
        let text = self.text(grants)?;
        regular::replace_private(&self.path, text.as_bytes()).map_err(|error| self.io(error))
    }

    /// What the file would hold, if it could be read again.
    fn text(&self, grants: &KeptGrants) -> Result<String, GrantFileError> {
        let mut text =
            serde_json::to_string_pretty(grants).map_err(|error| self.io(error.into()))?;
        text.push('\n');
        match text.len() as u64 > LARGEST {
            false => Ok(text),
            true => Err(GrantFileError::TooLarge {
                path: self.path.clone(),
                bytes: text.len(),
            }),
        }
    }

    fn io(&self, error: io::Error) -> GrantFileError {
        GrantFileError::Io {
            path: self.path.clone(),
            error,
        }
    }
}

impl KeptGrants {
    /// What was granted to components of this name, with their digests.
    pub fn of_name(&self, name: &str) -> impl Iterator<Item = (&str, &KeptGrant)> {
        let all = self.components.iter();
        let of_name = all.filter(move |(_, kept)| kept.name == name);
        of_name.map(|(known, kept)| (known.as_str(), kept))
    }

    /// The component of this name that was granted something, if it is another one than that with the digest: an older version, or
    /// somebody else's.
    #[must_use]
    pub fn other_of_name(&self, name: &str, digest: &str) -> Option<&KeptGrant> {
        let mut others = self.of_name(name).filter(|(known, _)| *known != digest);
        others.next().map(|(_, kept)| kept)
    }

    /// Notes the ids that grants had before, and none has now.
    pub(super) fn note_left(&mut self, before: &Self) {
        let held = state_ids(&self.components);
        for (digest, kept) in &before.components {
            match kept.grant.state_id.as_deref() {
                Some(id) if !held.contains(id) && !self.left.contains_key(id) => {
                    let left = LeftState {
                        name: kept.name.clone(),
                        digest: digest.to_owned(),
                        plugin: None,
                        is_kept: false,
                        directory: kept.grant.state_directory.clone(),
                    };
                    self.left.insert(id.to_owned(), left);
                }
                _ => {}
            }
        }
        self.left.retain(|id, _| !held.contains(id.as_str()));
    }
}

/// The ids of durable state that grants have.
pub(super) fn state_ids(grants: &BTreeMap<String, KeptGrant>) -> BTreeSet<&str> {
    let kept = grants.values();
    kept.filter_map(|kept| kept.grant.state_id.as_deref())
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn granted(name: &str) -> KeptGrant {
        KeptGrant {
            name: name.to_owned(),
            version: "1".to_owned(),
            asks: Vec::new(),
            details: None,
            grant: ComponentGrant::default(),
        }
    }

    #[test]
    fn card_5_grants_that_nobody_could_read_again_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = GrantFile::at(folder.path().join("grants.json"));
        let put = |asks: usize| {
            move |kept: &mut KeptGrants| {
                let mut granted = granted("notes");
                granted.asks = vec!["x".repeat(asks)];
                kept.components.insert("1".to_owned(), granted);
            }
        };
        file.change(put(9)).unwrap();
        let before = file.read().unwrap();
        let most = usize::try_from(LARGEST).unwrap();
        let is_too_large = |result: Result<(), GrantFileError>| {
            matches!(result, Err(GrantFileError::TooLarge { .. }))
        };
        assert!(is_too_large(file.check(put(most))));
        assert!(is_too_large(file.change(put(most))));
        assert_eq!(file.read().unwrap(), before);
    }

    #[test]
    fn changes_that_come_at_once_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = GrantFile::at(folder.path().join("own/grants.json"));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = &file;
                scope.spawn(move || {
                    let granted = granted(&format!("n{number}"));
                    let change = |kept: &mut KeptGrants| {
                        kept.grant(number.to_string(), granted, |_| true, false)
                    };
                    file.change(change).unwrap().unwrap();
                });
            }
        });
        assert_eq!(file.read().unwrap().components.len(), 8);
    }
}
