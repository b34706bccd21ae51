//! What a command of `windlass plugin` prints.
//!
//! Components and folders are somebody else's: their names, versions, descriptions and faults may hold what acts on a terminal or looks
//! like a line of this program. All that these commands print goes through here.

use std::borrow::Cow;

use serde_json::Value;

use crate::cli::plain::{clean, clean_json, one_line};

/// The text of a command, which does nothing to a terminal.
#[derive(Debug, Default)]
pub(super) struct Report(String);

impl Report {
    /// Adds a line. Line ends in it are blanks.
    pub(super) fn line(&mut self, text: &str) {
        self.0.push_str(&one_line(text));
        self.0.push('\n');
    }

    /// Adds a line with a label before it, below a title.
    pub(super) fn labelled(&mut self, label: &str, text: &str) {
        self.0
            .push_str(&format!("  {label:<9} {}\n", one_line(text)));
    }

    /// A line of JSON.
    pub(super) fn of_json(value: &Value) -> Self {
        Self(format!("{}\n", clean_json(&value.to_string())))
    }

    /// Lines of JSON that were written already.
    pub(super) fn of_json_text(text: &str) -> Self {
        Self(clean_json(text).into_owned())
    }

    /// The lines of both.
    pub(super) fn with(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lines each of which has one line of somebody else in it at most ([`one_line`]).
impl From<String> for Report {
    fn from(text: String) -> Self {
        match clean(&text) {
            Cow::Borrowed(_) => Self(text),
            Cow::Owned(clean) => Self(clean),
        }
    }
}
