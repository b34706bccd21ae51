//! Command and process substitutions.

use alloc::vec::Vec;

use super::{End, Reader, Uses, atom::Atom};
use crate::{Command, Compound, Part, Redirection, Script, Target, Unparsed, Word};

/// The maximum number of process substitutions in one command. Printed for shells without support, each needs one of the ten
/// descriptors of POSIX.
const MOST_PROCESSES: usize = 4;

impl Reader<'_> {
    /// `$(…)`, after its dollar sign.
    pub(super) fn substitution(
        &mut self,
        atoms: &mut Vec<Atom>,
        quoted: bool,
    ) -> Result<(), Unparsed> {
        if self.rest().starts_with("((") {
            return self.arithmetic(atoms);
        }
        let script = self.in_parentheses()?;
        self.push_substitution(atoms, script, quoted)
    }

    /// The commands in the parentheses that begin here.
    fn in_parentheses(&mut self) -> Result<Script, Unparsed> {
        self.at += 1;
        self.substitutions += 1;
        let script = self.deeper(|reader| reader.script(End::Parenthesis))?;
        if let Some(bodies) = &self.bodies
            && bodies.substitutions == self.substitutions
        {
            return Err(Unparsed::Unclosed);
        }
        self.substitutions -= 1;
        self.at += 1;
        Ok(script)
    }

    /// Consumes `<(…)` if it is here as a whole word.
    pub(super) fn process(&mut self, words: &mut Vec<Word>) -> Result<bool, Unparsed> {
        let follows_blank = self.text[..self.at].ends_with([' ', '\t', '\n']);
        if words.is_empty() || !follows_blank || !self.take("<") {
            return Ok(false);
        }
        if self.peek() != Some('(') {
            self.at -= 1;
            return Ok(false);
        }
        self.only_bash()?;
        let script = self.in_parentheses()?;
        let is_whole = self
            .peek()
            .is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | ')'));
        if !is_whole || script.lists.is_empty() || is_file_alone(&script) {
            return Err(Unparsed::Unsupported("an unusual process substitution"));
        }
        printed_by_bash(&script)?;
        let is_process = |word: &&Word| matches!(word.parts.as_slice(), [Part::Process { .. }]);
        if words.iter().filter(is_process).count() == MOST_PROCESSES {
            return Err(Unparsed::Unsupported(
                "many process substitutions in one command",
            ));
        }
        self.uses.add(Uses {
            processes: true,
            ..Uses::default()
        })?;
        let parts = alloc::vec![Part::Process { script }];
        words.push(Word { parts });
        Ok(true)
    }

    /// `` `…` ``, after its opening.
    pub(super) fn backquoted(
        &mut self,
        atoms: &mut Vec<Atom>,
        in_quotes: bool,
    ) -> Result<(), Unparsed> {
        let rest = self.rest();
        let text = &rest[..rest.find('`').ok_or(Unparsed::Unclosed)?];
        if text.contains('\\') || in_quotes && text.contains('"') {
            return Err(Unparsed::Unsupported("quoting inside backquotes"));
        }
        if text.contains('\n') {
            self.quoted_line_end()?;
        }
        let (line, is_bash) = (self.line, self.is_bash);
        let (script, uses) =
            self.deeper(|reader| super::inner_script(text, reader.levels, line, is_bash))?;
        self.uses.add(uses)?;
        self.at += text.len() + 1;
        self.count_lines(text);
        self.met.status |= text.contains("$?");
        self.push_substitution(atoms, script, in_quotes)
    }

    fn push_substitution(
        &mut self,
        atoms: &mut Vec<Atom>,
        script: Script,
        quoted: bool,
    ) -> Result<(), Unparsed> {
        match literal_text(&script).filter(|_| quoted) {
            Some(text) => {
                self.met.folded = true;
                atoms.push(Atom::Quoted(text.into()));
            }
            None if script.lists.is_empty() => {
                return Err(Unparsed::Unsupported("an empty substitution"));
            }
            None if is_file_alone(&script) => {
                return Err(Unparsed::Unsupported("`$(<file)`, which only bash knows"));
            }
            None => {
                printed_by_bash(&script)?;
                atoms.push(Atom::Part(Part::Substitution { script, quoted }));
            }
        }
        Ok(())
    }
}

