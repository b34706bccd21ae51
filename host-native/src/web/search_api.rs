//! The Messages API with the provider's own web search among its tools.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use windlass_core::{
    effect::HttpRequest,
    message::RateLimitInfo,
    provider::{ApiError, Decoder, HistoryView, ModelRequest, Opening, Prefix, Provider},
};

/// The version of the server tool.
const SERVER_TOOL: &str = "web_search_20250305";

/// The most searches for one call.
const MOST_SEARCHES: u32 = 8;

/// Which sites a search may find.
#[derive(Debug, Default)]
pub(super) struct Domains {
    pub(super) allowed: Vec<String>,
    pub(super) blocked: Vec<String>,
}

/// The format of the conversation, plus the search.
pub(super) struct WithSearch {
    usual: Arc<dyn Provider>,
    /// The beginning of a request that offers it.
    offer: String,
}

impl WithSearch {
    pub(super) fn new(usual: Arc<dyn Provider>, domains: &Domains) -> Self {
        let mut tool = Map::new();
        tool.insert("type".to_owned(), SERVER_TOOL.into());
        tool.insert("name".to_owned(), "web_search".into());
        tool.insert("max_uses".to_owned(), MOST_SEARCHES.into());
        let lists = [
            ("allowed_domains", &domains.allowed),
            ("blocked_domains", &domains.blocked),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            tool.insert(name.to_owned(), list.clone().into());
        }
        let tools = json!([Value::Object(tool)]);
        Self {
            usual,
            offer: format!("{{\"tools\":{tools},"),
        }
    }
}

impl Provider for WithSearch {
    fn prefix(&self, opening: &Opening<'_>) -> Prefix {
        let usual = self.usual.prefix(opening);
        // It is the beginning of an object, without tools, since the question offers none.
        let rest = usual.bytes.strip_prefix(b"{").unwrap_or(&usual.bytes);
        Prefix {
            bytes: Bytes::from([self.offer.as_bytes(), rest].concat()),
            ..usual
        }
    }

    fn request(
        &self,
        request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest {
        self.usual.request(request, prefix, history)
    }

    fn decoder(&self, content_type: &str, wants_events: bool) -> Box<dyn Decoder> {
        self.usual.decoder(content_type, wants_events)
    }

    fn rate_limit(&self, status: u16, headers: &[(String, String)]) -> Option<RateLimitInfo> {
        self.usual.rate_limit(status, headers)
    }

    fn error(&self, status: u16, body: &[u8]) -> ApiError {
        self.usual.error(status, body)
    }
}
