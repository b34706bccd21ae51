//! Paths that a host resolves before a call is judged.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::tool::Access;

/// A path to be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvePath {
    /// The path as the model wrote it.
    pub path: String,
    /// How the call accesses it.
    pub access: Access,
    /// Whether it is copied, moved or removed with everything below it. The host then reports a protected place in it
    /// ([`ResolvedPath::brings`]).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub carried: bool,
    /// For such a folder: patterns of files that deny rules exclude. The host reports a match below it ([`ResolvedPath::holds`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
}

/// A resolved path, to which rules are applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedPath {
    /// Absolute, without `.` or `..`, links followed. For a file that does not exist, its nearest existing parent is resolved.
    pub path: String,
    /// For a folder that is copied or moved: a protected place in it, from which programs or later sessions take instructions
    /// ([`is_protected_by_name`](crate::permission::is_protected_by_name)), as a path relative to the folder. None if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<String>,
    /// For a folder that is copied, moved or removed: a file in it that matches one of [`ResolvePath::closed`], as a path
    /// relative to the folder. None if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Whether the file exists. A host that does not set this leaves the check to the tool.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub exists: bool,
}

impl ResolvedPath {
    /// A resolved path without further information.
    pub fn at(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            brings: None,
            holds: None,
            exists: false,
        }
    }
}
