//! Hook events about memory files and the working directory.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Fields of `InstructionsLoaded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsLoaded {
    /// The path of the file.
    pub file_path: String,
    /// The scope of the file.
    pub memory_type: MemoryType,
    /// Why it was loaded.
    pub load_reason: LoadReason,
    /// The path patterns to which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub globs: Option<Vec<String>>,
    /// The file whose access caused it to be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_file_path: Option<String>,
    /// The file that includes this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_file_path: Option<String>,
}

/// The scope of a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryType {
    /// The user's.
    User,
    /// The project's.
    Project,
    /// The user's for the project.
    Local,
    /// The organisation's.
    Managed,
}

/// Why a memory file was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadReason {
    /// A session started.
    SessionStart,
    /// A file below its folder was accessed.
    NestedTraversal,
    /// A file matching its patterns was accessed.
    PathGlobMatch,
    /// Another memory file includes it.
    Include,
    /// The conversation was compacted.
    Compact,
}

impl LoadReason {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::NestedTraversal => "nested_traversal",
            Self::PathGlobMatch => "path_glob_match",
            Self::Include => "include",
            Self::Compact => "compact",
        }
    }
}

/// Fields of `CwdChanged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CwdChanged {
    /// The previous working directory.
    pub old_cwd: String,
    /// The new working directory.
    pub new_cwd: String,
}
