//! Values against JSON Schema (2020-12, and draft-07 as its users write it): inputs of tools, structured
//! output.
//!
//! All that constrains a value is checked: types, values, bounds, patterns, objects, arrays, combinations,
//! conditions, `unevaluated…`, references within the schema (by pointer, `$anchor`, `$id`). Of formats
//! those are checked that are cheap and strictly defined ([`FORMATS`]), and in draft-07 the content `base64` and
//! `application/json` of texts; the others are remarks, as are keywords that no draft knows. Not followed are references to other documents, and `$dynamicRef` only where there is one schema
//! it can mean: any other schema is refused when it is read, like any that is malformed or of another dialect.
//!
//! Numbers are exact at every size, as they are written: 9007199254740993 is more than 9007199254740992, 1.0 is an
//! integer, 0.3 is a multiple of 0.1, and 1e308 of 0.5.
//!
//! The faults of a value are written for the model that has to correct it: all of them, up to a limit,
//! each with its place, what is there and what would be right.
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

/// A schema that has been read and found to be one.
#[derive(Debug, Clone)]
pub struct Schema {
    /// As it was written, but for references: these are pointers from the root.
    root: Value,
    /// Every pattern of the schema, ready.
    patterns: Named<Pattern>,
    draft: Draft,
    /// Some part asks what other parts have looked at.
    has_unevaluated: bool,
    /// `format` is checked, and in draft-07 what a text holds.
    checks_formats: bool,
}

impl Schema {
    /// Reads a schema, at most one mebibyte of JSON. One without `$schema` is of draft 2020-12, and
    /// [`Draft::Draft7`] is what `$schema` says of draft-04, draft-06 and draft-07.
    ///
    /// # Errors
    /// [`SchemaError`] with the place: a keyword with a value it cannot have, a pattern that is none, a
    /// reference that leads nowhere, to another document, or for ever in a circle, a dialect that is not known.
    pub fn read(text: &str) -> Result<Self, SchemaError> {
        read::read(text, Draft::default())
    }

    /// Reads a schema that is of this draft unless its `$schema` says otherwise.
    ///
    /// # Errors
    /// [`SchemaError`], as [`read`](Self::read).
    pub fn read_as(text: &str, draft: Draft) -> Result<Self, SchemaError> {
        read::read(text, draft)
    }

    /// The same schema with `format` as a remark, which is what JSON Schema makes of it by itself (2020-12
    /// Validation, section 7.2.1), and in draft-07 `contentEncoding` and `contentMediaType` as well (there, sections 7 and
    /// 8). Whoever asks for a date mostly wants one, so it is not what is done by default.
    #[must_use]
    pub fn without_formats(mut self) -> Self {
        self.checks_formats = false;
        self
    }

    /// Whether the schema says that its values are objects, and at its very top.
    #[must_use]
    pub fn is_of_objects(&self) -> bool {
        self.root.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Checks a value, given as its JSON text.
    ///
    /// # Errors
    /// [`SchemaFaults`], all that does not fit; also for text that is no JSON or is nested more than 127 deep, and
    /// for a value that fits the schema in so many ways that trying them all would take seconds.
    pub fn validate(&self, value: &str) -> Result<(), SchemaFaults> {
        let value = json::read(value).map_err(|error| {
            SchemaFaults::one("the input", &alloc::format!("cannot be read: {error}"))
        })?;
        check::check(self, &value)
    }
}

/// Reads a schema and checks a value against it, both given as JSON texts.
///
/// # Errors
/// [`SchemaFaults`]; a schema that is none lets nothing pass, and the fault says so.
pub fn validate(schema: &str, value: &str) -> Result<(), SchemaFaults> {
    Schema::read(schema)
        .map_err(|error| SchemaFaults::one("the schema", &alloc::format!("is unusable: {error}")))?
        .validate(value)
}

/// Text that is no schema, or none that can be evaluated here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {place}: {problem}")]
pub struct SchemaError {
    /// Where in the schema: a JSON pointer (`#/properties/size/minimum`).
    pub place: String,
    /// What is wrong there, and what would be right.
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
