//! Why exchanges over HTTP fail: in words, without keys, and kept for the calls that wait.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::transport::streamable_http_client::{SseError, StreamableHttpError};
use tokio::sync::Notify;

use super::http_server::HttpServer;
use crate::{http::root_cause, redact::Redactor};

/// The number of characters that are repeated of what a server says is wrong.
const MAX_SAID: usize = 500;

/// Why an exchange with a server failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It lets nobody in who has not signed in.
    NeedsAuth(String),
    /// There is no connection, or it broke.
    Unreachable(String),
    /// It answers, but not as the protocol wants.
    Refused(String),
}

impl Trouble {
    pub(super) fn text(&self) -> &str {
        let (Self::NeedsAuth(text) | Self::Unreachable(text) | Self::Refused(text)) = self;
        text
    }
}

/// What became of the last exchanges with a server, shared by its transport and its connection.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    trouble: Mutex<Option<Trouble>>,
    /// Whether the server has begun a session that it wants to be told the end of.
    has_session: Mutex<bool>,
    /// The end of that session was told.
    told: Notify,
}

/// How long the end of a session may take to be told.
const FAREWELL: Duration = Duration::from_secs(2);

impl Exchanges {
    /// The last trouble.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        locked(&self.trouble).clone()
    }

    /// An exchange has begun well.
    pub(super) fn succeeded(&self) {
        *locked(&self.trouble) = None;
    }

    pub(super) fn failed(&self, trouble: Trouble) {
        *locked(&self.trouble) = Some(trouble);
    }

    /// Waits until the server was told that the session is over.
    pub(super) async fn farewell(&self) {
        if *locked(&self.has_session) {
            // A server that does not answer is not waited for.
            let _ = tokio::time::timeout(FAREWELL, self.told.notified()).await;
        }
    }

    /// The server has begun a session.
    pub(super) fn session_begun(&self) {
        *locked(&self.has_session) = true;
    }

    /// The server was told that the session is over, or cannot be told.
    pub(super) fn session_ended(&self) {
        self.told.notify_one();
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every value is valid at every moment.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is said of a server's failures.
#[derive(Debug, Clone)]
pub(super) struct Sentences {
    address: String,
    has_authorization: bool,
    redactor: Redactor,
}

impl Sentences {
    pub(super) fn of(server: &HttpServer) -> Self {
        Self {
            address: server.address.clone(),
            has_authorization: !server.headers.is_empty(),
            redactor: server.redactor.clone(),
        }
    }

    /// The server refused a request with this status, saying so much.
    pub(super) fn status(&self, status: u16, said: &str) -> Trouble {
        let address = &self.address;
        if matches!(status, 401 | 403) {
            let advice = match self.has_authorization {
                true => "what its `headers` say does not let you in (expired?)",
                false => {
                    "give its configuration `headers`, for example {\"Authorization\": \"Bearer ${TOKEN}\"}"
                }
            };
            return Trouble::NeedsAuth(format!(
                "{address} lets nobody in without authorization ({status}): {advice}"
            ));
        }
        let said = self.said(said);
        let colon = if said.is_empty() { "" } else { ": " };
        Trouble::Refused(format!(
            "{address} does not speak the Model Context Protocol as it should ({status}){colon}{said}"
        ))
    }

    pub(super) fn unreachable(&self, error: &reqwest::Error) -> Trouble {
        let address = &self.address;
        let cause = self.said(&root_cause(error));
        Trouble::Unreachable(match error.is_redirect() {
            true => format!(
                "{address} sends elsewhere: {cause}; write that address, if you trust it with the headers"
            ),
            false if error.is_connect() => format!("cannot reach {address}: {cause}"),
            false => format!("cannot reach {address}: the exchange broke: {cause}"),
        })
    }

    pub(super) fn refused(&self, what: &str) -> Trouble {
        let what = self.said(what);
        Trouble::Refused(format!(
            "{} does not speak the Model Context Protocol as it should: {what}",
            self.address
        ))
    }

    /// What was said, on one line, without keys.
    fn said(&self, text: &str) -> String {
        let text = self.redactor.text(text);
        let words: Vec<&str> = text
            .split(|letter: char| letter.is_whitespace() || letter.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        words.join(" ").chars().take(MAX_SAID).collect()
    }

    /// The trouble behind an error of the transport.
    pub(super) fn of_error(&self, error: &StreamableHttpError<reqwest::Error>) -> Trouble {
        use StreamableHttpError as E;
        match error {
            E::AuthRequired(_) => self.status(401, ""),
            E::InsufficientScope(_) => self.status(403, ""),
            E::HttpStatus(error) => self.status(error.status, ""),
            E::SessionExpired => self.status(404, "it does not know the session any more"),
            E::Client(error) => match error.status() {
                Some(status) => self.status(status.as_u16(), ""),
                None => self.unreachable(error),
            },
            E::UnexpectedContentType(Some(kind)) => {
                self.refused(&format!("it answers with {kind}: is the address right?"))
            }
            E::UnexpectedContentType(None) => {
                self.refused("its answer does not say of which type it is")
            }
            E::ResponseBodyTooLarge { max_size } => self.too_long(*max_size),
            E::UnexpectedServerResponse(said) => match rejected(said) {
                Some((status, body)) => self.status(status, body),
                None => self.refused(said),
            },
            error => self.refused(&error.to_string()),
        }
    }

    pub(super) fn of_stream(&self, error: &SseError, limit: usize) -> Trouble {
        let text = error.to_string();
        match text.contains("exceed") {
            true => self.too_long(limit),
            false => Trouble::Unreachable(format!(
                "cannot reach {}: its answer broke off: {}",
                self.address,
                self.said(&root_cause(error))
            )),
        }
    }

    pub(super) fn too_long(&self, limit: usize) -> Trouble {
        self.refused(&format!(
            "the answer is longer than {} MiB and was not read",
            limit >> 20
        ))
    }
}

/// The status and the body in the transport's words for an answer that is no success.
fn rejected(said: &str) -> Option<(u16, &str)> {
    let (status, body) = said.strip_prefix("HTTP ")?.split_once(": ")?;
    let number = status.split(' ').next()?.parse().ok()?;
    Some((number, body))
}
