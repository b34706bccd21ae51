//! What is played to the engine, and in which order frames came back where that was recorded.

use std::{collections::BTreeMap, fs};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{data, seen::Lanes, usual};

/// One process of the engine, from its start to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) flags: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    /// The scenario that is played before, in the same surroundings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<String>,
    /// Files in the working directory.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) steps: Vec<Step>,
    /// Answers to questions of the engine, by the names of the questions, in their order; null for no answer.
    pub(crate) answers: BTreeMap<String, Vec<Value>>,
    /// What the model answers (`docs/scripted-model.md`).
    pub(crate) exchanges: Vec<Value>,
    /// The frames that came.
    pub(crate) frames: Lanes,
    /// The exit code.
    pub(crate) exit: Option<i32>,
}

/// Something that the SDK does of its own accord.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<After>,
    /// A frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) say: Option<Value>,
    /// A line that is no frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
    /// SIGTERM.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) signal: bool,
    /// The end of its output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) end: bool,
}

/// So many frames of a name have come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    pub(crate) frame: String,
    pub(crate) times: usize,
}

impl Scenario {
    /// The scenarios of the repository, by name.
    pub(crate) fn all() -> BTreeMap<String, Self> {
        let files = fs::read_dir(data("scenarios")).unwrap();
        let mut all = files
            .map(|entry| {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                let scenario = serde_json::from_str(&text)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let name = path.file_stem().unwrap_or_default();
                (name.to_string_lossy().into_owned(), scenario)
            })
            .collect();
        usual::give(&usual::read(), &mut all);
        all
    }

    /// The same with words of ours: nobody's prose is in the repository.
    pub(crate) fn in_our_words(mut self) -> Self {
        for step in &mut self.steps {
            step.say.iter_mut().for_each(|frame| reword(frame, ""));
        }
        for answer in self.answers.values_mut().flatten() {
            reword(answer, "");
        }
        // Those that have no id of the recording are ours already.
        let recorded = |exchange: &&mut Value| exchange["respond"]["id"].is_string();
        for exchange in self.exchanges.iter_mut().filter(recorded) {
            reword(exchange, "");
        }
        self
    }

    /// With the working directory in the place of `${cwd}`, and `tests/recordings` in that of `${here}`.
    pub(crate) fn at(&self, cwd: &str) -> Self {
        let here = data("").to_string_lossy().into_owned();
        let text = serde_json::to_string(self).unwrap();
        let text = text.replace("${cwd}", cwd).replace("${here}/", &here);
        serde_json::from_str(&text).unwrap()
    }

    /// The script of the model.
    pub(crate) fn script(&self) -> String {
        // A request that nobody expected must not hang a process: it is refused, and shows.
        json!({"exchanges": self.exchanges, "description": "recorded"}).to_string()
    }
}

/// Replaces texts that only people and models read.
fn reword(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => {
            let is_prose = text.contains(char::is_whitespace) || text.contains("SCN:");
            let decides = ["command", "content"].contains(&name) && !text.contains("SCN:");
            if is_prose && !decides || name == "description" {
                *text = "some words".to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| reword(item, name)),
        Value::Object(fields) => {
            for (name, value) in fields {
                reword(value, name);
            }
        }
        _ => {}
    }
}
