//! What is approved of a command, and what it leaves to the commands after it.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{Access, DenyPattern};

/// What a command leaves to the commands after it. It is made and read by the host that runs them, and kept with the
/// session: no shell has to live on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellState {
    /// Where the next command begins: absolute, links resolved. Commands are judged from here. Outside of the workspace it is
    /// not kept.
    pub directory: String,
    /// Variables that are not what the host's environment says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<ShellVariable>,
    /// What confined commands changed of the variables. Only confined commands see it: what they leave may be made up by any program
    /// that they started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confined_variables: Vec<ShellVariable>,
    /// Functions, aliases, options and arrays, in the language of the shell. Read only by commands that run
    /// [as they were written](ApprovedCommand::AsWritten).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub definitions: String,
}

/// A variable of a [`ShellState`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellVariable {
    /// Its name.
    pub name: String,
    /// Its value; none if it was taken out of the environment.
    pub value: Option<String>,
    /// Whether programs get it.
    pub exported: bool,
}

/// What of a command was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedCommand {
    /// Its whole text: by a person, a callback or a hook, by a rule that is about the tool or this very line, by the mode that
    /// bypasses permissions. It runs as it is written in the input.
    AsWritten,
    /// The commands that were read in it, each by itself. They run, and the text does not.
    Plan(CommandPlan),
}

/// What runs in the place of a command line whose commands were judged one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPlan {
    /// The commands.
    pub script: windlass_shell::Script,
    /// Where they begin: absolute.
    pub directory: String,
    /// The directories that belong to the workspace: absolute, links resolved. A `cd` that was not judged by itself stays
    /// in them, and so do the files that the plain file commands find by a pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspace: Vec<String>,
    /// The files that were judged with them: redirections, where `cd` leads, operands of the plain file commands. A file that is opened
    /// for writing must be among these, and lead where it led.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PlannedFile>,
    /// Of the files, as they are written, those that a plain file command names which no rule lets run, but only the mode that accepts edits.
    /// Such a command changes these and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// No rule lets a plain file command of it run: one that names another file is not started.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub all_held: bool,
    /// What deny rules close. What words become, and where they lead, is known only when the plan runs: no program of it is started
    /// that names such a file then ([`refused_file`](crate::permission::refused_file)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<DenyPattern>,
    /// The program's own directories, which become authority like other places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_directories: Vec<String>,
    /// Files and folders of the program itself that no program of it may name, not even to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_places: Vec<String>,
}

/// A file that a command names, as it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedFile {
    /// Absolute, made of the directory and what the command says, and nothing shortened.
    pub written: String,
    /// Where that led when it was judged: absolute, without links.
    pub real: String,
    /// What is done to it.
    pub access: Access,
}
