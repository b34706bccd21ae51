//! `tests/sdk/features.toml`: what of the SDKs is tried, by which program, under which name.

use std::fs;

use serde::Deserialize;
use windlass_tests::artefacts;

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    pub(crate) feature: Vec<Feature>,
    /// What differs beside features; only for the table, which `cargo xtask` writes.
    #[allow(dead_code, reason = "for the table")]
    #[serde(default)]
    behaviour: Vec<toml::Value>,
}

/// A feature of an SDK as its documentation names it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feature {
    pub(crate) sdk: Sdk,
    /// What users call it.
    #[allow(dead_code, reason = "for the table, which `cargo xtask` writes")]
    pub(crate) name: String,
    /// The fields of the SDK's options that it is about.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// The test that shows it; begins with a parity id.
    pub(crate) test: Option<String>,
    /// The program that the test runs, by its name without extension. Without one, the test is somebody else's.
    pub(crate) program: Option<String>,
    /// The model's script, if it is not called like the program.
    pub(crate) script: Option<String>,
    /// A published example in place of a program of ours.
    pub(crate) example: Option<Example>,
    /// The variable of the environment without which the test is ignored.
    pub(crate) needs: Option<String>,
    /// In which way we differ from the original engine.
    #[allow(dead_code, reason = "for the table")]
    pub(crate) differs: Option<String>,
    /// Why we do not have it. Its test, if there is one already, is ignored.
    pub(crate) missing: Option<String>,
}

impl Feature {
    /// Why the test cannot be run here, if that is so.
    pub(crate) fn lacks(&self) -> Option<String> {
        let needed = self.needs.as_ref()?;
        (std::env::var_os(needed).is_none()).then(|| format!("${needed} is not set"))
    }
}

/// One of the examples that the Python SDK publishes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Example {
    /// Its file, in the directory of the examples.
    pub(crate) file: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// What is typed into it.
    #[serde(default)]
    pub(crate) input: String,
    /// What it prints when everything works.
    pub(crate) prints: Vec<String>,
    /// The exit code it is to end with.
    #[serde(default)]
    pub(crate) exit: i32,
}

/// Which SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sdk {
    Python,
    TypeScript,
}

/// Reads the list.
pub(crate) fn list() -> List {
    let path = artefacts::repository().join("tests/sdk/features.toml");
    let text = fs::read_to_string(&path).expect("tests/sdk/features.toml can be read");
    match toml::from_str(&text) {
        Ok(list) => list,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}
