//! The files that a call may access, and what it observed of them.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// The files that one call may access. The core computes the grant from rules and mode; the host's resolver enforces it on every
/// open and every listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FsGrant {
    /// The working directory, from which relative paths start: absolute.
    pub cwd: String,
    /// The directory trees (or single files) that may be accessed.
    pub roots: Vec<GrantRoot>,
    /// The paths that stay inaccessible inside the roots. Entries that may not be read are hidden altogether.
    pub deny: Vec<DenyPattern>,
}

/// One directory tree of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRoot {
    /// Absolute path, links resolved. The host opens exactly this path. If part of it has since become a link, access fails.
    pub path: String,
    /// The access that is granted below it.
    pub access: Access,
}

/// A pattern of paths that a deny rule excludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenyPattern {
    /// A gitignore-style pattern over absolute paths: `*` within a segment, `**` across segments.
    pub pattern: String,
    /// `Read` denies reading, listing and writing; `Write` denies only writing.
    pub access: Access,
}

/// What a call observed of a file. It enforces "edit only what was read" although each call runs in a fresh instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Absolute path.
    pub path: String,
    /// Digest of the whole content at that time, in the form `sha256:<hex>`.
    pub digest: String,
    /// Whether the model saw the whole file or only a part.
    pub whole: bool,
}

/// Reading, or reading and writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reading and listing.
    Read,
    /// Reading, creating, changing and removing.
    Write,
}

/// The directories that a plugin was granted: the most that its tools can reach. Rules and the declaration of the plugin narrow
/// it; nothing in a session widens it.
///
/// ```
/// use windlass_core::tool::{Access, PluginGrant};
/// let grant = PluginGrant::workspace(Access::Read).directory("/data", Access::Write);
/// assert_eq!(grant.roots().len(), 2);
/// assert!(PluginGrant::default().roots().is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PluginGrant(Vec<GrantRoot>);

impl PluginGrant {
    /// A grant of the workspace: the working directory of the session and its additional directories.
    #[must_use]
    pub fn workspace(access: Access) -> Self {
        Self::default().directory(WORKSPACE, access)
    }

    /// Adds a directory, by its absolute path with links resolved.
    #[must_use]
    pub fn directory(mut self, path: impl Into<String>, access: Access) -> Self {
        self.0.push(GrantRoot {
            path: path.into(),
            access,
        });
        self
    }

    /// The directories; the path of the workspace is empty.
    #[must_use]
    pub fn roots(&self) -> &[GrantRoot] {
        &self.0
    }

    /// The directories, to be changed.
    pub fn roots_mut(&mut self) -> &mut [GrantRoot] {
        &mut self.0
    }

    /// What of it a plugin gets that declares to need at most this access; nothing if it declares no files.
    #[must_use]
    pub fn within(mut self, declared: Option<Access>) -> Self {
        let Some(most) = declared else {
            return Self::default();
        };
        for root in &mut self.0 {
            root.access = root.access.min(most);
        }
        self
    }
}

/// Stands for the directories of the workspace in a grant.
const WORKSPACE: &str = "";
