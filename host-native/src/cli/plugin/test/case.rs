//! A test of a plugin: a file `tests/*.json`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path},
};

use base64::{DecodeError, Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;
use serde_json::Value;
use windlass::plugins::SHORTEST_SECRET;

use super::{budget::Budget, hook_events::Event, recorded::Exchange};
use crate::cli::plugin::error::AuthorError;

/// One session: what it finds, and the calls that the model makes in it, after the events that hooks are given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// The files that it finds, by their paths below the workspace.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Content>,
    /// The directories of the roles that it is granted: the declared names, and folders of the workspace, made if they are missing.
    #[serde(default)]
    pub(super) directories: BTreeMap<String, String>,
    /// Answers to the requests of the plugin.
    #[serde(default)]
    pub(super) http: Vec<Exchange>,
    /// The secrets that it is granted: the declared names, and values made up for the test.
    #[serde(default)]
    pub(super) secrets: BTreeMap<String, String>,
    /// The environment variables that it is granted: the declared names, and values made up for the test.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Events for its hooks, one after the other.
    #[serde(default)]
    pub(super) hooks: Vec<Event>,
    /// The calls, one after the other.
    #[serde(default)]
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
        if case.calls.is_empty() && case.hooks.is_empty() {
            return Err(wrong("it has no calls and no events for hooks".to_owned()));
        }
        for (name, content) in &case.files {
            content
                .bytes()
                .map_err(|error| wrong(format!("`{name}` is not base64: {error}")))?;
        }
        for (name, value) in &case.secrets {
            let bytes = value.trim().len();
            if bytes < SHORTEST_SECRET {
                return Err(wrong(format!(
                    "the value of the secret `{name}` has {bytes} bytes, and a host uses none of fewer than {SHORTEST_SECRET}: write a longer one"
                )));
            }
        }
        let files = case.files.keys().chain(case.after.keys());
        let mut named = files.chain(case.directories.values());
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
