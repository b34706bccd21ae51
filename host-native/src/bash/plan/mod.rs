//! Judged commands: the tree of a command line, executed without a shell.
//!
//! What runs is exactly what the tree names. A program's name, its options and the files of redirections stand in the
//! tree as text; what is expanded (variables, patterns, substitutions) becomes arguments and nothing else. To whoever
//! looks from outside (outputs, status, files) it is as if `bash --norc -c` had run the line.
//!
//! # How it is made
//!
//! A subshell, a stage of a pipeline and a substitution are copies of a `Shell` value, on a thread of their
//! own where they run at the same time as others. Nobody changes the directory or the descriptors of this process:
//! they are values too, and are given to each program when it starts. All programs of a plan are one process group.

mod builtins;
mod change;
mod check;
mod control;
mod directory;
mod expand;
mod folders;
mod glob;
mod held;
mod locale;
mod message;
mod named;
mod open;
mod operation;
mod pattern;
mod pipeline;
mod process;
mod program;
mod quote;
mod redirect;
mod repository;
#[cfg_attr(not(target_os = "linux"), path = "restriction_elsewhere.rs")]
mod restriction;
mod session;
mod shell;
mod simple;
mod stream;
mod substitution;
mod timing;
mod variables;
mod xargs;

use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, Ordering},
};

use windlass_core::tool::{CommandPlan, ShellVariable};

pub use self::{
    check::Refused,
    control::Control,
    session::{Session, SessionError},
};
use self::{
    redirect::Descriptors,
    shell::{Leave, LineContext, Shell},
};

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
    /// The directory at its end, without links; none if it has no such name any more.
    pub directory: Option<String>,
    /// The variables that it has set.
    pub variables: Vec<ShellVariable>,
    /// A program was not started, or a file not opened, that rules hold back: because of what words or input had become, or of what lay
    /// there by then. Standard error says which, wherever the line has led it.
    pub withheld: bool,
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

/// Whether a plan can be executed here: no builtin, option or variable in it that only a shell knows.
///
/// # Errors
/// [`Refused`] says what is in the way. Nothing has run.
pub fn check(plan: &CommandPlan, session: &Session) -> Result<(), Refused> {
    check::check(&plan.script, session)
}

/// Runs a plan to its end, on this thread, which waits for it.
///
/// # Errors
/// [`Refused`], as by [`check()`]. Nothing has run.
pub fn execute(
    plan: &CommandPlan,
    session: &Session,
    streams: Streams,
    control: &Control,
) -> Result<Ended, Refused> {
    check(plan, session)?;
    let context = LineContext {
        plan,
        files: &plan.files,
        workspace: &plan.workspace,
        held: &plan.held,
        all_held: plan.all_held,
        session,
        control,
        withheld: AtomicBool::new(false),
    };
    let mut shell = Shell::new(&context, Descriptors::new(streams));
    let left = shell.script(&plan.script, true);
    let how = match left {
        // Whatever the last command said when it was ended.
        _ if control.is_stopping() => Ending::Stopped,
        Err(Leave::Stopped) => Ending::Stopped,
        Err(Leave::Killed(signal)) => Ending::Signal(signal),
        _ => Ending::Code(shell.status),
    };
    let directory = shell.directory.physical().ok();
    let directory = directory.and_then(|path| path.into_os_string().into_string().ok());
    let variables = shell.variables.changed_since(&session.variables);
    control.reap();
    Ok(Ended {
        how,
        directory,
        variables,
        withheld: context.withheld.load(Ordering::Relaxed),
    })
}
