//! JSON values with the equality of JSON Schema: 1 and 1.0 are equal, and the order of fields does not matter.

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{named::Named, number::Number};

/// The fields of an object.
pub(crate) type Object = Named<Value>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Value>),
    Object(Box<Object>),
}

impl Value {
    /// The JSON name of its type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Whether it is of this type; none for an unknown type.
    pub(crate) fn is_type(&self, name: &str) -> Option<bool> {
        Some(match name {
            "object" | "array" | "string" | "boolean" | "null" | "number" => {
                self.type_name() == name
            }
            "integer" => self.as_number().is_some_and(Number::is_integer),
            _ => return None,
        })
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// A count, which may be written as 3.0.
    pub(crate) fn as_count(&self) -> Option<u64> {
        self.as_number()?.as_count()
    }

    /// A field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The strings in an array.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let items = self.as_array().into_iter().flatten();
        items.filter_map(Self::as_str)
    }

    /// The value that a JSON pointer (RFC 6901) refers to.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Self> {
        let mut value = self;
        for step in steps(pointer)? {
            value = match value {
                Self::Object(fields) => fields.get(&unescaped(step))?,
                Self::Array(items) => items.get(index(step)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// The same, mutable.
    pub(crate) fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        let mut value = self;
        for step in steps(pointer)? {
            value = match value {
                Self::Object(fields) => fields.get_mut(&unescaped(step))?,
                Self::Array(items) => items.get_mut(index(step)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Writes it as JSON, with numbers as written.
    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(number) => out.push_str(number.as_str()),
            Self::String(text) => write_string(text, out),
            Self::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (i, (name, field)) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(name, out);
                    out.push(':');
                    field.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// The segments of a JSON pointer.
fn steps(pointer: &str) -> Option<impl Iterator<Item = &str>> {
    let below = match pointer.strip_prefix('/') {
        Some(below) => Some(below),
        None if pointer.is_empty() => None,
        None => return None,
    };
    Some(below.into_iter().flat_map(|below| below.split('/')))
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// An array index without leading zeros and sign.
fn index(step: &str) -> Option<usize> {
    let is_written_so = step == "0" || !step.starts_with(['0', '+']);
    is_written_so.then(|| step.parse().ok())?
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        let escaped = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\0'..='\u{1f}' => {
                // Writing to memory cannot fail.
                let written = write!(out, "\\u{:04x}", u32::from(c));
                debug_assert!(written.is_ok());
                continue;
            }
            c => {
                out.push(c);
                continue;
            }
        };
        out.push_str(escaped);
    }
    out.push('"');
}

/// The value in the form used in a sentence.
pub(crate) fn short(value: &Value) -> String {
    const LONGEST: usize = 120;
    let mut text = String::new();
    value.write(&mut text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => [&text[..end], "…"].concat(),
        None => text,
    }
}

/// A string value.
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}
