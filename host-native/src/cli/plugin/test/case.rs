//! A test of a plugin: a file `tests/*.json`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use base64::{DecodeError, Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::Value;
use windlass::plugins::CallUsage;

use crate::cli::plugin::error::AuthorError;

/// One session: the files that it finds, and the calls that the model makes in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// The files that it finds, by their paths below the workspace.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Content>,
    /// The calls, one after the other.
    pub(super) calls: Vec<Call>,
    /// What files have at the end, by their paths.
    #[serde(default)]
    pub(super) after: BTreeMap<String, Remains>,
}

/// What is in a file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    /// This text.
    Text(String),
    /// Bytes.
    Bytes(Encoded),
}

/// Bytes of a file, for what is no text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Encoded {
    base64: String,
}

/// What a file has at the end of a session.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Remains {
    /// This text and nothing else.
    Text(String),
    /// This text among others.
    Part(Part),
}

/// A part of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    contains: String,
}

/// A call and what is expected of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// The id of the call; one is made if it is left out.
    pub(super) id: Option<String>,
    pub(super) tool: String,
    pub(super) input: Value,
    #[serde(default)]
    pub(super) expect: Expectation,
    /// The most that it may use.
    #[serde(default, rename = "atMost")]
    pub(super) at_most: Budget,
}

/// What the result is like.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Expectation {
    /// The whole text.
    text: Option<String>,
    /// A part of the text.
    contains: Option<String>,
    /// Whether it is a failure; it must not be one if this is left out.
    #[serde(default)]
    is_error: bool,
}

/// Limits of a call, each of which may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Budget {
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    host_calls: Option<u64>,
    output_bytes: Option<u64>,
    log_bytes: Option<u64>,
}

impl Case {
    /// Reads a test.
    ///
    /// # Errors
    /// [`AuthorError::Test`]: what is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Self, AuthorError> {
        let wrong = |reason: String| AuthorError::Test {
            path: path.to_owned(),
            reason,
        };
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let case: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if case.calls.is_empty() {
            return Err(wrong("it has no calls".to_owned()));
        }
        for (name, content) in &case.files {
            content
                .bytes()
                .map_err(|error| wrong(format!("`{name}` is not base64: {error}")))?;
        }
        let mut named = case.files.keys().chain(case.after.keys());
        let is_below = |name: &&String| {
            let mut parts = Path::new(name.as_str()).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        match named.find(|name| !is_below(name)) {
            Some(outside) => Err(wrong(format!("`{outside}` is no path below the workspace"))),
            None => Ok(case),
        }
    }
}

impl Content {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`DecodeError`]: what should be base64 is not.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, DecodeError> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Bytes(bytes) => BASE64_STANDARD.decode(&bytes.base64),
        }
    }
}

impl Remains {
    /// What is not as expected of a file with this name and text.
    pub(super) fn fault(&self, name: &str, text: &str) -> Option<String> {
        match self {
            Self::Text(expected) if text == expected => None,
            Self::Text(expected) => Some(format!(
                "`{name}` has {text:?} at the end, not {expected:?}"
            )),
            Self::Part(part) if text.contains(&part.contains) => None,
            Self::Part(part) => Some(format!(
                "{:?} is not in `{name}` at the end: {text:?}",
                part.contains
            )),
        }
    }
}

impl Expectation {
    /// What is not as expected.
    pub(super) fn faults(&self, text: &str, is_error: bool) -> Vec<String> {
        let mut faults = Vec::new();
        if is_error != self.is_error {
            faults.push(match is_error {
                true => format!("it failed: {text}"),
                false => format!("it did not fail: {text}"),
            });
        }
        if let Some(expected) = self.text.as_ref().filter(|expected| *expected != text) {
            faults.push(format!("the text is {text:?}, not {expected:?}"));
        }
        if let Some(expected) = self.contains.as_ref().filter(|part| !text.contains(*part)) {
            faults.push(format!("{expected:?} is not in the text {text:?}"));
        }
        faults
    }
}

impl Budget {
    /// What was exceeded.
    pub(super) fn faults(&self, usage: &CallUsage) -> Vec<String> {
        // A usize has at most 64 bits.
        let bytes = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let used = [
            ("fuel", self.fuel, usage.fuel),
            ("memoryBytes", self.memory_bytes, bytes(usage.memory)),
            ("hostCalls", self.host_calls, usage.host_calls.into()),
            ("outputBytes", self.output_bytes, bytes(usage.output)),
            ("logBytes", self.log_bytes, bytes(usage.log)),
        ];
        used.into_iter()
            .filter_map(|(name, most, used)| {
                let most = most.filter(|most| used > *most)?;
                Some(format!("{name} is {used}, more than {most}"))
            })
            .collect()
    }
}
