//! Words: quoting, expansions, patterns.

use alloc::{string::String, vec::Vec};

use super::{Reader, assembly::finish, atom::Atom, braces, ends_word};
use crate::{Part, Unparsed, Word, names};

impl<'a> Reader<'a> {
    /// Adds the words that the word at this position expands to.
    pub(super) fn words_into(&mut self, words: &mut Vec<Word>) -> Result<(), Unparsed> {
        if let Some(text) = self.peek_plain() {
            self.at += text.len();
            words.push(Word::literal(text));
            return Ok(());
        }
        let atoms = self.atoms()?;
        finish(atoms, words)
    }

    /// The word at this position if it consists only of characters that are literal everywhere, as most words do.
    pub(super) fn peek_plain(&self) -> Option<&'a str> {
        let rest = self.rest();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
        let end = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
        let (text, behind) = rest.split_at(end);
        let is_whole = behind.chars().next().is_none_or(ends_word);
        (is_whole && !text.is_empty()).then_some(text)
    }

    /// The pieces of the word at this position.
    pub(super) fn atoms(&mut self) -> Result<Vec<Atom>, Unparsed> {
        let mut atoms = Vec::new();
        while let Some(c) = self.peek() {
            if ends_word(c) {
                break;
            }
            self.next();
            match c {
                '\\' => match self.peek() {
                    None => return Err(Unparsed::Unclosed),
                    Some('\n') => {
                        return Err(Unparsed::Unsupported(
                            "a line joined in the middle of a word",
                        ));
                    }
                    Some(c) => {
                        self.next();
                        atoms.push(Atom::Quoted(c.into()));
                    }
                },
                '\'' => {
                    let text = self.single_quoted()?;
                    atoms.push(Atom::Quoted(text));
                }
                '"' => self.double_quoted(&mut atoms)?,
                '$' => self.dollar(&mut atoms, false)?,
                '`' => self.backquoted(&mut atoms, false)?,
                c if c.is_control() => return Err(Unparsed::Unsupported("a control character")),
                c => atoms.push(Atom::Plain(c)),
            }
        }
        if !self.is_bash && braces::may_expand(&atoms) {
            self.only_bash()?;
        }
        // `{fd}>file` would allocate a descriptor.
        if matches!(self.peek(), Some('<' | '>'))
            && atoms.iter().any(|atom| matches!(atom, Atom::Plain('{')))
        {
            return Err(Unparsed::Unsupported("a descriptor in a variable"));
        }
        Ok(atoms)
    }

    /// A line end inside quotes, which must not be the one after which here-documents begin.
    pub(super) fn quoted_line_end(&self) -> Result<(), Unparsed> {
        match self.bodies {
            Some(_) => Err(Unparsed::Unsupported(
                "a here-document whose line ends inside something else",
            )),
            None => Ok(()),
        }
    }

    fn single_quoted(&mut self) -> Result<String, Unparsed> {
        let rest = self.rest();
        let text = &rest[..rest.find('\'').ok_or(Unparsed::Unclosed)?];
        if text.contains('\n') {
            self.quoted_line_end()?;
        }
        self.at += text.len() + 1;
        self.count_lines(text);
        Ok(text.into())
    }

    fn double_quoted(&mut self, atoms: &mut Vec<Atom>) -> Result<(), Unparsed> {
        let mut text = String::new();
        // Even without content it makes a word.
        let mut is_empty = true;
        loop {
            match self.next() {
                Some('"') => {
                    if is_empty || !text.is_empty() {
                        atoms.push(Atom::Quoted(text));
                    }
                    return Ok(());
                }
                Some('\\') => match self.next() {
                    Some('\n') => {
                        return Err(Unparsed::Unsupported("a line joined inside quotes"));
                    }
                    Some(c @ ('$' | '`' | '"' | '\\')) => text.push(c),
                    Some(c) => {
                        text.push('\\');
                        text.push(c);
                    }
                    None => return Err(Unparsed::Unclosed),
                },
                Some(c @ ('$' | '`')) => {
                    if !text.is_empty() {
                        atoms.push(Atom::Quoted(core::mem::take(&mut text)));
                    }
                    let before = atoms.len();
                    match c {
                        '$' => self.dollar(atoms, true)?,
                        _ => self.backquoted(atoms, true)?,
                    }
                    is_empty &= atoms.len() == before;
                    continue;
                }
                Some(c) => {
                    if c == '\n' {
                        self.quoted_line_end()?;
                    }
                    text.push(c);
                }
                None => return Err(Unparsed::Unclosed),
            }
            is_empty = false;
        }
    }

    /// The expansion after a dollar sign, which is already consumed.
    pub(super) fn dollar(&mut self, atoms: &mut Vec<Atom>, quoted: bool) -> Result<(), Unparsed> {
        let Some(c) = self.peek() else {
            atoms.push(Atom::Quoted("$".into()));
            return Ok(());
        };
        let part = match c {
            '(' => return self.substitution(atoms, quoted),
            '{' => {
                self.next();
                self.parameter(quoted)?
            }
            c if c.is_ascii_alphabetic() || c == '_' => Part::Variable {
                name: self.variable_name()?,
                quoted,
            },
            '?' => {
                self.next();
                self.met.status = true;
                Part::Status
            }
            '\'' if !quoted => {
                self.only_bash()?;
                self.next();
                let text = self.escaped_text()?;
                atoms.push(Atom::Quoted(text));
                return Ok(());
            }
            '"' if !quoted => return Err(Unparsed::Unsupported("`$\"…\"`")),
            '[' => return Err(Unparsed::Unsupported("arithmetic")),
            '@' | '*' | '#' | '$' | '!' | '-' | '0'..='9' => {
                return Err(Unparsed::Unsupported("a special parameter"));
            }
            '\\' if self.peek_second() == Some('\n') => {
                return Err(Unparsed::Unsupported("a line joined behind `$`"));
            }
            _ => {
                atoms.push(Atom::Quoted("$".into()));
                return Ok(());
            }
        };
        atoms.push(Atom::Part(part));
        Ok(())
    }

    pub(super) fn variable_name(&mut self) -> Result<String, Unparsed> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        if !names::is_name(name) {
            return Err(Unparsed::Unsupported("`${…}` with more than a name"));
        }
        if names::is_made_by_the_shell(name) {
            return Err(Unparsed::Unsupported("a variable of the shell itself"));
        }
        self.at += name.len();
        Ok(name.into())
    }

    /// `$((…))`, after its dollar sign: a number.
    pub(super) fn arithmetic(&mut self, atoms: &mut Vec<Atom>) -> Result<(), Unparsed> {
        const UNCLEAR: Unparsed = Unparsed::Unsupported("arithmetic with more than numbers");
        let rest = &self.rest()["((".len()..];
        let expression = &rest[..rest.find("))").ok_or(UNCLEAR)?];
        // A parenthesis of the expression itself may precede the two that close it.
        let brackets = rest[expression.len()..]
            .bytes()
            .take_while(|b| *b == b')')
            .count();
        let expression = &rest[..expression.len() + brackets - 2];
        let result = super::arithmetic::result(expression).ok_or(UNCLEAR)?;
        self.at += expression.len() + "(())".len();
        atoms.push(Atom::Quoted(result));
        Ok(())
    }

    /// `$'…'`, after its opening: a text with escapes, of which those are supported that all shells treat alike.
    fn escaped_text(&mut self) -> Result<String, Unparsed> {
        let mut text = String::new();
        loop {
            match self.next().ok_or(Unparsed::Unclosed)? {
                '\'' => return Ok(text),
                '\\' => text.push(match self.next().ok_or(Unparsed::Unclosed)? {
                    'n' => '\n',
                    't' => '\t',
                    'e' | 'E' => '\u{1b}',
                    c @ ('\\' | '\'' | '"') => c,
                    _ => return Err(Unparsed::Unsupported("an escape in `$'…'`")),
                }),
                c => {
                    if c == '\n' {
                        self.quoted_line_end()?;
                    }
                    text.push(c);
                }
            }
        }
    }

    pub(super) fn count_lines(&mut self, text: &str) {
        let lines = text.bytes().filter(|b| *b == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }
}
