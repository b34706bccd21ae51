//! Errors of reading and writing JSON.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
};
use core::fmt;

use serde::{
    de::{self, Expected, Unexpected},
    ser,
};

use super::{number, string};

/// A text that is not JSON, or not of the expected type; a value that JSON cannot represent. One pointer in size, since it is
/// part of the result of every reader and writer.
#[derive(Debug)]
pub(crate) struct Fault(Box<Reason>);

#[derive(Debug)]
struct Reason {
    /// The reason, with line and column once they are known.
    text: String,
    placed: bool,
    cut: bool,
}

impl Fault {
    /// An error in the text itself; `cut` if the text ends too early.
    pub(super) fn in_text(reason: impl Into<String>, cut: bool) -> Self {
        Self(Box::new(Reason {
            text: reason.into(),
            placed: false,
            cut,
        }))
    }

    /// Whether the text is the beginning of a JSON value.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.cut
    }

    /// Adds the position, if there is none yet: after this many bytes of the text, or at the next ones.
    pub(super) fn at(mut self, text: &str, bytes: usize, next: usize) -> Self {
        if !core::mem::replace(&mut self.0.placed, true) {
            let before = text.as_bytes().get(..bytes).unwrap_or(text.as_bytes());
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            let last = before.iter().rev().take_while(|byte| **byte != b'\n');
            let column = last.count() + next;
            self.0.text += &format!(" at line {line} column {column}");
        }
        self
    }
}

/// How to fix JSON that a reader refused for this reason.
#[must_use]
pub fn remedy_for(reason: &str) -> &'static str {
    known_remedy(reason).unwrap_or("correct the JSON there")
}

/// The same; none if the reason does not say what kind of error it is.
pub(crate) fn known_remedy(reason: &str) -> Option<&'static str> {
    Some(
        if reason.starts_with("unknown field") || reason.contains("unknown variant") {
            "use one of the names listed"
        } else if reason.starts_with("missing field") {
            "add the field"
        } else if reason.starts_with("duplicate field") {
            "leave one of the two out"
        } else if reason.starts_with("invalid type") || reason.starts_with("invalid value") {
            "write the value in the form that is expected there"
        } else {
            return None;
        },
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl core::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        let reason = reason.to_string();
        // An error in a text within the text already has its position.
        let placed = has_place(&reason);
        Self(Box::new(Reason {
            text: reason,
            placed,
            cut: false,
        }))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        unexpected("type", found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        unexpected("value", found, expected)
    }
}

impl ser::Error for Fault {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        de::Error::custom(reason)
    }
}

fn unexpected(what: &str, found: Unexpected<'_>, expected: &dyn Expected) -> Fault {
    Fault::in_text(
        format!("invalid {what}: {}, expected {expected}", Found(found)),
        false,
    )
}

/// The unexpected value, in words. Serde's own description would pull in another number formatter.
struct Found<'a>(Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Bool(value) => write!(f, "boolean `{value}`"),
            Unexpected::Unsigned(value) => write!(f, "integer `{value}`"),
            Unexpected::Signed(value) => write!(f, "integer `{value}`"),
            Unexpected::Float(value) => {
                let mut text = String::new();
                match value.is_finite() {
                    true => number::write(value, &mut text),
                    false => text.push_str("null"),
                }
                write!(f, "floating point `{text}`")
            }
            Unexpected::Char(value) => write!(f, "character `{value}`"),
            Unexpected::Str(value) => {
                let mut text = String::new();
                string::write(value, &mut text);
                write!(f, "string {text}")
            }
            Unexpected::Unit => f.write_str("null"),
            Unexpected::Seq => f.write_str("sequence"),
            Unexpected::Map => f.write_str("map"),
            Unexpected::UnitVariant => f.write_str("unit variant"),
            Unexpected::Other(value) => f.write_str(value),
            // These do not occur in JSON.
            _ => f.write_str("another kind of value"),
        }
    }
}

/// Whether a reason ends in a position.
fn has_place(reason: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut words = reason.rsplit(' ');
    let mut ends_in = |is: &dyn Fn(&str) -> bool| words.next().is_some_and(is);
    ends_in(&number)
        && ends_in(&|word| word == "column")
        && ends_in(&number)
        && ends_in(&|word| word == "line")
        && ends_in(&|word| word == "at")
}
