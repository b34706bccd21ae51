//! A simple command whose words are expanded, as it is given to a builtin or a program.

use std::ffi::OsString;

use windlass_shell::Simple;

use super::expand::Argument;

/// A simple command with expanded words.
pub(super) struct Call<'p> {
    pub(super) simple: &'p Simple,
    /// The index of the word that names what is run; not the first word after `command`.
    pub(super) program: usize,
    /// The arguments, including the program's name.
    pub(super) arguments: Vec<Argument>,
    /// Where the arguments of each word start.
    pub(super) starts: Vec<usize>,
    pub(super) assignments: Vec<(&'p str, OsString)>,
}
