//! The HTTP client of servers: which addresses it goes to, what it keeps of what went wrong, and what it hides.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Client,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;

use super::{
    http_server::HttpServer,
    trouble::{Exchanges, Sentences, Trouble},
    wire::MAX_MESSAGE,
};
use crate::{
    http::{EndpointConfig, is_this_machine, root_cause, tls},
    redact::Redactor,
};

/// How long it may take to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval in which a silent connection is probed, so that a server that vanished is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// A client for one server, with its headers. It follows redirects within the same origin only, because what the headers say is meant
/// for that.
pub(super) fn client(server: &HttpServer) -> Result<Client, Trouble> {
    let sentences = Sentences::of(server);
    let extra = EndpointConfig::new("", crate::http::Auth::None).with_extra_ca_of_environment();
    let is_local = is_this_machine(&server.url);
    let config = match is_local && server.url.scheme() == "http" {
        true => tls::unused(),
        false => tls::trusting(&extra.extra_ca),
    };
    let origin = server.url.origin();
    let same_origin = redirect::Policy::custom(move |attempt| {
        if attempt.url().origin() != origin {
            let other = attempt.url().origin().ascii_serialization();
            return attempt.error(format!("to {other}, which is another server"));
        }
        match attempt.previous().len() > MAX_REDIRECTS {
            true => attempt.error("again and again"),
            false => attempt.follow(),
        }
    });
    let mut builder = Client::builder()
        .tls_backend_preconfigured(config.map_err(|error| sentences.refused(&error.to_string()))?)
        .default_headers(server.headers.clone())
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .redirect(same_origin)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(KEEP_ALIVE);
    if is_local {
        builder = builder.no_proxy();
    }
    builder
        .build()
        .map_err(|error| sentences.refused(&root_cause(&error)))
}

/// A client that keeps what went wrong, and hides keys.
#[derive(Clone)]
pub(super) struct Watched {
    client: Client,
    sentences: Sentences,
    exchanges: Arc<Exchanges>,
    redactor: Redactor,
}

type Outcome<T> = Result<T, StreamableHttpError<reqwest::Error>>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl Watched {
    pub(super) fn new(client: Client, server: &HttpServer, exchanges: Arc<Exchanges>) -> Self {
        Self {
            client,
            sentences: Sentences::of(server),
            exchanges,
            redactor: server.redactor.clone(),
        }
    }

    fn kept<T>(&self, outcome: Outcome<T>) -> Outcome<T> {
        match &outcome {
            Ok(_) => self.exchanges.succeeded(),
            Err(error) => self.exchanges.failed(self.sentences.of_error(error)),
        }
        outcome
    }

    /// The events without keys; what breaks off is kept.
    fn events(&self, events: Events, limit: usize) -> Events {
        let (sentences, exchanges) = (self.sentences.clone(), Arc::clone(&self.exchanges));
        let redactor = self.redactor.clone();
        let events = events.map(move |event| match event {
            Ok(mut event) => {
                event.data = event.data.map(|data| redactor.owned(data));
                Ok(event)
            }
            Err(error) => {
                exchanges.failed(sentences.of_stream(&error, limit));
                Err(error)
            }
        });
        events.boxed()
    }

    /// A message without keys.
    fn message(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let Ok(text) = serde_json::to_string(&message) else {
            return message;
        };
        match self.redactor.text(&text) {
            Cow::Borrowed(_) => message,
            Cow::Owned(clean) => serde_json::from_str(&clean).unwrap_or(message),
        }
    }
}

impl StreamableHttpClient for Watched {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        let limit = MAX_MESSAGE;
        self.post_message_with_max_sse_event_size(uri, message, session, auth, headers, limit)
            .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Outcome<StreamableHttpPostResponse> {
        let posted = self
            .client
            .post_message_with_max_sse_event_size(uri, message, session, auth, headers, limit);
        let response = self.kept(posted.await)?;
        let begun = match &response {
            StreamableHttpPostResponse::Json(_, session)
            | StreamableHttpPostResponse::Sse(_, session) => session.is_some(),
            _ => false,
        };
        if begun {
            self.exchanges.session_begun();
        }
        Ok(match response {
            StreamableHttpPostResponse::Json(message, session) => {
                StreamableHttpPostResponse::Json(self.message(message), session)
            }
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(self.events(events, limit), session)
            }
            response => response,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        let ended = self
            .client
            .delete_session(uri, session, auth, headers)
            .await;
        self.exchanges.session_ended();
        ended
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Outcome<Events> {
        let limit = MAX_MESSAGE;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, limit)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Outcome<Events> {
        let opened = self
            .client
            .get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, limit);
        // What the server says of its own accord is no exchange that could fail: its trouble is not that of a call.
        Ok(self.events(opened.await?, limit))
    }
}
