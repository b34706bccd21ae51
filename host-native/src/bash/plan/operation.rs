//! Operations on the value of a variable.

use std::os::unix::ffi::OsStrExt as _;

use windlass_shell::{Operation, Part, Word};

use super::{
    glob,
    locale::Locale,
    pattern::{self, Pattern},
    shell::Shell,
};

impl Shell<'_> {
    /// The value of a variable after an operation.
    pub(super) fn operated(&self, name: &str, operation: &Operation) -> Vec<u8> {
        let value = self.variables.get(name).map(|value| value.as_bytes());
        let counts = |or_empty: bool| value.is_some_and(|value| !(or_empty && value.is_empty()));
        let held = value.unwrap_or_default();
        match operation {
            Operation::Length => {
                let locale = Locale::of(&self.variables);
                Characters::of(held, locale)
                    .codes
                    .len()
                    .to_string()
                    .into_bytes()
            }
            Operation::Default { or_empty, text } => match counts(*or_empty) {
                true => held.to_vec(),
                false => text.clone().into_bytes(),
            },
            Operation::Alternative { or_empty, text } => match counts(*or_empty) {
                true => text.clone().into_bytes(),
                false => Vec::new(),
            },
            Operation::RemovePrefix { longest, pattern } => {
                self.without(held, pattern, *longest, Side::Beginning)
            }
            Operation::RemoveSuffix { longest, pattern } => {
                self.without(held, pattern, *longest, Side::End)
            }
        }
    }

    /// Whether a pattern matches the whole text.
    pub(super) fn matches(&self, text: &[u8], pattern: &Word) -> bool {
        let locale = Locale::of(&self.variables);
        read(pattern, locale).matches(&Characters::of(text, locale).codes)
    }

    /// Removes the part that a pattern matches from one end of a value.
    fn without(&self, value: &[u8], pattern: &Word, longest: bool, side: Side) -> Vec<u8> {
        let locale = Locale::of(&self.variables);
        let mut characters = Characters::of(value, locale);
        let mut pattern = read(pattern, locale);
        if let Side::End = side {
            characters.codes.reverse();
            pattern = pattern.reversed();
        }
        // Computed in a single pass, since a value can be long.
        let ends = pattern.prefixes(&characters.codes);
        let taken = match longest {
            true => ends.iter().rposition(|end| *end),
            false => ends.iter().position(|end| *end),
        };
        let taken = taken.unwrap_or(0);
        match side {
            Side::Beginning => value[characters.begins[taken]..].to_vec(),
            Side::End => {
                let kept = characters.codes.len() - taken;
                value[..characters.begins[kept]].to_vec()
            }
        }
    }
}

/// The end from which text is removed.
#[derive(Clone, Copy)]
enum Side {
    Beginning,
    End,
}

/// A text as characters of its locale.
struct Characters {
    codes: Vec<u32>,
    /// The offset of each character, and of the end.
    begins: Vec<usize>,
}

impl Characters {
    fn of(text: &[u8], locale: Locale) -> Self {
        match (glob::characters(text, locale), std::str::from_utf8(text)) {
            (Some(codes), Ok(valid)) => {
                let begins = valid.char_indices().map(|(at, _)| at);
                Self {
                    codes,
                    begins: begins.chain([text.len()]).collect(),
                }
            }
            _ => Self {
                codes: glob::as_bytes(text),
                begins: (0..=text.len()).collect(),
            },
        }
    }
}

fn read(pattern: &Word, locale: Locale) -> Pattern {
    let mut text = Vec::new();
    for part in &pattern.parts {
        match part {
            Part::Pattern(live) => text.extend_from_slice(live.as_bytes()),
            Part::Literal(literal) => pattern::escape(literal.as_bytes(), &mut text),
            // The pattern of an operation has no other parts.
            _ => {}
        }
    }
    Pattern::read(&Characters::of(&text, locale).codes)
}
