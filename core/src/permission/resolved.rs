//! Paths that a host resolves before a call is judged.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::tool::Access;

/// A path to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvePath {
    /// As the model wrote it.
    pub path: String,
    /// What the call wants to do there.
    pub access: Access,
    /// It is copied, moved or removed with all that lies below it: the host says what of that becomes authority
    /// ([`ResolvedPath::brings`]).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub carried: bool,
    /// Of what is carried: patterns of files that deny rules close. The host says what they cover below it
    /// ([`ResolvedPath::holds`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
}

/// A resolved path: what rules judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedPath {
    /// Absolute, without `.` or `..`, links followed; for a file that does not exist its nearest
    /// existing parent is real.
    pub path: String,
    /// Of a folder that is carried elsewhere: a file in it from which programs or later sessions take orders
    /// ([`becomes_authority`](crate::permission::becomes_authority)), as its path below the folder. None where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brings: Option<String>,
    /// Of a folder that is carried elsewhere or removed: a file in it that one of [`ResolvePath::closed`] covers, as its path below
    /// the folder. None where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Something is there already. A host that does not say so leaves it to the tool to find out.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub exists: bool,
}

impl ResolvedPath {
    /// A path of which nothing else is known.
    pub fn at(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            brings: None,
            holds: None,
            exists: false,
        }
    }
}
