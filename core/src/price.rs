//! Prices and limits of models, and what a response costs by them. The core knows no model by itself: a host gives it a table.

use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::{
    json::RawJson,
    model::{Effort, Usage},
    money::Usd,
};

/// The price of one web search by the provider: one cent.
const WEB_SEARCH_NANOS: u64 = 10_000_000;
/// The output limit of a model whose own is not known.
const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Prices and limits of models. In JSON a price file, or `null` for an empty one. Cloning is cheap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    models: Arc<Vec<ModelFacts>>,
}

/// A model or a family of models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// A prefix of the model names that the entry applies to; the longest match wins. The empty one is for models that no other
    /// entry knows.
    pub prefix: String,
    /// Whether the prefix is a whole name: only a date may follow it (`-20251001`).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub exact: bool,
    /// The name that requests carry, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_as: Option<String>,
    /// Dollars per million input tokens.
    pub input: Usd,
    /// Dollars per million output tokens.
    pub output: Usd,
    /// Dollars per million input tokens read from the cache.
    pub cache_read: Usd,
    /// Dollars per million input tokens written to the cache for five minutes.
    pub cache_write: Usd,
    /// Dollars per million input tokens written to the cache for an hour; none is twice the price of input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<Usd>,
    /// Prompts with more tokens than this (cached ones included) cost five times as much, answer included; 0 for no such limit.
    #[serde(default)]
    pub dear_above: u64,
    /// How many times the price a fast response costs; 0 if the model has none.
    #[serde(default)]
    pub fast_factor: u8,
    /// The size of the context window in tokens; 0 when unknown.
    #[serde(default)]
    pub context_window: u64,
    /// Output tokens of a response where nothing else is asked for; 0 for the maximum, at most 32,768.
    #[serde(default)]
    pub usual_output_tokens: u64,
    /// Maximum output tokens of a response; 0 when unknown.
    #[serde(default)]
    pub max_output_tokens: u64,
    /// How it thinks.
    #[serde(default)]
    pub thinking: ThinkingForm,
    /// The effort levels it takes, from the lowest; empty if it has no such parameter.
    #[serde(default)]
    pub efforts: Vec<Effort>,
    /// The effort that is asked for where nothing else is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Beta features that requests to it name.
    #[serde(default)]
    pub betas: Vec<String>,
    /// Whether it accepts deferred tool definitions, loaded by a `tool_reference`.
    #[serde(default)]
    pub deferred_tools: bool,
    /// How the beginning of a request is cached.
    #[serde(default)]
    pub caching: Caching,
}

/// How a model is told to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// As it is asked to, and not by default.
    #[default]
    Asked,
    /// Not at all.
    None,
    /// As much as it decides; it can be switched off, or given a number of tokens.
    Adaptive,
    /// As much as it decides, always.
    AlwaysAdaptive,
    /// With a number of tokens, by default all of a response; it can be switched off.
    Budget,
}

/// How the beginning of a request is cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caching {
    /// For five minutes after its last use.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// For an hour.
    #[serde(rename = "1h")]
    Hour,
    /// Not at all.
    #[serde(rename = "off")]
    Off,
}

