//! Values against JSON Schema (2020-12, and draft-07 as its users write it): inputs of tools, structured
//! output.
//!
//! All that constrains a value is checked: types, values, bounds, patterns, objects, arrays, combinations,
//! conditions, `unevaluated…`, references within the schema (by pointer, `$anchor`, `$id`). Of formats
//! those are checked that are cheap and strictly defined; the others are remarks. Not followed are
//! references to other documents: such a schema is refused when it is read, like any that is malformed.
//!
//! The faults of a value are written for the model that has to correct it: all of them, up to a limit,
//! each with its place, what is there and what would be right.
//!
//! ```
//! use windlass_core::{RawJson, schema::Schema};
//!
//! let schema = Schema::read(&RawJson::parse(r#"{"type": "object", "required": ["city", "days"]}"#)?)?;
//! let faults = schema.validate(&RawJson::parse(r#"{"city": "Oslo"}"#)?).unwrap_err();
//! assert_eq!(faults.to_string(), "the input lacks the required field `days`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assertion;
mod check;
mod fault;
mod format;
mod named;
mod read;
mod value;

use alloc::{borrow::ToOwned, string::String};

use serde_json::Value;

pub use self::fault::{SchemaFault, SchemaFaults};
use self::named::Named;
use crate::{json::RawJson, pattern::Pattern};

/// A schema that has been read and found to be one.
#[derive(Debug, Clone)]
pub struct Schema {
    /// As it was written, but for references: these are pointers from the root.
    root: Value,
    /// Every pattern of the schema, ready.
    patterns: Named<Pattern>,
    /// Up to draft-07 a reference stands alone: what is beside it does not count.
    reference_stands_alone: bool,
    /// Some part asks what other parts have looked at.
    has_unevaluated: bool,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// [`SchemaError`] with the place: a keyword with a value it cannot have, a pattern that is none, a
    /// reference that leads nowhere, to another document, or for ever in a circle.
    pub fn read(text: &RawJson) -> Result<Self, SchemaError> {
        read::read(text)
    }

    /// Whether the schema says that its values are objects, and at its very top.
    #[must_use]
    pub fn is_of_objects(&self) -> bool {
        self.root.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Checks a value.
    ///
    /// # Errors
    /// [`SchemaFaults`], all that does not fit.
    pub fn validate(&self, value: &RawJson) -> Result<(), SchemaFaults> {
        let value = crate::json::read::tree(value.get()).map_err(|error| {
            SchemaFaults::one("the input", &alloc::format!("cannot be read: {error}"))
        })?;
        check::check(self, &value)
    }
}

/// Reads a schema and checks a value against it.
///
/// # Errors
/// [`SchemaFaults`]; a schema that is none lets nothing pass, and the fault says so.
pub fn validate(schema: &RawJson, value: &RawJson) -> Result<(), SchemaFaults> {
    Schema::read(schema)
        .map_err(|error| SchemaFaults::one("the schema", &alloc::format!("is unusable: {error}")))?
        .validate(value)
}

/// Text that is no schema.
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
