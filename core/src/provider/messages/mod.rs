//! The Messages API: `POST /v1/messages`, streamed or not.

mod block;
mod error;
mod plain_delta;
mod rate_limit;
mod request;
mod response;
mod stream;

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{
    ApiError, Decoder, HistoryView, ModelRequest, Opening, Prefix, Provider,
    whole::{WholeDecoder, is_event_stream},
};
use crate::{effect::HttpRequest, message::RateLimitInfo, price::ModelFacts};

/// The Messages API as a provider.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessagesApi;

impl Provider for MessagesApi {
    fn json_form(&self) -> Option<crate::RawJson> {
        Some(crate::RawJson::string("anthropic"))
    }

    fn prefix(&self, opening: &Opening<'_>) -> Prefix {
        request::prefix(opening)
    }

    fn takes_deferred_tools(&self, facts: Option<&ModelFacts>) -> bool {
        facts.is_some_and(|facts| facts.deferred_tools)
    }

    fn request(
        &self,
        request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest {
        request::request(request, prefix, history)
    }

    fn decoder(&self, content_type: &str, wants_events: bool) -> Box<dyn Decoder> {
        if is_event_stream(content_type) {
            Box::new(stream::StreamDecoder::new(wants_events))
        } else {
            Box::new(WholeDecoder::new(content_type, response::read))
        }
    }

    fn clears_tool_results(&self) -> bool {
        true
    }

    fn forbid_tools(&self, request: HttpRequest) -> HttpRequest {
        request::forbid_tools(request)
    }

    fn error(&self, status: u16, body: &[u8]) -> ApiError {
        error::from_response(status, body)
    }

    fn rate_limit(&self, status: u16, headers: &[(String, String)]) -> Option<RateLimitInfo> {
        rate_limit::from_headers(status, headers)
    }
}

/// Appends the pieces of a value that is already JSON.
fn push_str(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}
