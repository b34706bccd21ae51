//! What a line seems to run: for rules that forbid, where [`read()`](crate::read()) refuses the line.
//!
//! It follows more than the tree does (functions, `case`, arithmetic of numbers, assignments) and is sure of less: shells differ, and what it finds is
//! never run. Whoever judges commands must treat a refusal as "ask".

mod budget;
mod evaluated;
mod parse;
mod unwrap;
mod word;

pub use parse::commands;

/// Whether a shell that runs a command evaluates texts in it: what stands in them need not be all that it says.
pub(crate) fn evaluates(command: &crate::SimpleCommand) -> bool {
    let mut assigned = command.assignments.iter();
    evaluated::builtin_evaluates(command)
        || assigned.any(|name| evaluated::is_evaluated_variable(name))
}
