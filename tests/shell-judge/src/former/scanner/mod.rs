//! Shell command lines, taken apart into the simple commands they would run.
//!
//! This is not a shell: it answers one question, "which programs would this line start, with which
//! words?", and refuses to answer rather than guess. Whoever judges commands must treat a refusal
//! as "ask". The module depends on nothing but `alloc`.
//!
//! Follows the POSIX shell grammar (IEEE 1003.1, chapter 2) with the extensions of bash that
//! occur in practice: `|&`, `&>`, `<<<`, process substitution, `$'…'`.

mod evaluated;
mod parse;
mod unwrap;
mod word;

use alloc::{string::String, vec::Vec};

pub use parse::commands;
pub use unwrap::runs_others;
pub use word::Word;

/// One program that would be started, or one builtin that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Names of variables assigned for this command, or for the shell when there are no words.
    pub assignments: Vec<String>,
    /// The program and its arguments. Empty for a bare assignment or redirection.
    pub words: Vec<Word>,
    /// The files that its redirections open, other than `/dev/null`; descriptors are none.
    pub redirections: Vec<Redirection>,
    /// Whether all it does is to run another command, which is listed too (`timeout`, `sh -c`).
    pub wraps: bool,
}

/// A file that a redirection opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Which way the bytes go.
    pub direction: Direction,
    /// The file, relative to wherever the command runs.
    pub target: Word,
}

/// Which way the bytes of a redirection go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file (`<`).
    In,
    /// Into the file (`>`, `>>`, `&>`, `<>`).
    Out,
}

impl SimpleCommand {
    /// Whether a redirection creates or writes a file.
    #[must_use]
    pub fn writes_file(&self) -> bool {
        let mut directions = self.redirections.iter().map(|r| r.direction);
        directions.any(|direction| direction == Direction::Out)
    }

    /// The program's name without its folder, if it is written out.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first().filter(|word| word.is_literal())?;
        word.text().rsplit('/').next()
    }

    /// Whether the first words are these, each written out.
    #[must_use]
    pub fn begins_with<T: AsRef<str>>(&self, prefix: &[T]) -> bool {
        self.words.len() >= prefix.len()
            && self
                .words
                .iter()
                .zip(prefix)
                .all(|(word, wanted)| word.is_literal() && word.text() == wanted.as_ref())
    }
}

/// Why a line cannot be taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unparsed {
    /// A quote, bracket or here-document without its end.
    #[error("a quote, bracket or here-document is not closed")]
    Unclosed,
    /// A construct this module does not follow.
    #[error("it uses {0}, which is not followed here")]
    Unsupported(&'static str),
    /// The program to run is only known when the line runs.
    #[error("the program to run is computed")]
    ComputedProgram,
    /// Words where none may stand.
    #[error("it is not a shell command")]
    Syntax,
    /// Nested deeper than anybody writes.
    #[error("it is nested too deep")]
    TooDeep,
}
