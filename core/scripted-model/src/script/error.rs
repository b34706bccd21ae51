//! What is wrong with a script, where, and what to do about it.

use alloc::{borrow::ToOwned, format, string::String};
use core::fmt;

use windlass_core::json::remedy_for;

/// A script that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// The exchange, counted from 1; none when the fault is outside the list.
    pub exchange: Option<usize>,
    /// The field, from the exchange (or the script) downwards: `respond.content[0].name`.
    /// Empty when the text as a whole is meant.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
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

    /// What the JSON reader found, at the path where it was.
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

    /// Puts the path of an outer field before the path.
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

/// `exchanges[3].respond.text` as (3, `respond.text`).
fn split_exchange(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix("exchanges[")?.split_once(']')?;
    Some((index.parse().ok()?, rest.strip_prefix('.').unwrap_or(rest)))
}
