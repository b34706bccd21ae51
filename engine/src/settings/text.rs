//! The text of settings, and the position of each key in it, so that errors can name line and key.

mod place;

use std::{fmt, sync::Arc};

use serde::de::DeserializeOwned;
use windlass_core::RawJson;

pub use self::place::Step;
use self::place::{Place, innermost, of_key};

/// The maximum nesting depth of settings.
pub(super) const MAX_DEPTH: usize = 100;

/// The maximum length of a key in messages, in characters.
const MAX_KEY: usize = 200;

/// A JSON object, as written in a file or an option.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsText {
    /// The original text, including line ends.
    text: Arc<str>,
    raw: RawJson,
}

/// A problem in a text of settings, and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}{key}: {problem}", Column(*column))]
pub struct SettingsFault {
    /// The line, counted from 1.
    pub line: usize,
    /// The column from which on the text is not valid JSON, if that is the problem.
    pub column: Option<usize>,
    /// The key with the problem, such as `permissions.deny[0]`, or the last one before it.
    pub key: FaultKey,
    /// The problem.
    pub problem: String,
}

/// The key that a fault refers to; empty for the whole text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultKey(pub String);

impl SettingsText {
    /// Parses a text. An empty text is an empty object; a byte order mark is skipped.
    ///
    /// # Errors
    /// [`SettingsFault`] if it is not a JSON object, or nested too deeply.
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

    /// The complete JSON, including unsupported keys.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// Decodes the settings. Objects are accepted only as objects, never as arrays of their fields.
    ///
    /// # Errors
    /// [`SettingsFault`].
    pub(super) fn decode<T: DeserializeOwned>(&self) -> Result<T, SettingsFault> {
        self.raw.decode().map_err(|error| {
            // The text is parsed as a single line, so the column is the number of bytes read.
            let (problem, _, bytes) = parted(&error.reason);
            let begin = self.text.len() - self.text.trim_start().len();
            fault(
                &self.text,
                innermost(&self.text, begin + bytes),
                in_words(problem),
            )
        })
    }

    /// A fault at a key, or at the last part of its path that exists.
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

/// The fault for a text that is not valid JSON.
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
    // Invalid JSON may contain control characters, which a terminal would interpret.
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

/// Splits a parser's message into the text without position, the line, and the column.
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

/// Rephrases type names of the parser in terms that users know.
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

/// If the text is not valid JSON, the key is the last one that was read.
struct Column(Option<usize>);

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(column) => write!(f, " column {column}, in or behind"),
            None => Ok(()),
        }
    }
}
