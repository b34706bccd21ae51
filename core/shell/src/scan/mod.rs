//! Lists what a line appears to run: for rules that deny or ask, if [`read()`](crate::read()) refuses the line.
//!
//! It supports more than the tree (functions, `case`, arithmetic with numbers, assignments) and is less certain: shells differ,
//! and its result is never run. A permission check must treat an error as "ask".

mod budget;
mod evaluated;
mod flatten;
mod parse;
mod unwrap;
mod word;

pub use flatten::commands;

/// Whether a shell that runs a command evaluates texts in it, so that it may run more than these texts show.
pub(crate) fn evaluates(command: &crate::SimpleCommand) -> bool {
    let mut assigned = command.assignments.iter();
    evaluated::builtin_evaluates(command)
        || assigned.any(|name| evaluated::is_evaluated_variable(name))
}
