//! Lists all commands of a line, including those of substitutions and those that wrappers run.

use alloc::vec::Vec;

use super::{
    budget::{Budget, DEPTH},
    parse::parse,
    unwrap::{Wrapped, unwrap},
};
use crate::{SimpleCommand, Unparsed};

/// Every simple command that a line could run, in the order of the text: all parts of lists and pipelines, all branches of
/// compound commands, the commands of substitutions, and those that wrappers such as `env`, `timeout` or `sh -c` run (in addition
/// to the wrapper itself).
///
/// # Errors
/// [`Unparsed`]: treat the line as an unknown command.
pub fn commands(line: &str) -> Result<Vec<SimpleCommand>, Unparsed> {
    let mut found = Vec::new();
    add_line(line, DEPTH, &Budget::of(line)?, &mut found)?;
    Ok(found)
}

/// Adds the commands of a line.
fn add_line(
    line: &str,
    depth: u32,
    budget: &Budget,
    found: &mut Vec<SimpleCommand>,
) -> Result<(), Unparsed> {
    let depth = depth.checked_sub(1).ok_or(Unparsed::TooDeep)?;
    let parsed = parse(line, depth, budget)?;
    for command in parsed.commands {
        add_command(command, depth, budget, found)?;
    }
    for inner in parsed.substitutions {
        add_line(&inner, depth, budget, found)?;
    }
    Ok(())
}

/// Adds a command after those that it runs as a wrapper.
fn add_command(
    mut command: SimpleCommand,
    depth: u32,
    budget: &Budget,
    found: &mut Vec<SimpleCommand>,
) -> Result<(), Unparsed> {
    command.wraps = unwrap(&command, budget, &mut |wrapped| match wrapped {
        Wrapped::Command(inner) => {
            let depth = depth.checked_sub(1).ok_or(Unparsed::TooDeep)?;
            add_command(inner, depth, budget, found)
        }
        Wrapped::Line(line) => add_line(&line, depth, budget, found),
    })?;
    found.push(command);
    Ok(())
}
