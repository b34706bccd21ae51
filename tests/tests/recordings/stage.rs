//! What recordings do not tell: the files that were there, how a server failed, when a signal came.

use std::{collections::BTreeMap, fs};

use serde::Deserialize;
use serde_json::Value;

use crate::{data, scenario::Step, shape::Limits};

/// `tests/recordings/stage.json`, written by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stage {
    /// What this file is.
    #[serde(rename = "description")]
    _description: String,
    /// Which parts of frames are not looked into.
    pub(crate) limits: Limits,
    /// Words of the recordings and what stands in their place here.
    replace: BTreeMap<String, String>,
    /// Files in the working directory.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) scenario: BTreeMap<String, Staged>,
    /// For scenarios that need nothing.
    #[serde(skip)]
    pub(crate) usual: Staged,
}

/// What is particular to a scenario.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Staged {
    /// The scenario that is played before, in the same surroundings.
    pub(crate) before: Option<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// What the model answers, where the frames do not tell.
    pub(crate) exchanges: Option<Vec<Value>>,
    /// What it answers behind what the frames tell.
    pub(crate) more_exchanges: Vec<Value>,
    /// Answers to questions that only this engine asks, by their names.
    pub(crate) answers: BTreeMap<String, Vec<Value>>,
    /// Steps behind those that were recorded.
    pub(crate) steps: Vec<Step>,
    /// The input ends right behind the last line.
    pub(crate) ends_at_once: bool,
}

impl Stage {
    pub(crate) fn read() -> Self {
        let path = data("stage.json");
        let text = fs::read_to_string(&path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A recording with our words in the place of recorded ones: they hold none of the signs of JSON.
    pub(crate) fn replaced(&self, text: &str) -> String {
        (self.replace.iter()).fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

impl Staged {
    /// Whether a signal ends the process.
    pub(crate) fn signals(&self) -> bool {
        self.steps.iter().any(|step| step.signal)
    }
}
