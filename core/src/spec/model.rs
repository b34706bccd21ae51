//! The model, how it is reached, and the limits of its responses.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{ResponseLimits, RetryPolicy};
use crate::{
    agent::ModelAliases,
    model::{Effort, Thinking, ThinkingDisplay},
    price::Catalogue,
    provider::{Provider, messages::MessagesApi},
};

/// The default model.
pub const DEFAULT_MODEL: &str = "claude-opus-5-5";

/// The model, how it is reached, and the limits of its responses.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// The wire format.
    #[serde(with = "crate::provider::named")]
    pub provider: Arc<dyn Provider>,
    /// Prices and limits of models. Default: none, so that nothing has a price; hosts give the table that they ship with.
    #[serde(rename = "prices")]
    pub catalogue: Catalogue,
    /// The model, used exactly as it is written. Default: [`DEFAULT_MODEL`].
    #[serde(rename = "model")]
    pub name: String,
    /// The model that takes over for the rest of an answer when calls of the first one fail.
    #[serde(rename = "fallback_model")]
    pub fallback: Option<String>,
    /// The models that short names such as `sonnet` stand for.
    #[serde(rename = "model_aliases")]
    pub aliases: ModelAliases,
    /// Maximum output tokens of a response; none uses what is usual for the model.
    pub max_tokens: Option<u32>,
    /// Extended thinking.
    pub thinking: Thinking,
    /// How much of the thinking is shown; none uses the provider's default.
    pub thinking_display: Option<ThinkingDisplay>,
    /// How much effort goes into a response; none uses the provider's default.
    pub effort: Option<Effort>,
    /// The token budget of the whole task, told to the model for its planning. The session does not enforce it (Agent SDK
    /// reference, `taskBudget`).
    pub task_budget: Option<u32>,
    /// Beta features of the API, by name.
    pub betas: Vec<String>,
    /// Whether responses are streamed.
    pub stream: bool,
    /// When failed model calls are retried.
    pub retry: RetryPolicy,
    /// Limits on the time and size of responses.
    pub response: ResponseLimits,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            provider: Arc::new(MessagesApi),
            catalogue: Catalogue::default(),
            name: DEFAULT_MODEL.to_owned(),
            fallback: None,
            aliases: ModelAliases::default(),
            max_tokens: None,
            thinking: Thinking::Default,
            thinking_display: None,
            effort: None,
            task_budget: None,
            betas: Vec::new(),
            stream: true,
            retry: RetryPolicy::default(),
            response: ResponseLimits::default(),
        }
    }
}
