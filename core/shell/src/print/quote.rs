//! Quoting of literal text.

use alloc::{format, string::String};

use crate::{Operation, Part, Word};

/// `${NAME…}`. The texts in it consist of characters that need no quotes.
pub(super) fn operation(name: &str, operation: &Operation) -> String {
    let colon = |or_empty: bool| if or_empty { ":" } else { "" };
    match operation {
        Operation::Length => format!("${{#{name}}}"),
        Operation::Default { or_empty, text } => format!("${{{name}{}-{text}}}", colon(*or_empty)),
        Operation::Alternative { or_empty, text } => {
            format!("${{{name}{}+{text}}}", colon(*or_empty))
        }
        Operation::RemovePrefix { longest, pattern } => {
            let sign = if *longest { "##" } else { "#" };
            format!("${{{name}{sign}{}}}", pattern_text(pattern))
        }
        Operation::RemoveSuffix { longest, pattern } => {
            let sign = if *longest { "%%" } else { "%" };
            format!("${{{name}{sign}{}}}", pattern_text(pattern))
        }
    }
}

fn pattern_text(pattern: &Word) -> String {
    let texts = pattern.parts.iter().map(|part| match part {
        Part::Literal(text) | Part::Pattern(text) => text.as_str(),
        _ => "",
    });
    texts.collect()
}

/// A text in single quotes, which a shell takes literally.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("'\\''"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Text in the body of a here-document with expansions.
pub(super) fn escaped_body(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '$' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
