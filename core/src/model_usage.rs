//! What was used of a model, and what it cost.

use serde::{Deserialize, Serialize};

use crate::{
    model::{ServerToolUse, Usage},
    money::Usd,
};

/// Token counts and cost per model (Agent SDK reference, `ModelUsage`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Web searches the provider made.
    pub web_search_requests: u64,
    /// The cost.
    #[serde(rename = "costUSD")]
    pub cost_usd: Usd,
    /// The size of the model's context window in tokens; 0 when unknown.
    pub context_window: u64,
    /// The most output tokens of a response; 0 when unknown.
    pub max_output_tokens: u64,
}

impl ModelUsage {
    /// Adds the token counts of a response. Its cost is added separately.
    pub(crate) fn add(&mut self, usage: &Usage) {
        let mut sum = self.usage();
        sum.add(usage);
        self.input_tokens = sum.input_tokens;
        self.output_tokens = sum.output_tokens;
        self.cache_read_input_tokens = sum.cache_read_input_tokens;
        self.cache_creation_input_tokens = sum.cache_creation_input_tokens;
        self.web_search_requests = sum.server_tool_use.web_search_requests;
    }

    /// The token counts alone.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_input_tokens: self.cache_read_input_tokens,
            cache_creation_input_tokens: self.cache_creation_input_tokens,
            server_tool_use: ServerToolUse {
                web_search_requests: self.web_search_requests,
                web_fetch_requests: 0,
            },
            ..Usage::default()
        }
    }
}
