//! Which part of a command was approved, and the shell state that commands leave for later ones.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Access, DenyPattern};

/// The shell state that a command leaves for later commands. The host that runs the commands creates and reads it; the session
/// stores it. No shell process has to stay alive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellState {
    /// The working directory of the next command: absolute, links resolved. Commands are judged relative to it. A directory
    /// outside the workspace is not kept.
    pub directory: String,
    /// Variables that differ from the host's environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<ShellVariable>,
    /// Changes that confined commands made to the variables. Only confined commands see them: any program started by a confined
    /// command may have made them up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confined_variables: Vec<ShellVariable>,
    /// Functions, aliases, options and arrays, in shell syntax. Only read by commands that run [as they were
    /// written](ApprovedCommand::AsWritten).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definitions: String,
}

/// A variable of a [`ShellState`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellVariable {
    /// Its name.
    pub name: String,
    /// Its value; none if it was removed from the environment.
    pub value: Option<String>,
    /// Whether it is exported to programs.
    pub exported: bool,
}

/// Which part of a command was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedCommand {
    /// Its whole text: by a person, a callback or a hook, by a rule for the tool or for exactly this line, or by the mode that
    /// bypasses permissions. It runs exactly as written in the input.
    AsWritten,
    /// The commands parsed from it, each one separately. These run instead of the text.
    Plan(CommandPlan),
}

/// What runs instead of a command line whose commands were judged one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPlan {
    /// The commands.
    pub script: windlass_shell::Script,
    /// Their working directory: absolute.
    pub directory: String,
    /// The directories that belong to the workspace: absolute, links resolved. A `cd` that was not judged separately must stay
    /// inside them, and so must the files that the plain file commands find by a pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspace: Vec<String>,
    /// The files that were judged along with the commands: redirections, targets of `cd`, operands of the plain file commands. A
    /// file that is opened for writing must be among these, and must still resolve to the same path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PlannedFile>,
    /// Those of the files, as written, that are named by a plain file command which no rule allows, only the mode that accepts
    /// edits. Such a command may change these and nothing else.
    #[serde(default, rename = "held", skip_serializing_if = "Vec::is_empty")]
    pub mode_allowed_files: Vec<String>,
    /// No rule allows any plain file command of the plan: one that names another file is not started.
    #[serde(
        default,
        rename = "all_held",
        skip_serializing_if = "core::ops::Not::not"
    )]
    pub only_mode_allows: bool,
    /// The patterns of deny rules. The expansion of words, and the paths they resolve to, are known only when the plan runs. A
    /// program whose words then name such a file is not started ([`refused_file`](crate::permission::refused_file)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<DenyPattern>,
    /// The program's own directories, which are protected like other places that programs take instructions from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_directories: Vec<String>,
    /// The program's own files and folders that no program of the plan may name, not even for reading.
    #[serde(
        default,
        rename = "closed_places",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub private_paths: Vec<String>,
}

/// A file that a command names, as it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// The absolute path: the directory joined with what the command says, not normalised.
    pub written: String,
    /// What that resolved to when it was judged: absolute, without links.
    pub real: String,
    /// How the command uses it.
    pub access: Access,
}
