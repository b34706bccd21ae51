//! The builtins of the shell.

mod command;
mod directory;
mod echo;
mod escape;
mod flow;
mod number;
mod printf;
mod test;

use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

use windlass_shell::Word;

use super::{
    call::Call,
    expand::Argument,
    shell::{Outcome, Shell},
};

/// A builtin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `:`
    Nothing,
    True,
    False,
    Pwd,
    Cd,
    Echo,
    Printf,
    /// `test`
    Test,
    /// `[`
    Bracket,
    Exit,
    Break,
    Continue,
    /// `command` alone, or `command -v`.
    Command,
}

impl Builtin {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            ":" => Self::Nothing,
            "true" => Self::True,
            "false" => Self::False,
            "pwd" => Self::Pwd,
            "cd" => Self::Cd,
            "echo" => Self::Echo,
            "printf" => Self::Printf,
            "test" => Self::Test,
            "[" => Self::Bracket,
            "exit" => Self::Exit,
            "break" => Self::Break,
            "continue" => Self::Continue,
            "command" => Self::Command,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Nothing => ":",
            Self::True => "true",
            Self::False => "false",
            Self::Pwd => "pwd",
            Self::Cd => "cd",
            Self::Echo => "echo",
            Self::Printf => "printf",
            Self::Test => "test",
            Self::Bracket => "[",
            Self::Exit => "exit",
            Self::Break => "break",
            Self::Continue => "continue",
            Self::Command => "command",
        }
    }
}

/// Checks that the operands of a builtin are supported here; the error says which is not.
pub(super) fn check(builtin: Builtin, operands: &[Word]) -> Result<(), String> {
    let option = |known: &[&str]| {
        let first = operands
            .first()
            .and_then(Word::as_literal)
            .unwrap_or_default();
        match first.len() > 1 && first.starts_with('-') && !known.contains(&first) {
            true => Err(format!("`{first}`")),
            false => Ok(()),
        }
    };
    match builtin {
        Builtin::Pwd => option(&["-L", "-P", "--"]),
        Builtin::Cd => option(&["-L", "--"]),
        Builtin::Command => option(&["-v"]),
        Builtin::Exit | Builtin::Break | Builtin::Continue => Ok(()),
        Builtin::Printf => printf::check(operands),
        Builtin::Test => test::check(operands),
        Builtin::Bracket => match operands.split_last() {
            Some((_, operands)) => test::check(operands),
            None => Ok(()),
        },
        Builtin::Nothing | Builtin::True | Builtin::False | Builtin::Echo => Ok(()),
    }
}

impl<'p> Shell<'p> {
    pub(super) fn builtin(&mut self, builtin: Builtin, call: Call<'p>) -> Outcome {
        let line = call.simple.line;
        let before = (!call.assignments.is_empty()).then(|| self.variables.clone());
        for (name, value) in &call.assignments {
            self.variables.export(name, value.clone());
        }
        let operands = call.arguments.into_iter().skip(call.program + 1);
        let outcome = match builtin {
            Builtin::Nothing | Builtin::True => self.done(0),
            Builtin::False => self.done(1),
            Builtin::Echo => self.echo(line, &raw(operands)),
            Builtin::Printf => {
                // The format may start with `-`; the output may not become an option.
                let mut operands: Vec<Argument> = operands.collect();
                let format = operands.iter_mut().find(|operand| operand.text != "--");
                if let Some(format) = format {
                    let argument = format.clone();
                    format.text = argument.for_programs();
                }
                self.printf(line, &raw(operands))
            }
            Builtin::Test | Builtin::Bracket => self.test(line, builtin.name(), &raw(operands)),
            Builtin::Pwd => self.pwd(line, &plain(operands)),
            Builtin::Cd => self.cd(line, &plain(operands)),
            Builtin::Exit => self.exit(line, &plain(operands)),
            Builtin::Break | Builtin::Continue => {
                self.leave_loop(line, builtin.name(), &plain(operands))
            }
            Builtin::Command => self.which(line, &plain(operands)),
        };
        if let Some(before) = before {
            self.restore(&call.assignments, &before);
        }
        outcome
    }

    /// Restores variables that were set for a builtin only. Variables that the builtin sets itself are kept.
    fn restore(&mut self, assignments: &[(&str, OsString)], before: &super::variables::Variables) {
        for (name, _) in assignments {
            self.variables.take_from(before, name);
        }
    }

    fn done(&mut self, status: i32) -> Outcome {
        self.status = status;
        Ok(())
    }

    /// Prints an error and sets the status.
    fn fail(&mut self, line: u32, status: i32, text: impl AsRef<[u8]>) -> Outcome {
        self.complain(line, text.as_ref());
        self.done(status)
    }
}

/// Operands that are never parsed as options.
fn raw(operands: impl IntoIterator<Item = Argument>) -> Vec<Vec<u8>> {
    let bytes = |operand: Argument| operand.text.into_vec();
    operands.into_iter().map(bytes).collect()
}

/// Operands as a program would get them.
fn plain(operands: impl Iterator<Item = Argument>) -> Vec<Vec<u8>> {
    let bytes = |operand: Argument| operand.for_programs().into_vec();
    operands.map(bytes).collect()
}
