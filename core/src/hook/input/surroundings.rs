//! What hooks are told of where the work is done and what is read there.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Fields of `InstructionsLoaded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionsLoaded {
    /// The file.
    pub file_path: String,
    /// Whose instructions they are.
    pub memory_type: MemoryType,
    /// Why they were read.
    pub load_reason: LoadReason,
    /// The patterns under which they hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub globs: Option<Vec<String>>,
    /// The file that made them be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_file_path: Option<String>,
    /// The file that names this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_file_path: Option<String>,
}

/// Whose instructions they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryType {
    /// The person's.
    User,
    /// The project's.
    Project,
    /// The person's for the project.
    Local,
    /// The organisation's.
    Managed,
}

/// Why instructions were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadReason {
    /// The session begins.
    SessionStart,
    /// A file below their folder was looked at.
    NestedTraversal,
    /// A file that they hold for was looked at.
    PathGlobMatch,
    /// Others name them.
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
    /// Where the work was done until now.
    pub old_cwd: String,
    /// Where it goes on.
    pub new_cwd: String,
}
