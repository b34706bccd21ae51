//! What is made of the value of a variable.

use windlass_shell::{Operation, Part, Word};

use super::{glob, locale::Locale, pattern, pattern::Pattern, shell::Shell};

use std::os::unix::ffi::OsStrExt as _;

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

    /// A value without what a pattern matches at one of its sides.
    fn without(&self, value: &[u8], pattern: &Word, longest: bool, side: Side) -> Vec<u8> {
        let characters = Characters::of(value, Locale::of(&self.variables));
        let pattern = read(pattern);
        let count = characters.codes.len();
        let mut lengths: Vec<usize> = (0..=count).collect();
        if longest {
            lengths.reverse();
        }
        for length in lengths {
            if self.surroundings.control.is_stopping() {
                break;
            }
            let (taken, kept) = match side {
                Side::Beginning => (0..length, length..count),
                Side::End => (count - length..count, 0..count - length),
            };
            if pattern.matches_text(&characters.codes[taken]) {
                return value[characters.begins[kept.start]..characters.begins[kept.end]].to_vec();
            }
        }
        value.to_vec()
    }
}

/// Where something is taken away.
#[derive(Clone, Copy)]
enum Side {
    Beginning,
    End,
}

/// A text as its locale counts it.
struct Characters {
    codes: Vec<u32>,
    /// Where each begins, and where the text ends.
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

fn read(pattern: &Word) -> Pattern {
    let mut text = Vec::new();
    for part in &pattern.parts {
        match part {
            Part::Pattern(live) => text.extend_from_slice(live.as_bytes()),
            Part::Literal(literal) => pattern::escape(literal.as_bytes(), &mut text),
            _ => {}
        }
    }
    let codes: Vec<u32> = String::from_utf8_lossy(&text)
        .chars()
        .map(u32::from)
        .collect();
    Pattern::read(&codes)
}
