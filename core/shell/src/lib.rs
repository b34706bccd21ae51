//! Parses shell command lines to a tree, analyses them, and prints them in unambiguous form.
//!
//! Whoever lets an agent run commands by rules must know what a line does. A scanner separate from the shell can never be
//! certain, since two parsers of one language always differ somewhere. So a line that [`read()`] understands is not passed to a
//! shell at all: its [`Script`] is run instead, either without a shell or as printed by [`print()`], with every text quoted.
//! [`read()`] refuses what it does not understand.
//!
//! ```
//! use windlass_shell::{print, read};
//! let line = read("cd src && grep -c \"it's\" *.rs | sort > counts").unwrap();
//! let names: Vec<_> = line.commands.iter().filter_map(|command| command.program()).collect();
//! assert_eq!(names, ["cd", "grep", "sort"]);
//! assert_eq!(line.obstacle, None);
//! let text = print(&line.script, &|_| None);
//! assert!(text.contains("'command' 'grep' '-c' 'it'\\''s' ./*'.rs'"), "{text}");
//! assert!(read("echo \"$\\\n(touch x)\"").is_err());
//! ```
//!
//! For rules that deny or ask, [`scan()`] lists what a refused line appears to run. It recognises more and is less certain.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod builtins;
mod commands;
mod names;
mod obstacle;
mod print;
mod read;
mod scan;
mod tree;
mod written_out;

use alloc::vec::Vec;

pub use builtins::{is_builtin, is_shell_only};
pub use commands::{
    CommandWord, Direction, FileRedirection, Folder, SimpleCommand, of as commands_of,
};
pub use names::{is_acted_upon, is_made_by_the_shell, is_name, is_search};
pub use obstacle::MOST_STAGES;
pub use print::{print, print_for_people, quote};
pub use read::runs_others;
pub use scan::commands as scan;
pub use tree::{
    AndOr, Assignment, Choice, Command, Compound, Junction, Operation, Part, Pipeline, Redirection,
    Runs, Script, Simple, Target, Word, takes_number,
};
pub use written_out::leaves_shell_alone;

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The syntax tree, which is what runs.
    pub script: Script,
    /// Its simple commands; those inside of others come before them.
    pub commands: Vec<SimpleCommand>,
    /// Why the tree must not run in place of the text, if so: such a line runs only if its whole text was approved.
    pub obstacle: Option<&'static str>,
    /// Whether a shell that is given the text may evaluate the expansion of words and so run more than these commands. This does
    /// not happen when the tree is run.
    pub evaluates: bool,
}

/// Parses a line.
///
/// # Errors
/// [`Unparsed`]: nothing is known for certain about such a line.
pub fn read(text: &str) -> Result<Line, Unparsed> {
    let script = read::script(text)?;
    let commands = commands::of(&script);
    let obstacle = obstacle::of(&script);
    // A shell that is given such a text may find commands in it that are not in the tree.
    let evaluates = commands.iter().any(scan::evaluates);
    if obstacle.is_some() && evaluates {
        return Err(Unparsed::Unsupported(
            "a builtin that evaluates what it is given",
        ));
    }
    Ok(Line {
        script,
        commands,
        obstacle,
        evaluates,
    })
}

/// Why a line cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unparsed {
    /// A quote, bracket or here-document is not closed.
    #[error("a quote, bracket or here-document is not closed")]
    Unclosed,
    /// An unsupported construct.
    #[error("it uses {0}, which is not followed here")]
    Unsupported(&'static str),
    /// The program to run is only known at run time.
    #[error("the program to run is computed")]
    ComputedProgram,
    /// Words where none are allowed.
    #[error("it is not a shell command")]
    Syntax,
    /// Nested too deeply.
    #[error("it is nested too deep")]
    TooDeep,
    /// Too long.
    #[error("it is longer than 128 KiB")]
    TooLong,
}
