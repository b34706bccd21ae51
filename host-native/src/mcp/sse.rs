//! HTTP with server-sent events, the transport of the protocol's first version (2024-11-05): the server says over one stream where
//! messages are posted, and answers over that stream.

use std::{io, sync::Arc};

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use windlass_core::sse::SseParser;

use super::{
    http_server::HttpServer,
    trouble::{Exchanges, Sentences, Trouble},
    wire::{MAX_MESSAGE, unreadable},
};

/// The number of bytes that are read of an answer that is no success.
const MAX_REFUSAL: usize = 4096;

type Incoming = RxJsonRpcMessage<RoleClient>;

/// An open stream of a server, and where it wants to be answered.
pub(super) struct SseTransport {
    client: Client,
    endpoint: Url,
    stream: EventStream,
    sentences: Sentences,
    exchanges: Arc<Exchanges>,
    redactor: crate::redact::Redactor,
}

/// The events of a stream, as far as they have been received.
struct EventStream {
    pieces: BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    parser: SseParser,
    ready: std::collections::VecDeque<Vec<u8>>,
}

impl SseTransport {
    /// Opens the stream and waits for the address of messages. It has to be of the same origin: what the headers say is meant for
    /// that.
    pub(super) async fn open(
        client: Client,
        server: &HttpServer,
        exchanges: Arc<Exchanges>,
    ) -> Result<Self, Trouble> {
        let sentences = Sentences::of(server);
        let asked = client
            .get(server.url.clone())
            .header(ACCEPT, "text/event-stream");
        let response = asked
            .send()
            .await
            .map_err(|error| sentences.unreachable(&error))?;
        let response = accepted(response, &sentences).await?;
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(sentences.refused(&format!(
                "it answers with {kind:?} and not with a stream of events: is its type \"http\"?"
            )));
        }
        let mut stream = EventStream {
            pieces: response.bytes_stream().boxed(),
            parser: SseParser::new(MAX_MESSAGE),
            ready: std::collections::VecDeque::new(),
        };
        let first = stream.next(&sentences).await?;
        let first = first.ok_or_else(|| {
            sentences.refused("it ended its stream before it said where messages are posted")
        })?;
        let text = String::from_utf8_lossy(&first);
        let endpoint = server.url.join(text.trim());
        let endpoint =
            endpoint.map_err(|_| sentences.refused("where messages are posted is no address"))?;
        if endpoint.origin() != server.url.origin() {
            let other = endpoint.origin().ascii_serialization();
            return Err(sentences.refused(&format!(
                "messages are to be posted to {other}, which is another server"
            )));
        }
        Ok(Self {
            client,
            endpoint,
            stream,
            sentences,
            exchanges,
            redactor: server.redactor.clone(),
        })
    }
}

impl EventStream {
    /// The data of the next event; none at the end of the stream. Cancel-safe: what was received is kept before anything waits.
    async fn next(&mut self, sentences: &Sentences) -> Result<Option<Vec<u8>>, Trouble> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Ok(Some(data));
            }
            let Some(piece) = self.pieces.next().await else {
                return Ok(None);
            };
            let piece = piece.map_err(|error| sentences.unreachable(&error))?;
            let ready = &mut self.ready;
            self.parser
                .feed(&piece, |data| ready.push_back(data.to_vec()))
                .map_err(|_| sentences.too_long(MAX_MESSAGE))?;
        }
    }
}

/// The response, if it is a success.
async fn accepted(response: Response, sentences: &Sentences) -> Result<Response, Trouble> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let mut said = Vec::new();
    let mut pieces = response.bytes_stream();
    while said.len() < MAX_REFUSAL
        && let Some(Ok(piece)) = pieces.next().await
    {
        said.extend_from_slice(&piece);
    }
    said.truncate(MAX_REFUSAL);
    Err(sentences.status(status.as_u16(), &String::from_utf8_lossy(&said)))
}

impl Transport<RoleClient> for SseTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let post = self
            .client
            .post(self.endpoint.clone())
            .header(CONTENT_TYPE, "application/json");
        let (sentences, exchanges) = (self.sentences.clone(), Arc::clone(&self.exchanges));
        async move {
            let body = serde_json::to_vec(&message)?;
            let sent = match post.body(body).send().await {
                Ok(response) => accepted(response, &sentences).await.map(|_| ()),
                Err(error) => Err(sentences.unreachable(&error)),
            };
            sent.map_err(|trouble| {
                let text = trouble.text().to_owned();
                exchanges.failed(trouble);
                io::Error::other(text)
            })
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            let next = self.stream.next(&self.sentences).await;
            let ended = || self.sentences.refused("it ended its stream");
            let data = match next.and_then(|data| data.ok_or_else(ended)) {
                Ok(data) => self.redactor.bytes(data.into()),
                Err(trouble) => {
                    self.exchanges.failed(trouble);
                    return None;
                }
            };
            match serde_json::from_slice::<Incoming>(&data) {
                Ok(message) => return Some(message),
                Err(error) => {
                    if let Some(refusal) = unreadable(&data, &error) {
                        return Some(refusal);
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.stream.pieces = futures_util::stream::empty().boxed();
        Ok(())
    }
}
