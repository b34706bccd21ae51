//! Prices and limits of models: a table in a file (`prices.json`) that users can override.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{json::RawJson, model::Usage, money::Usd};

/// Prices and limits of models. In JSON a price file whose entries are added to the built-in ones, or `null` for only those.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    models: Vec<ModelFacts>,
}

/// A model or a family of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// A prefix of the model names that the entry applies to; the longest match wins.
    pub prefix: String,
    /// Dollars per million input tokens.
    pub input: Usd,
    /// Dollars per million output tokens.
    pub output: Usd,
    /// Dollars per million input tokens read from the cache.
    pub cache_read: Usd,
    /// Dollars per million input tokens written to the cache.
    pub cache_write: Usd,
    /// The size of the context window in tokens; 0 when unknown.
    #[serde(default)]
    pub context_window: u64,
    /// Maximum output tokens of a response; 0 when unknown.
    #[serde(default)]
    pub max_output_tokens: u64,
    /// Whether it supports the effort parameter.
    #[serde(default)]
    pub effort: bool,
    /// Whether it supports adaptive thinking.
    #[serde(default)]
    pub adaptive_thinking: bool,
    /// Whether it accepts deferred tool definitions, loaded by a `tool_reference`.
    #[serde(default)]
    pub deferred_tools: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default, rename = "about")]
    _about: String,
    models: Vec<ModelFacts>,
}

impl Catalogue {
    /// The table that ships with this version.
    #[must_use]
    pub fn built_in() -> Self {
        // A test parses the file: it cannot be broken in a released version.
        Self::default()
            .with_file(include_str!("prices.json"))
            .unwrap_or_default()
    }

    /// Adds a price file; its entries take precedence over existing ones.
    ///
    /// # Errors
    /// [`PriceFileError`] with line and column; no entry of the file is added.
    pub fn with_file(mut self, json: &str) -> Result<Self, PriceFileError> {
        let file: PriceFile = crate::json::read::from_str(json).map_err(|e| PriceFileError {
            reason: e.to_string(),
        })?;
        for model in file.models {
            self.models.retain(|known| known.prefix != model.prefix);
            self.models.push(model);
        }
        Ok(self)
    }

    /// Every model, in the order of the files.
    pub fn models(&self) -> impl Iterator<Item = &ModelFacts> {
        self.models.iter()
    }

    /// The whole catalogue as a price file.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        #[derive(Serialize)]
        struct File<'a> {
            models: &'a [ModelFacts],
        }
        let file = File {
            models: &self.models,
        };
        // Strings and numbers only: encoding cannot fail.
        RawJson::encode(&file).unwrap_or_else(|_| RawJson::empty_object())
    }

    /// The entry of a model.
    #[must_use]
    pub fn get(&self, model: &str) -> Option<&ModelFacts> {
        self.models
            .iter()
            .filter(|known| model.starts_with(&known.prefix))
            .max_by_key(|known| known.prefix.len())
    }

    /// The cost of a response; none if the model is unknown.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Usd> {
        let facts = self.get(model)?;
        let parts = [
            (usage.input_tokens, facts.input),
            (usage.output_tokens, facts.output),
            (usage.cache_read_input_tokens, facts.cache_read),
            (usage.cache_creation_input_tokens, facts.cache_write),
        ];
        // Summed before the division, so that rounding affects at most the last nano-dollar.
        let millionths: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(price.nanos))
            .sum();
        Some(Usd::from_nanos(
            u64::try_from(millionths / 1_000_000).unwrap_or(u64::MAX),
        ))
    }
}

impl Serialize for Catalogue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = (*self != Self::built_in()).then(|| self.to_json());
        file.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Catalogue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let usual = Self::built_in();
        match Option::<RawJson>::deserialize(deserializer)? {
            None => Ok(usual),
            Some(file) => usual.with_file(file.get()).map_err(D::Error::custom),
        }
    }
}

/// An invalid price file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the price file is not of the documented form: {reason}; {}",
    crate::json::remedy_for(reason)
)]
pub struct PriceFileError {
    /// What is wrong, with line and column.
    pub reason: String,
}
