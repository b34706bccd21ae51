//! Shell command lines as trees.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod tree;

pub use tree::{
    AndOr, Assignment, Command, Compound, Junction, Part, Pipeline, Redirection, Runs, Script,
    Simple, Target, Word,
};
