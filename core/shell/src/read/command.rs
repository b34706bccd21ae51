//! Simple commands.

use alloc::vec::Vec;

use super::{Reader, atom::Atom, ends_word, runs};
use crate::{Assignment, Simple, Unparsed, Word, names};

impl Reader<'_> {
    /// A simple command: assignments and redirections, a program, its arguments.
    pub(super) fn simple(&mut self) -> Result<Simple, Unparsed> {
        let mut command = Simple::default();
        let outer = core::mem::take(&mut self.met);
        // In messages bash names the line of the token at which it recognises that a command begins: an assignment or
        // redirection, or the token after the program.
        let mut named = None;
        loop {
            self.skip_blanks()?;
            let begins = self.line;
            let is_first = command.words.is_empty() && command.assignments.is_empty();
            if self.process(&mut command.words)? {
                named.get_or_insert(self.line);
                continue;
            }
            if self.redirection(&mut command.redirections)? {
                named.get_or_insert(if is_first { self.line } else { begins });
                continue;
            }
            match self.peek() {
                Some('(') if command.words.len() == 1 => {
                    return Err(Unparsed::Unsupported("a function"));
                }
                Some(c) if !ends_word(c) => {}
                _ => break,
            }
            let has_program = !command.words.is_empty();
            if has_program {
                self.words_into(&mut command.words)?;
            } else {
                self.assignment_or_program(&mut command)?;
            }
            if has_program || command.words.is_empty() {
                named.get_or_insert(self.line);
            }
        }
        command.line = named.unwrap_or(self.line);
        for redirection in &mut command.redirections {
            redirection.line = command.line;
        }
        let met = core::mem::replace(&mut self.met, outer);
        self.met.status |= met.status;
        if met.status && met.folded {
            return Err(Unparsed::Unsupported("`$?` beside a text from `cat`"));
        }
        if command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirections.is_empty()
        {
            return Err(Unparsed::Syntax);
        }
        command.runs = runs::of(&command.words, self.levels)?;
        Ok(command)
    }

    fn assignment_or_program(&mut self, command: &mut Simple) -> Result<(), Unparsed> {
        let mut words: Vec<Word> = Vec::new();
        if self.peek_plain().is_some_and(|text| !text.contains('=')) {
            self.words_into(&mut words)?;
        } else {
            let atoms = self.atoms()?;
            if let Some((name, value)) = assignment(&atoms)? {
                command.assignments.push(Assignment { name, value });
                return Ok(());
            }
            super::assembly::finish(atoms, &mut words)?;
        }
        match words.as_slice() {
            // Here it is not a keyword, but parsers differ in when a word is one.
            [program] if program.as_literal().is_some_and(is_keyword) => {
                Err(Unparsed::Unsupported("a keyword as the name of a program"))
            }
            [program] if program.as_literal().is_some_and(|name| !name.is_empty()) => {
                command.words = words;
                Ok(())
            }
            _ => Err(Unparsed::ComputedProgram),
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "!" | "{"
            | "}"
            | "[["
            | "]]"
            | "case"
            | "coproc"
            | "do"
            | "done"
            | "elif"
            | "else"
            | "esac"
            | "fi"
            | "for"
            | "function"
            | "if"
            | "in"
            | "select"
            | "then"
            | "time"
            | "until"
            | "while"
    )
}

/// The name and the value, if a word is an assignment.
fn assignment(atoms: &[Atom]) -> Result<Option<(alloc::string::String, Word)>, Unparsed> {
    let plain = |atom: &Atom| match atom {
        Atom::Plain(c) => Some(*c),
        _ => None,
    };
    let name: alloc::string::String = atoms
        .iter()
        .map_while(plain)
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    if !names::is_name(&name) {
        return Ok(None);
    }
    let behind = &atoms[name.len()..];
    match (
        behind.first().and_then(plain),
        behind.get(1).and_then(plain),
    ) {
        (Some('='), _) => {
            let value = super::assembly::unsplit(&behind[1..])?;
            Ok(Some((name, value)))
        }
        (Some('+'), Some('=')) | (Some('['), _) => Err(Unparsed::Unsupported(
            "an assignment that adds, or to an element",
        )),
        _ => Ok(None),
    }
}
