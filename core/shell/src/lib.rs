//! Shell command lines: read into a tree, looked at, printed anew.
//!
//! Whoever lets an agent run commands by rules must know what a line does. A scanner beside the shell never knows for sure: two readers of one
//! language differ somewhere. So a line that [`read()`] understands is not handed to a shell at all: its [`Script`] is what runs, either
//! without a shell or as [`print()`] writes it down, every text quoted. What [`read()`] does not understand, it refuses.
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
//! For rules that forbid, [`scan()`] says what a line that is refused here seems to run. It sees more and is sure of less.

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

/// A line that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What runs.
    pub script: Script,
    /// The simple commands in it, those inside of others before them.
    pub commands: Vec<SimpleCommand>,
    /// What keeps the tree from being run in the place of the text: such a line runs only if somebody approved its whole text.
    pub obstacle: Option<&'static str>,
    /// A shell that is given the text may evaluate what words of it become, and so run more than these commands. Whoever runs the
    /// tree does not.
    pub evaluates: bool,
}

/// Reads a line.
///
/// # Errors
/// [`Unparsed`]: nothing is known for sure about such a line.
pub fn read(text: &str) -> Result<Line, Unparsed> {
    let script = read::script(text)?;
    let commands = commands::of(&script);
    let obstacle = obstacle::of(&script);
    // A shell that gets such a text may find commands in it that no tree shows.
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
    /// Longer than anybody writes.
    #[error("it is longer than 128 KiB")]
    TooLong,
}
