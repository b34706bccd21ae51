//! The files that a call may touch, and what it saw of them.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// The file authority of one call, computed by the core from rules and mode, enforced by the
/// host's resolver on every open and every listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FsGrant {
    /// The working directory: absolute, what relative paths start from.
    pub cwd: String,
    /// Directory trees (or single files) that may be reached.
    pub roots: Vec<GrantRoot>,
    /// What stays unreachable inside the roots: denied reads hide the entry altogether.
    pub deny: Vec<DenyPattern>,
}

/// One directory tree of a grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRoot {
    /// Absolute path, links resolved. The host opens exactly this: where a link stands on the way by then, it hands out nothing.
    pub path: String,
    /// What may be done below it.
    pub access: Access,
}

/// A pattern of paths that a deny rule closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenyPattern {
    /// A gitignore-style pattern over absolute paths: `*` within a segment, `**` across segments.
    pub pattern: String,
    /// `Read` closes reading, listing and writing; `Write` closes writing only.
    pub access: Access,
}

/// What a call saw of a file: how "edit only what was read" works with fresh instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Absolute path.
    pub path: String,
    /// Digest of the whole content at that moment, in the form `sha256:<hex>`.
    pub digest: String,
    /// Whether the model saw the whole file or a part.
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
