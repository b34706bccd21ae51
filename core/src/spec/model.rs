//! The model, how it is reached, and what it may take.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{ResponseLimits, RetryPolicy};
use crate::{
    agent::ModelAliases,
    model::{Effort, Thinking, ThinkingDisplay},
    price::Catalogue,
    provider::{Provider, messages::MessagesApi},
};

/// The model used when none is set.
pub const DEFAULT_MODEL: &str = "claude-sonnet-4-6";

/// The model, how it is reached, and what it may take.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// The wire format.
    #[serde(with = "crate::provider::named")]
    pub provider: Arc<dyn Provider>,
    /// Prices and limits of models.
    #[serde(rename = "prices")]
    pub catalogue: Catalogue,
    /// The model, used exactly as it is written. Default: [`DEFAULT_MODEL`].
    #[serde(rename = "model")]
    pub name: String,
    /// The model that takes over for the rest of an answer when the other cannot be asked.
    #[serde(rename = "fallback_model")]
    pub fallback: Option<String>,
    /// Which models an agent's `sonnet`, `opus` and `haiku` are.
    #[serde(rename = "model_aliases")]
    pub aliases: ModelAliases,
    /// The most a response may hold; none takes the model's limit, at most 32,768.
    pub max_tokens: Option<u32>,
    /// Extended thinking.
    pub thinking: Thinking,
    /// How much of the thinking is shown; none leaves it to the provider.
    pub thinking_display: Option<ThinkingDisplay>,
    /// How much work goes into a response; none leaves it to the provider.
    pub effort: Option<Effort>,
    /// How many tokens the whole task may take, for the model to plan with; nothing here counts them (Agent SDK reference,
    /// `taskBudget`).
    pub task_budget: Option<u32>,
    /// Beta features of the API, by name.
    pub betas: Vec<String>,
    /// Whether responses are streamed.
    pub stream: bool,
    /// What to do when a model call fails.
    pub retry: RetryPolicy,
    /// How long a model server may take, and how much it may send.
    pub response: ResponseLimits,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            provider: Arc::new(MessagesApi),
            catalogue: Catalogue::built_in(),
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
