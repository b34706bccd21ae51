//! A text of settings, and where in it each key stands: whoever complains of something in it names line and key.

mod place;

use std::{fmt, sync::Arc};

use serde::de::DeserializeOwned;
use windlass_core::RawJson;

pub use self::place::Step;
use self::place::{Place, innermost, of_key};

/// How deep settings may nest.
pub(super) const MAX_DEPTH: usize = 100;

/// The longest key that is told, in characters.
const MAX_KEY: usize = 200;

/// A JSON object as it stands in a file or an option.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsText {
    /// Line ends and all.
    text: Arc<str>,
    raw: RawJson,
}

/// What is wrong in a text of settings, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}{key}: {problem}", Column(*column))]
pub struct SettingsFault {
    /// The line, from 1.
    pub line: usize,
    /// The column, where the text is no JSON from there on.
    pub column: Option<usize>,
    /// The key, such as `permissions.deny[0]`, that is concerned or that stands last before the fault.
    pub key: FaultKey,
    /// What is wrong.
    pub problem: String,
}

/// The key that a fault names; none for the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultKey(pub String);

impl SettingsText {
    /// Takes a text. An empty one says nothing; a byte order mark is none of it.
    ///
    /// # Errors
    /// [`SettingsFault`] if it is no JSON object, or one that is nested too deep.
    pub fn read(text: &str) -> Result<Self, SettingsFault> {
        let text = text.trim_start_matches('\u{feff}');
        let text = if text.trim().is_empty() { "{}" } else { text };
        let raw = RawJson::parse(text).map_err(|error| broken(text, &error.reason))?;
        let read = Self {
            text: text.into(),
            raw,
        };
        if read.raw.depth() > MAX_DEPTH {
            return Err(read.whole(format!("it is nested deeper than {MAX_DEPTH} levels")));
        }
        if !read.raw.is_object() {
            return Err(read.whole("settings are a JSON object".to_owned()));
        }
        Ok(read)
    }

    /// All of it, also what nobody reads.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// What it says. Objects are read from objects only, never from arrays of what would stand in them.
    ///
    /// # Errors
    /// [`SettingsFault`].
    pub(super) fn decode<T: DeserializeOwned>(&self) -> Result<T, SettingsFault> {
        self.raw.decode().map_err(|error| {
            // On one line, the column is how many bytes were read.
            let (problem, _, bytes) = parted(&error.reason);
            let begin = self.text.len() - self.text.trim_start().len();
            fault(
                &self.text,
                innermost(&self.text, begin + bytes),
                in_words(problem),
            )
        })
    }

    /// A complaint about what stands at a key: at the last part of it that is there.
    #[must_use]
    pub fn fault(&self, key: &[Step<'_>], problem: impl Into<String>) -> SettingsFault {
        let place = (0..=key.len())
            .rev()
            .find_map(|length| of_key(&self.text, &key[..length]));
        fault(&self.text, place.unwrap_or_default(), problem.into())
    }

    fn whole(&self, problem: String) -> SettingsFault {
        self.fault(&[], problem)
    }
}

/// A text that is no JSON.
fn broken(text: &str, reason: &str) -> SettingsFault {
    let (problem, line, column) = parted(reason);
    let before: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let last = innermost(text, before + column);
    SettingsFault {
        line,
        column: Some(column),
        ..fault(text, last, problem.to_owned())
    }
}

fn fault(text: &str, place: Place, problem: String) -> SettingsFault {
    let before = text.as_bytes().get(..place.begin).unwrap_or_default();
    // What is no JSON may hold anything, and a terminal would follow it.
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut key: String = place.key.chars().take(MAX_KEY).map(shown).collect();
    if place.key.chars().nth(MAX_KEY).is_some() {
        key.push('…');
    }
    SettingsFault {
        line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        column: None,
        key: FaultKey(key),
        problem,
    }
}

/// What a reader says without the place, the line, and the column.
fn parted(reason: &str) -> (&str, usize, usize) {
    let parts = reason
        .rsplit_once(" at line ")
        .and_then(|(problem, place)| {
            let (line, column) = place.split_once(" column ")?;
            let line: usize = line.parse().ok()?;
            Some((problem, line.max(1), column.parse().ok()?))
        });
    parts.unwrap_or((reason, 1, 0))
}

/// Who writes settings does not know what a type is called.
fn in_words(problem: &str) -> String {
    match problem.split_once(", expected struct ") {
        Some((found, _)) => format!("{found}, expected an object"),
        None => problem.to_owned(),
    }
}

impl fmt::Display for FaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_str() {
            "" => Ok(()),
            key => write!(f, ", `{key}`"),
        }
    }
}

/// Where the text is no JSON the key is the last one that was read.
struct Column(Option<usize>);

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(column) => write!(f, " column {column}, in or behind"),
            None => Ok(()),
        }
    }
}
