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
