//! Assembles words from their pieces: brace lists, the tilde, patterns.

use alloc::{string::String, vec::Vec};

use super::{atom::Atom, braces};
use crate::{Part, Unparsed, Word, names};

/// Adds the words that a word expands to: one, or one for each choice of its brace lists.
pub(super) fn finish(atoms: Vec<Atom>, words: &mut Vec<Word>) -> Result<(), Unparsed> {
    for atoms in braces::expanded(atoms)? {
        words.push(assembled(&atoms)?);
    }
    Ok(())
}

/// A word in a place without brace lists, patterns and field splitting: the value of an assignment, a here-string.
pub(super) fn unsplit(atoms: &[Atom]) -> Result<Word, Unparsed> {
    let mut word = Word::default();
    let mut atoms = atoms;
    if let [Atom::Plain('~'), rest @ ..] = atoms {
        word.parts.push(tilde(rest)?);
        atoms = rest;
    }
    for atom in atoms {
        match atom {
            Atom::Plain('~') => return Err(Unparsed::Unsupported("`~` inside a value")),
            Atom::Plain(c) => push_char(&mut word, *c),
            Atom::Quoted(text) => push_literal(&mut word, text),
            Atom::Part(part) => word.parts.push(quoted(part.clone())),
        }
    }
    if word.parts.is_empty() {
        word.parts.push(Part::Literal(String::new()));
    }
    Ok(word)
}

fn quoted(part: Part) -> Part {
    match part {
        Part::Variable { name, .. } => Part::Variable { name, quoted: true },
        Part::Operation {
            name, operation, ..
        } => Part::Operation {
            name,
            operation,
            quoted: true,
        },
        Part::Substitution { script, .. } => Part::Substitution {
            script,
            quoted: true,
        },
        part => part,
    }
}

/// The tilde, if followed by these pieces.
fn tilde(behind: &[Atom]) -> Result<Part, Unparsed> {
    match behind.first() {
        None | Some(Atom::Plain('/')) => Ok(Part::Tilde),
        _ => Err(Unparsed::Unsupported("another user's home directory")),
    }
}

pub(super) fn assembled(atoms: &[Atom]) -> Result<Word, Unparsed> {
    refuse_tilde_in_assignment(atoms)?;
    let mut word = Word::default();
    let mut at = 0;
    // If no bracket closes here, no later one does.
    let mut brackets_close = true;
    while let Some(atom) = atoms.get(at) {
        at += 1;
        match atom {
            Atom::Plain('~') if at == 1 => word.parts.push(tilde(&atoms[1..])?),
            Atom::Plain(c @ ('*' | '?')) => push_pattern(&mut word, |text| text.push(*c)),
            Atom::Plain('[') if brackets_close => match bracket_end(atoms, at)? {
                Some(end) => {
                    push_pattern(&mut word, |text| {
                        text.push('[');
                        text.extend(atoms[at..end].iter().filter_map(|atom| match atom {
                            Atom::Plain(c) => Some(*c),
                            _ => None,
                        }));
                    });
                    at = end;
                }
                None => {
                    brackets_close = false;
                    push_char(&mut word, '[');
                }
            },
            Atom::Plain(c) => push_char(&mut word, *c),
            Atom::Quoted(text) => push_literal(&mut word, text),
            Atom::Part(part) => word.parts.push(part.clone()),
        }
    }
    Ok(word)
}

/// Bash expands `~` in `make PREFIX=~/x`, dash does not.
fn refuse_tilde_in_assignment(atoms: &[Atom]) -> Result<(), Unparsed> {
    if !atoms.iter().any(|atom| matches!(atom, Atom::Plain('~'))) {
        return Ok(());
    }
    let mut previous = None;
    let mut name = String::new();
    let mut is_assignment = false;
    for atom in atoms {
        match atom {
            Atom::Plain('~') if is_assignment && matches!(previous, Some('=' | ':')) => {
                return Err(Unparsed::Unsupported("`~` inside a value"));
            }
            Atom::Plain('=') if names::is_name(&name) => is_assignment = true,
            Atom::Plain(c) => name.push(*c),
            _ => {}
        }
        previous = match atom {
            Atom::Plain(c) => Some(*c),
            _ => None,
        };
        if previous.is_none() && !is_assignment {
            return Ok(());
        }
    }
    Ok(())
}

/// The index after the bracket that closes a bracket expression; none if it is not closed, and therefore text.
fn bracket_end(atoms: &[Atom], start: usize) -> Result<Option<usize>, Unparsed> {
    const UNCLEAR: Unparsed =
        Unparsed::Unsupported("a bracket expression with quotes or expansions");
    let plain = |at: usize| match atoms.get(at) {
        Some(Atom::Plain(c)) => Ok(Some(*c)),
        Some(_) => Err(UNCLEAR),
        None => Ok(None),
    };
    if start == atoms.len() {
        return Ok(None);
    }
    let mut at = start;
    if let Ok(Some('!' | '^')) = plain(at) {
        at += 1;
    }
    let closes = |atom: &Atom| matches!(atom, Atom::Plain(']'));
    if !atoms[at..].iter().any(closes) {
        return Ok(None);
    }
    if plain(at)? == Some(']') {
        at += 1;
    }
    loop {
        match plain(at)? {
            Some(']') => return Ok(Some(at + 1)),
            Some('/') => return Err(UNCLEAR),
            Some('[') if matches!(plain(at + 1), Ok(Some(':' | '.' | '='))) => {
                return Err(Unparsed::Unsupported("a named class of characters"));
            }
            Some(_) => at += 1,
            None => return Err(UNCLEAR),
        }
    }
}

fn push_char(word: &mut Word, c: char) {
    match word.parts.last_mut() {
        Some(Part::Literal(text)) => text.push(c),
        _ => word.parts.push(Part::Literal(c.into())),
    }
}

fn push_literal(word: &mut Word, new: &str) {
    match word.parts.last_mut() {
        Some(Part::Literal(text)) => text.push_str(new),
        _ => word.parts.push(Part::Literal(new.into())),
    }
}

fn push_pattern(word: &mut Word, add: impl FnOnce(&mut String)) {
    if !matches!(word.parts.last(), Some(Part::Pattern(_))) {
        word.parts.push(Part::Pattern(String::new()));
    }
    if let Some(Part::Pattern(text)) = word.parts.last_mut() {
        add(text);
    }
}
