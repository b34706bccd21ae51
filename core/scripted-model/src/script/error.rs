//! Errors in scripts: what is wrong, where, and how to fix it.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt;

use windlass_core::json::remedy_for;

/// An invalid script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// The exchange, counted from 1; none if the error is outside the list.
    pub exchange: Option<usize>,
    /// The field, as a path from the exchange (or the script): `respond.content[0].name`. Empty for the text as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// How to fix it.
    pub remedy: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("script")?;
        if let Some(number) = self.exchange {
            write!(f, ", exchange {number}")?;
        }
        if !self.path.is_empty() {
            write!(f, ", field `{}`", self.path)?;
        }
        write!(f, ": {}; {}", self.problem, self.remedy)
    }
}

impl ScriptError {
    pub(super) fn new(path: &str, problem: &str, remedy: &str) -> Self {
        Self {
            exchange: None,
            path: path.to_owned(),
            problem: problem.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    /// An error of the JSON parser, with its path.
    pub(super) fn from_reader(path: &str, problem: &str) -> Self {
        let remedy = remedy_for(problem);
        let error = Self::new(path, problem, remedy);
        match split_exchange(path) {
            Some((index, rest)) => Self {
                path: rest.to_owned(),
                ..error.in_exchange(index)
            },
            None => error,
        }
    }

    /// Prepends an outer field to the path.
    pub(super) fn below(mut self, field: &str) -> Self {
        self.path = match self.path.as_str() {
            "" => field.to_owned(),
            path if path.starts_with('[') => format!("{field}{path}"),
            path => format!("{field}.{path}"),
        };
        self
    }

    pub(super) fn in_exchange(mut self, index: usize) -> Self {
        self.exchange = Some(index + 1);
        self
    }
}

/// Splits `exchanges[3].respond.text` into (3, `respond.text`).
fn split_exchange(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix("exchanges[")?.split_once(']')?;
    Some((index.parse().ok()?, rest.strip_prefix('.').unwrap_or(rest)))
}
