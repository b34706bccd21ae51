//! Chat completions, the wire format of OpenAI: `POST …/chat/completions`, streamed or not.
//!
//! Ollama, llama.cpp, vLLM and most gateways implement it, each with its own omissions. Content that the format cannot express is
//! left out of a request (signed thinking, citations, cache breakpoints) or expressed differently (images of a tool result follow
//! in a user message).

mod arguments;
mod assembly;
mod chunk;
mod completion;
mod content;
mod error;
mod events;
mod request;
mod stream;
mod translate;

use alloc::{borrow::ToOwned, boxed::Box, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    ApiError, Decoder, HistoryView, ModelRequest, Opening, Prefix, Provider, Translator,
    whole::{WholeDecoder, is_event_stream},
};
use crate::{effect::HttpRequest, json::RawJson, sorted::SortedMap};

/// The path of the endpoint below a base address without a path.
const PATH_WITH_VERSION: &str = "/v1/chat/completions";
/// The path below a base address such as `https://example.org/api/v1`.
const PATH: &str = "/chat/completions";

/// Chat completions as a provider. The settings cover the differences between servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatCompletions {
    /// The path below the endpoint's base address. Default: `/v1/chat/completions`.
    pub path: String,
    /// The role of the system prompt.
    pub system_role: SystemRole,
    /// The field that limits the output. It is sent only where the request sets a limit.
    pub output_limit: OutputLimit,
    /// Whether token counts are requested at the end of a stream (`stream_options.include_usage`). Without them no tokens are
    /// counted. Default: true; some old servers refuse the field.
    pub stream_usage: bool,
    /// Whether the model's thinking is sent back with its answers, in the field it came in (`reasoning_content` or `reasoning`).
    /// Some models need it between tool calls (DeepSeek, Kimi, gpt-oss behind some servers), others refuse it. If true, it is
    /// kept in the history, with the name of the field as its signature. Default: false, it is only shown.
    pub return_reasoning: bool,
    /// Further fields of the request, unchanged; they replace fields of the same name. `messages` is ignored.
    pub extra: SortedMap<String, RawJson>,
}

/// The role of the system prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SystemRole {
    /// `system`, which every server accepts.
    #[default]
    System,
    /// `developer`, OpenAI's later name.
    Developer,
}

/// The field that limits the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    /// `max_tokens`, which almost every server accepts.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's later models require.
    MaxCompletionTokens,
}

impl Default for ChatCompletions {
    fn default() -> Self {
        Self {
            path: PATH_WITH_VERSION.to_owned(),
            system_role: SystemRole::default(),
            output_limit: OutputLimit::default(),
            stream_usage: true,
            return_reasoning: false,
            extra: SortedMap::new(),
        }
    }
}

impl ChatCompletions {
    /// The settings for a server at this address.
    ///
    /// An address with a path is a prefix of the endpoint's address, as for every client of this format
    /// (`https://openrouter.ai/api/v1`); one without a path gets `/v1`. OpenAI's own models require `max_completion_tokens`.
    ///
    /// ```
    /// use windlass_core::provider::openai::ChatCompletions;
    /// let path = |url| ChatCompletions::at(url).path;
    /// assert_eq!(path("http://localhost:11434"), "/v1/chat/completions");
    /// assert_eq!(path("http://localhost:11434/v1/"), "/chat/completions");
    /// ```
    #[must_use]
    pub fn at(base_url: &str) -> Self {
        let address = base_url
            .split_once("://")
            .map_or(base_url, |(_, rest)| rest);
        let (authority, path) = address.split_once('/').unwrap_or((address, ""));
        let path = path.split(['?', '#']).next().unwrap_or("");
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let host = host.split(':').next().unwrap_or(host);
        let is_openai = host == "api.openai.com" || host.ends_with(".openai.azure.com");
        Self {
            path: match path.trim_matches('/') {
                "" => PATH_WITH_VERSION,
                _ => PATH,
            }
            .to_owned(),
            output_limit: match is_openai {
                true => OutputLimit::MaxCompletionTokens,
                false => OutputLimit::MaxTokens,
            },
            ..Self::default()
        }
    }
}

impl Provider for ChatCompletions {
    fn json_form(&self) -> Option<RawJson> {
        let settings = SortedMap::from([("openai", self)]);
        RawJson::encode(&settings).ok()
    }

    fn prefix(&self, opening: &Opening<'_>) -> Prefix {
        request::prefix(self, opening).into()
    }

    fn translator(&self) -> Option<&dyn Translator> {
        Some(self)
    }

    fn request(
        &self,
        request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest {
        request::request(self, request, &prefix.bytes, history)
    }

    fn decoder(&self, content_type: &str, wants_events: bool) -> Box<dyn Decoder> {
        if is_event_stream(content_type) {
            let decoder = stream::StreamDecoder::new(wants_events, self.return_reasoning);
            return Box::new(decoder);
        }
        let read = match self.return_reasoning {
            true => completion::read_with_reasoning,
            false => completion::read,
        };
        Box::new(WholeDecoder::new(content_type, read))
    }

    fn error(&self, status: u16, body: &[u8]) -> ApiError {
        error::from_response(status, body)
    }
}

impl Translator for ChatCompletions {
    fn translate(&self, message: &[u8]) -> Vec<u8> {
        translate::message(message)
    }
}
