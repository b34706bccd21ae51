//! Judged commands: the tree of a command line, executed without a shell.
//!
//! What runs is exactly what the tree names. A program's name, its options and the files of redirections stand in the
//! tree as text; what is expanded (variables, patterns, substitutions) becomes arguments and nothing else. To whoever
//! looks from outside (outputs, status, files) it is as if `bash --norc -c` had run the line.
//!
//! # How it is made
//!
//! A subshell, a stage of a pipeline and a substitution are copies of a [`Shell`](shell::Shell) value, on a thread of their
//! own where they run at the same time as others. Nobody changes the directory or the descriptors of this process:
//! they are values too, and are given to each program when it starts. All programs of a plan are one process group.

mod builtins;
mod check;
mod control;
mod directory;
mod expand;
mod glob;
mod locale;
mod message;
mod open;
mod pattern;
mod pipeline;
mod program;
mod redirect;
mod session;
mod shell;
mod simple;
mod stream;
mod substitution;
mod timing;
mod variables;

use std::os::fd::OwnedFd;

use windlass_core::tool::Access;
use windlass_shell::Script;

pub use self::{
    check::Refused,
    control::Control,
    session::{Session, SessionError},
};
use self::{
    redirect::Descriptors,
    shell::{Leave, Shell, Surroundings},
};

/// A command line that was judged: what runs, and which files it may open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The commands.
    pub script: Script,
    /// The files of its redirections, and those that its commands change by name.
    pub files: Vec<PlannedFile>,
}

/// A file that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// The directory and the text of the line, joined by `/`; or the text, where it is absolute.
    pub written: String,
    /// Where that led when it was judged.
    pub real: String,
    /// What may be done with it.
    pub access: Access,
}

/// Where the three standard descriptors of a plan lead.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
}

/// How a plan ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// By itself, or by a signal as a process would.
    pub how: Ending,
    /// The directory at its end, as `pwd` would print it.
    pub directory: String,
}

/// How a plan, or a program, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was stopped by its [`Control`].
    Stopped,
}

impl Plan {
    /// Whether the tree can be executed here: no builtin, option or variable in it that only a shell knows.
    ///
    /// # Errors
    /// [`Refused`] says what is in the way. Nothing has run.
    pub fn check(&self, session: &Session) -> Result<(), Refused> {
        check::check(&self.script, session)
    }

    /// Runs the plan to its end, on this thread, which waits for it.
    ///
    /// # Errors
    /// [`Refused`], as by [`check`](Self::check). Nothing has run.
    pub fn execute(
        &self,
        session: &Session,
        streams: Streams,
        control: &Control,
    ) -> Result<Ended, Refused> {
        self.check(session)?;
        let surroundings = Surroundings {
            files: &self.files,
            session,
            control,
        };
        let mut shell = Shell::new(&surroundings, Descriptors::new(streams));
        let left = shell.script(&self.script, true);
        let how = match left {
            Err(Leave::Stopped) => Ending::Stopped,
            Err(Leave::Killed(signal)) => Ending::Signal(signal),
            _ => Ending::Code(shell.status),
        };
        let directory = shell.directory.logical().to_string_lossy().into_owned();
        control.reap();
        Ok(Ended { how, directory })
    }
}
