//! `${…}`: a variable, and operations on its value.

use alloc::string::String;

use super::Reader;
use crate::{Operation, Part, Unparsed, Word};

const UNCLEAR: Unparsed = Unparsed::Unsupported("`${…}` with more than a name and a plain text");

impl Reader<'_> {
    /// A variable in braces, after the opening one.
    pub(super) fn parameter(&mut self, quoted: bool) -> Result<Part, Unparsed> {
        if self.take("#") {
            let name = self.variable_name()?;
            return self.operation(name, Operation::Length, quoted);
        }
        let name = self.variable_name()?;
        if self.take("}") {
            return Ok(Part::Variable { name, quoted });
        }
        let or_empty = self.take(":");
        let operation = match self.next() {
            Some('-') => Operation::Default {
                or_empty,
                text: self.plain_text()?,
            },
            Some('+') => Operation::Alternative {
                or_empty,
                text: self.plain_text()?,
            },
            Some('#') if !or_empty => Operation::RemovePrefix {
                longest: self.take("#"),
                pattern: self.pattern()?,
            },
            Some('%') if !or_empty => Operation::RemoveSuffix {
                longest: self.take("%"),
                pattern: self.pattern()?,
            },
            _ => return Err(UNCLEAR),
        };
        self.operation(name, operation, quoted)
    }

    fn operation(
        &mut self,
        name: String,
        operation: Operation,
        quoted: bool,
    ) -> Result<Part, Unparsed> {
        match self.take("}") {
            true => Ok(Part::Operation {
                name,
                operation,
                quoted,
            }),
            false => Err(UNCLEAR),
        }
    }

    /// The text up to the closing brace, without quotes, expansions and patterns.
    fn plain_text(&mut self) -> Result<String, Unparsed> {
        let text = self.up_to_brace();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./:@%+,=".contains(c);
        match text.chars().all(is_plain) {
            true => Ok(text.into()),
            false => Err(UNCLEAR),
        }
    }

    fn pattern(&mut self) -> Result<Word, Unparsed> {
        let text = self.up_to_brace();
        let mut word = Word::default();
        for c in text.chars() {
            match (c, word.parts.last_mut()) {
                ('*' | '?', Some(Part::Pattern(text))) => text.push(c),
                ('*' | '?', _) => word.parts.push(Part::Pattern(c.into())),
                (c, last) if c.is_ascii_alphanumeric() || "_-./:@+,=".contains(c) => match last {
                    Some(Part::Literal(text)) => text.push(c),
                    _ => word.parts.push(Part::Literal(c.into())),
                },
                _ => return Err(UNCLEAR),
            }
        }
        match word.parts.is_empty() {
            true => Err(UNCLEAR),
            false => Ok(word),
        }
    }

    /// Consumes and returns the text before the next closing brace.
    fn up_to_brace(&mut self) -> &str {
        let rest = self.rest();
        let text = &rest[..rest.find('}').unwrap_or(rest.len())];
        self.at += text.len();
        text
    }
}
