//! Another wire format: a provider that encodes requests and decodes responses, and a transport that sends them.
//!
//! The format here is minimal: the request is the size of the history in bytes, as decimal digits, and the response
//! is plain text. The "server" is a closure, so nothing leaves this process.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use windlass::{
    Agent,
    core::{
        EffectId, RawJson,
        content::Block,
        effect::{Answer, HttpRequest},
        message::ErrorClass,
        provider::{
            ApiError, Decoder, HistoryView, ModelRequest, Opening, Prefix, Provider, Response,
            StopReason, Usage, WireError,
        },
    },
};

#[derive(Debug)]
struct Telegraph;

impl Provider for Telegraph {
    fn prefix(&self, opening: &Opening<'_>) -> Prefix {
        Bytes::from(format!("to {}: ", opening.request.model)).into()
    }

    fn request(
        &self,
        _request: &ModelRequest<'_>,
        prefix: &Prefix,
        history: HistoryView<'_>,
    ) -> HttpRequest {
        let bytes: usize = history.segments.iter().map(Bytes::len).sum();
        HttpRequest {
            method: "POST",
            path: "/telegram".to_owned(),
            headers: Vec::new(),
            body: vec![prefix.bytes.clone(), Bytes::from(bytes.to_string())],
        }
    }

    fn decoder(&self, _content_type: &str, _wants_events: bool) -> Box<dyn Decoder> {
        Box::new(Telegram::default())
    }

    fn error(&self, status: u16, body: &[u8]) -> ApiError {
        ApiError {
            class: ErrorClass::ServerError,
            status: Some(status),
            message: format!(
                "the telegraph office says: {}",
                String::from_utf8_lossy(body)
            ),
            retryable: false,
            too_long: status == 413,
        }
    }
}

/// A response as it arrives. It is complete when the connection is closed.
#[derive(Debug, Default)]
struct Telegram(Vec<u8>);

impl Decoder for Telegram {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn take_events(&mut self) -> Vec<RawJson> {
        Vec::new()
    }

    fn is_complete(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Response, WireError> {
        Ok(Response {
            id: "telegram".to_owned(),
            model: "telegraph".to_owned(),
            content: vec![Block::text(&String::from_utf8_lossy(&self.0))],
            stop_reason: Some(StopReason::EndTurn),
            stop_sequence: None,
            usage: Usage::default(),
        })
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let office = |_id: EffectId, request: HttpRequest| {
        let words = String::from_utf8_lossy(&request.body_bytes()).into_owned();
        let answers = [
            Answer::HttpHead {
                status: 200,
                headers: Vec::new(),
            },
            Answer::HttpBody(Bytes::from(format!("RECEIVED {words} STOP"))),
            Answer::HttpEnd,
        ];
        stream::iter(answers).boxed()
    };
    let agent = Agent::builder()
        .model("the-lighthouse")
        .provider(Telegraph)
        .transport(office)
        .build()?;
    let result = agent.run("All well?").await?;
    println!("{}", result.result.unwrap_or_default());
    Ok(())
}
