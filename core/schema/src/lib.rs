//! Validates values against JSON Schema (2020-12, and draft-07 as it is used in practice): inputs of tools, structured output.
//!
//! All assertions are checked: types, values, bounds, patterns, objects, arrays, combinations, conditions, `unevaluated…`,
//! references within the schema (by pointer, `$anchor`, `$id`). Formats that are strictly defined and cheap to check are checked
//! ([`FORMATS`]), and in draft-07 the content `base64` and `application/json` of texts; other formats are annotations, and so are
//! unknown keywords. References to other documents are not supported, and `$dynamicRef` only if there is just one schema it can
//! refer to. Any other schema is refused when it is read, and so are malformed schemas and unknown dialects.
//!
//! Numbers are exact at every size, as written: 9007199254740993 is more than 9007199254740992, 1.0 is an integer, 0.3 is a
//! multiple of 0.1, and 1e308 of 0.5.
//!
//! The errors of a value are worded for the model that has to correct it: all of them, up to a limit, each with its place, what
//! was found and what would be valid.
//!
//! ```
//! use windlass_schema::Schema;
//!
//! let schema = Schema::read(r#"{"type": "object", "required": ["city", "days"]}"#)?;
//! let faults = schema.validate(r#"{"city": "Oslo"}"#).unwrap_err();
//! assert_eq!(faults.to_string(), "the input lacks the required field `days`");
//! # Ok::<(), windlass_schema::SchemaError>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

extern crate alloc;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod check;
mod draft;
mod fault;
mod format;
mod json;
mod named;
mod number;
pub mod pattern;
mod read;
mod value;

use alloc::{borrow::ToOwned, string::String};

pub use self::{
    draft::Draft,
    fault::{SchemaFault, SchemaFaults},
    format::FORMATS,
};
use self::{named::Named, pattern::Pattern, value::Value};

/// A schema that was read and is valid.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The schema as written, except that references are replaced by pointers from the root.
    root: Value,
    /// Every pattern of the schema, compiled.
    patterns: Named<Pattern>,
    draft: Draft,
    /// Whether any part uses `unevaluatedProperties` or `unevaluatedItems`.
    has_unevaluated: bool,
    /// Whether `format` is checked, and in draft-07 encoded content.
    checks_formats: bool,
}

impl Schema {
    /// Reads a schema of at most one mebibyte of JSON. Without `$schema` it is treated as draft 2020-12; [`Draft::Draft7`] is
    /// used if `$schema` says draft-04, draft-06 or draft-07.
    ///
    /// # Errors
    /// [`SchemaError`] with the place: a keyword with an invalid value, an invalid pattern, a reference that leads nowhere, to
    /// another document, or in a circle, an unknown dialect.
    pub fn read(text: &str) -> Result<Self, SchemaError> {
        read::read(text, Draft::default())
    }

    /// Reads a schema of this draft, unless its `$schema` says otherwise.
    ///
    /// # Errors
    /// [`SchemaError`], as for [`read`](Self::read).
    pub fn read_as(text: &str, draft: Draft) -> Result<Self, SchemaError> {
        read::read(text, draft)
    }

    /// The same schema with `format` as an annotation, which is the default in JSON Schema (2020-12 Validation, section 7.2.1),
    /// and in draft-07 `contentEncoding` and `contentMediaType` as well (there, sections 7 and 8). Not the default here, because
    /// a schema that asks for a date usually requires one.
    #[must_use]
    pub fn without_formats(mut self) -> Self {
        self.checks_formats = false;
        self
    }

    /// Whether the schema requires at its top level that values are objects.
    #[must_use]
    pub fn is_of_objects(&self) -> bool {
        self.root.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Validates a value, given as JSON text.
    ///
    /// # Errors
    /// [`SchemaFaults`], all errors. Also for a text that is not JSON or is nested more than 127 levels deep, and for a value
    /// that matches the schema in so many ways that trying all of them would take seconds.
    pub fn validate(&self, value: &str) -> Result<(), SchemaFaults> {
        let value = json::read(value).map_err(|error| {
            SchemaFaults::one("the input", &alloc::format!("cannot be read: {error}"))
        })?;
        check::check(self, &value)
    }
}

/// Reads a schema and validates a value against it, both given as JSON text.
///
/// # Errors
/// [`SchemaFaults`]; an invalid schema accepts nothing, and the error says so.
pub fn validate(schema: &str, value: &str) -> Result<(), SchemaFaults> {
    Schema::read(schema)
        .map_err(|error| SchemaFaults::one("the schema", &alloc::format!("is unusable: {error}")))?
        .validate(value)
}

/// The text is not a schema, or not one that is supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {place}: {problem}")]
pub struct SchemaError {
    /// The place in the schema: a JSON pointer (`#/properties/size/minimum`).
    pub place: String,
    /// What is wrong there, and what would be valid.
    pub problem: String,
}

impl SchemaError {
    fn new(pointer: &str, problem: &str) -> Self {
        Self {
            place: alloc::format!("#{pointer}"),
            problem: problem.to_owned(),
        }
    }
}
