//! Executes the syntax tree of an approved command line without a shell.
//!
//! Exactly what the tree names is run. Program names, options and redirection files are literal text in the tree;
//! expansions (variables, patterns, substitutions) become arguments and nothing else. The observable behaviour
//! (output, status, files) is that of `bash --norc -c` with the same line.
//!
//! # Design
//!
//! A subshell, a pipeline stage and a substitution are clones of a `Shell` value, on separate threads if they run
//! concurrently. The directory and the descriptors of this process never change: they are values too, and are passed
//! to each program when it starts. All programs of a plan are in one process group.

mod builtins;
mod call;
mod change;
mod check;
mod control;
mod cpu_time;
mod descriptors;
mod directory;
mod expand;
mod file_commands;
mod folders;
mod glob;
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
    descriptors::Descriptors,
    shell::{Leave, LineContext, Shell},
};

/// The three standard streams of a plan.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
}

/// The result of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, or the signal that would have ended the shell process.
    pub how: Ending,
    /// The final working directory, without symbolic links; `None` if it no longer has a path.
    pub directory: Option<String>,
    /// The variables that it has set.
    pub variables: Vec<ShellVariable>,
    /// Whether permission rules prevented a program from starting or a file from being opened, because of what an
    /// expansion or input turned out to be, or of what the path now is. Standard error, wherever the line has
    /// redirected it, says which.
    pub withheld: bool,
}

/// How a plan or a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It was stopped by its [`Control`].
    Stopped,
}

/// Checks that a plan can be executed here, without builtins, options or variables that only a real shell has.
///
/// # Errors
/// [`Refused`] says what is unsupported. Nothing was run.
pub fn check(plan: &CommandPlan, session: &Session) -> Result<(), Refused> {
    check::check(&plan.script, session)
}

/// Runs a plan to its end on the current thread, blocking it.
///
/// # Errors
/// [`Refused`], as by [`check()`]. Nothing was run.
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
        held: &plan.mode_allowed_files,
        all_held: plan.only_mode_allows,
        session,
        control,
        withheld: AtomicBool::new(false),
    };
    let mut shell = Shell::new(&context, Descriptors::new(streams));
    let left = shell.script(&plan.script, true);
    let how = match left {
        // Whatever status the last command had when it was stopped.
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