/// Bash runs a substitution in the form that it prints from its own tree, and loses separators after here-documents. The text
/// printed here contains a here-document for each text that is read.
fn printed_by_bash(script: &Script) -> Result<(), Unparsed> {
    match has_text(script) && !has_text_alone(script) {
        true => Err(Unparsed::Unsupported(
            "a here-document or here-string amid the commands of a substitution",
        )),
        false => Ok(()),
    }
}

/// Whether a script is only a simple command, or a pipeline of simple commands without expansions.
fn has_text_alone(script: &Script) -> bool {
    let [list] = script.lists.as_slice() else {
        return false;
    };
    let commands = list.first.commands.as_slice();
    list.rest.is_empty()
        && commands.iter().all(|command| match command {
            Command::Simple(simple) => {
                let mut words = simple.words.iter();
                match commands.len() {
                    1 => !words.any(word_has_text),
                    _ => words.all(|word| word.as_literal().is_some()),
                }
            }
            Command::Compound { .. } => false,
        })
}

/// Whether any command of a script reads a text (a here-document).
fn has_text(script: &Script) -> bool {
    let in_redirections = |redirections: &[Redirection]| {
        redirections
            .iter()
            .any(|redirection| matches!(redirection.to, Target::Text(_)))
    };
    let in_command = |command: &Command| match command {
        Command::Simple(simple) => {
            in_redirections(&simple.redirections) || simple.words.iter().any(word_has_text)
        }
        Command::Compound { body, redirections } => {
            in_redirections(redirections) || body_has_text(body)
        }
    };
    script.lists.iter().any(|list| {
        let rest = list.rest.iter().map(|(_, pipeline)| pipeline);
        core::iter::once(&list.first)
            .chain(rest)
            .flat_map(|pipeline| &pipeline.commands)
            .any(in_command)
    })
}

fn word_has_text(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Process { script } => has_text(script),
        _ => false,
    })
}

fn body_has_text(body: &Compound) -> bool {
    match body {
        Compound::Group(script) | Compound::Subshell(script) => has_text(script),
        Compound::For { body, .. } => has_text(body),
        Compound::If { arms, otherwise } => {
            arms.iter()
                .any(|(condition, body)| has_text(condition) || has_text(body))
                || otherwise.as_ref().is_some_and(has_text)
        }
        Compound::While {
            condition, body, ..
        } => has_text(condition) || has_text(body),
        Compound::Case { choices, .. } => choices.iter().any(|choice| has_text(&choice.body)),
    }
}

/// Whether a substitution contains only a redirection.
fn is_file_alone(script: &Script) -> bool {
    match script.lists.as_slice() {
        [list] if list.rest.is_empty() => match list.first.commands.as_slice() {
            [Command::Simple(command)] => {
                command.words.is_empty() && command.assignments.is_empty()
            }
            _ => false,
        },
        _ => false,
    }
}

/// `"$(cat <<'E' … E)"` is a notation for a text, which is known without starting a program.
fn literal_text(script: &Script) -> Option<&str> {
    let [list] = script.lists.as_slice() else {
        return None;
    };
    let [Command::Simple(command)] = list.first.commands.as_slice() else {
        return None;
    };
    let is_plain = list.rest.is_empty()
        && !list.first.negated
        && !list.first.timed
        && command.assignments.is_empty()
        && command.words.len() == 1
        && command.program() == Some("cat");
    match command.redirections.as_slice() {
        [redirection] if is_plain && redirection.descriptor == 0 => match &redirection.to {
            Target::Text(body) => body.as_literal().map(|text| text.trim_end_matches('\n')),
            _ => None,
        },
        _ => None,
    }
}
