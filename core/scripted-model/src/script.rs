//! The script of a [`ScriptedModel`](super::ScriptedModel): requests and their responses.
//!
//! The format is documented in `docs/scripted-model.md`. Parsing is strict: an unknown field, a field that cannot be combined
//! with others, or a variable without a value is an error that names the exchange and the field.

mod block;
mod error;
mod expect;
mod respond;
mod respond_form;
mod value;
mod variables;

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;

pub use self::{
    block::{BlockKind, BlockScript, Input},
    error::ScriptError,
    expect::{Expect, ExpectedHeader, ExpectedResult},
    respond::{
        Action, Chunks, ErrorScript, Fault, Form, MessageScript, Place, Response, StreamScript,
        UsageScript, Waits,
    },
    value::Payload,
};

/// A script: exchanges in the expected order.
#[derive(Debug, Clone)]
pub struct Script {
    /// The model named in responses; none means the one in the request.
    pub model: Option<String>,
    /// How an exchange is chosen for a request.
    pub matching: Matching,
    /// Whether every request must contain a valid history ([`validate_request`](super::validate_request)). If false, and without
    /// expectations, a request is answered without parsing it.
    pub validate: bool,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

/// How an exchange is chosen for a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// The next one, which must match.
    #[default]
    InOrder,
    /// The first one that matches and is not used up: for concurrent sessions.
    Any,
}

/// An expected request and its response.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// A name for people, shown in reports.
    pub name: Option<String>,
    /// How many requests it answers.
    pub repeat: u32,
    /// What the request must contain.
    pub expect: Expect,
    /// The response.
    pub respond: Response,
}

impl Script {
    /// Parses a script.
    ///
    /// # Errors
    /// [`ScriptError`]: where, what, and how to fix it.
    pub fn parse(json: &str) -> Result<Self, ScriptError> {
        Self::parse_with(json, &[])
    }

    /// Parses a script and sets the variables it declares: `${name}` in any of its strings is replaced by the value. A `${name}`
    /// that the script does not declare stays unchanged, so that shell commands can be written plainly.
    ///
    /// ```
    /// use windlass_scripted_model::Script;
    /// let script = r#"{
    ///     "variables": {"cwd": null},
    ///     "exchanges": [{"respond": {"content": [
    ///         {"type": "tool_use", "name": "Read", "input": {"file_path": "${cwd}/a.txt"}}
    ///     ]}}]
    /// }"#;
    /// assert!(Script::parse(script).is_err(), "cwd has no value");
    /// assert!(Script::parse_with(script, &[("cwd", "/tmp/x")]).is_ok());
    /// ```
    ///
    /// # Errors
    /// [`ScriptError`]: where, what, and how to fix it.
    pub fn parse_with(json: &str, variables: &[(&str, &str)]) -> Result<Self, ScriptError> {
        let filled = variables::fill(json, variables)?;
        let form: ScriptForm = read(&filled)?;
        if form.exchanges.is_empty() {
            return Err(ScriptError::new(
                "exchanges",
                "the list is empty",
                "write at least one exchange, such as {\"respond\": \"Hello\"}",
            ));
        }
        let mut exchanges = Vec::with_capacity(form.exchanges.len());
        for (index, exchange) in form.exchanges.into_iter().enumerate() {
            exchanges.push(exchange.check().map_err(|e| e.in_exchange(index))?);
        }
        Ok(Self {
            model: form.model,
            matching: form.matching,
            validate: form.validate,
            exchanges,
        })
    }

    /// A script that responds with these texts, one per request.
    #[must_use]
    pub fn says<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let exchanges = texts.into_iter().map(|text| Exchange {
            name: None,
            repeat: 1,
            expect: Expect::default(),
            respond: Response::text(text),
        });
        Self {
            model: None,
            matching: Matching::InOrder,
            validate: true,
            exchanges: exchanges.collect(),
        }
    }
}

impl Exchange {
    /// The exchange as named in reports: its number counted from 1, and its name.
    pub(super) fn label(&self, index: usize) -> String {
        match &self.name {
            Some(name) => format!("exchange {} ({name})", index + 1),
            None => format!("exchange {}", index + 1),
        }
    }
}

/// The whole file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptForm {
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    #[serde(default, rename = "description")]
    _description: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default, rename = "match")]
    matching: Matching,
    #[serde(default = "crate::yes")]
    validate: bool,
    /// Already used by [`variables::fill`].
    #[serde(default, rename = "variables")]
    _variables: serde::de::IgnoredAny,
    exchanges: Vec<ExchangeForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExchangeForm {
    #[serde(default)]
    name: Option<String>,
    #[serde(default = "once")]
    repeat: u32,
    #[serde(default)]
    expect: Expect,
    respond: respond_form::RespondForm,
}

impl ExchangeForm {
    fn check(self) -> Result<Exchange, ScriptError> {
        if self.repeat == 0 {
            return Err(ScriptError::new(
                "repeat",
                "0 means that the exchange is never used",
                "give the number of requests it answers, or remove the exchange",
            ));
        }
        self.expect.check()?;
        Ok(Exchange {
            name: self.name,
            repeat: self.repeat,
            expect: self.expect,
            respond: self.respond.check().map_err(|e| e.below("respond"))?,
        })
    }
}

/// Decodes JSON; an error is reported with the path of its field.
fn read<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, ScriptError> {
    let mut decoder = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut decoder).map_err(|error| {
        // "." is the root and "?" a place without a name, which do not help a reader.
        let path = error.path().to_string();
        let path = path.trim_end_matches(['?', '.']).to_owned();
        ScriptError::from_reader(&path, &error.into_inner().to_string())
    })?;
    decoder
        .end()
        .map_err(|error| ScriptError::from_reader("", &error.to_string()))?;
    Ok(value)
}

fn once() -> u32 {
    1
}

/// The error for a field that cannot be combined with another one.
fn stray(field: &str, beside: &str) -> ScriptError {
    ScriptError::new(
        field,
        &format!("`{field}` does not go with {beside}"),
        &format!("remove `{field}`"),
    )
}

/// Text of a `&str` option, owned.
fn owned(text: &str) -> String {
    text.to_owned()
}