impl ModelFacts {
    /// Whether the entry applies to a model.
    fn fits(&self, model: &str) -> bool {
        let Some(rest) = model.strip_prefix(self.prefix.as_str()) else {
            return false;
        };
        let is_date = || {
            let digits = rest.strip_prefix('-').unwrap_or_default();
            digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        !self.exact || rest.is_empty() || is_date()
    }

    /// The output limit of a request that asks for this many tokens, or for nothing in particular.
    #[must_use]
    pub fn output_limit(&self, wanted: Option<u32>) -> u64 {
        let most = self.max_output_tokens;
        match (wanted.map(u64::from), self.usual_output_tokens) {
            (Some(wanted), _) if most == 0 => wanted,
            (Some(wanted), _) => wanted.min(most),
            (None, 0) if most == 0 => DEFAULT_MAX_TOKENS,
            (None, 0) => most.min(2 * DEFAULT_MAX_TOKENS),
            (None, usual) => usual,
        }
    }

    /// The highest level up to this effort that the model takes; without one, its usual effort. None if it takes none.
    #[must_use]
    pub fn effort(&self, wanted: Option<Effort>) -> Option<Effort> {
        let Some(wanted) = wanted else {
            return self.effort;
        };
        let levels = self.efforts.iter().rev();
        levels.copied().find(|level| *level <= wanted)
    }

    fn cost(&self, usage: &Usage) -> Usd {
        let written_1h =
            (usage.cache_creation.ephemeral_1h_input_tokens).min(usage.cache_creation_input_tokens);
        let price_1h =
            (self.cache_write_1h).map_or(self.input.nanos.saturating_mul(2), |it| it.nanos);
        let parts = [
            (usage.input_tokens, self.input.nanos),
            (usage.output_tokens, self.output.nanos),
            (usage.cache_read_input_tokens, self.cache_read.nanos),
            (
                usage.cache_creation_input_tokens - written_1h,
                self.cache_write.nanos,
            ),
            (written_1h, price_1h),
        ];
        // Summed before the divisions, so that rounding affects at most the last nano-dollar.
        let mut millionths: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price))
            .fold(0, u128::saturating_add);
        let prompt = (usage.input_tokens)
            .saturating_add(usage.cache_read_input_tokens)
            .saturating_add(usage.cache_creation_input_tokens);
        if self.dear_above > 0 && prompt > self.dear_above {
            millionths = millionths.saturating_mul(5);
        }
        if usage.is_fast {
            millionths = millionths.saturating_mul(self.fast_factor.max(1).into());
        }
        if usage.is_us {
            millionths = millionths.saturating_mul(11) / 10;
        }
        let searches = (usage.server_tool_use.web_search_requests).saturating_mul(WEB_SEARCH_NANOS);
        let tokens = u64::try_from(millionths / 1_000_000).unwrap_or(u64::MAX);
        Usd::from_nanos(tokens.saturating_add(searches))
    }
}

/// The output limit of a request to a model, whether or not its limits are known.
pub(crate) fn output_limit(facts: Option<&ModelFacts>, wanted: Option<u32>) -> u64 {
    match facts {
        Some(facts) => facts.output_limit(wanted),
        None => wanted.map_or(DEFAULT_MAX_TOKENS, u64::from),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default, rename = "about")]
    _about: String,
    models: Vec<ModelFacts>,
}

impl Catalogue {
    /// Adds a price file; its entries take precedence over existing ones.
    ///
    /// # Errors
    /// [`PriceFileError`] with line and column; no entry of the file is added.
    pub fn with_file(self, json: &str) -> Result<Self, PriceFileError> {
        let file: PriceFile = crate::json::read::from_str(json).map_err(|e| PriceFileError {
            reason: e.to_string(),
        })?;
        Ok(self.with(file.models))
    }

    /// Adds entries; they take precedence over existing ones with the same prefix.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = ModelFacts>) -> Self {
        let models = Arc::make_mut(&mut self.models);
        for model in more {
            models.retain(|known| known.prefix != model.prefix);
            models.push(model);
        }
        self
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
        let fitting = self.models.iter().filter(|known| known.fits(model));
        fitting.max_by_key(|known| known.prefix.len())
    }

    /// The cost of a response; none if the model is unknown.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Usd> {
        Some(self.get(model)?.cost(usage))
    }
}

impl Serialize for Catalogue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = (!self.models.is_empty()).then(|| self.to_json());
        file.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Catalogue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Option::<RawJson>::deserialize(deserializer)? {
            None => Ok(Self::default()),
            Some(file) => Self::default()
                .with_file(file.get())
                .map_err(D::Error::custom),
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
