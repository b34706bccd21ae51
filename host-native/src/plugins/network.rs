//! Sends the requests of components: to addresses that were judged, without a proxy, and to no place that an answer names.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use bytes::Bytes;
use reqwest::{Client, header::HeaderMap, redirect};
use rustls::ClientConfig;
use tokio::{runtime::Runtime, task::AbortHandle};
use url::Url;

use super::{
    names::{Names, NamesOfHost, Resolver},
    origin::{Method, Origin},
    outcome::{Stopped, Watch},
    recorded::{RecordedNetwork, RecordedRequest},
    ticker::TICK,
};
use crate::http::{root_cause, tls};

/// How long a connection may take to be there.
const CONNECTING: Duration = Duration::from_secs(30);

/// What requests say that they come from, if the component says nothing else.
const USER_AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));

/// A request that may be sent.
pub(super) struct Outgoing {
    pub(super) origin: Origin,
    pub(super) url: Url,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A complete answer.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why there is no answer. What a component is told of an unreachable host is always the same: it must not find out which names
/// and addresses there are inside of a network.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("{origin} could not be reached")]
    Unreachable { origin: Origin, reason: String },
    #[error("the exchange with {origin} broke: {reason}")]
    Broken { origin: Origin, reason: String },
    #[error("the answer of {origin} is longer than the {limit} bytes that are left to this call")]
    TooLong { origin: Origin, limit: usize },
}

/// The client of a host. It starts with the first request.
pub(super) struct Network {
    names: NamesOfHost,
    certificates: Vec<PathBuf>,
    /// Answers in place of all servers.
    recorded: Option<RecordedNetwork>,
    worker: OnceLock<Result<Worker, String>>,
}

/// The thread that waits for answers.
struct Worker {
    /// Taken when it ends.
    runtime: Option<Runtime>,
    encrypted: ClientConfig,
    plain: ClientConfig,
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A runtime that is dropped waits for its threads, which another runtime's thread must not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Worker {
    fn start(certificates: &[PathBuf]) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("windlass-plugin-http")
            .enable_io()
            .enable_time()
            .build();
        Ok(Self {
            runtime: Some(runtime.map_err(|error| error.to_string())?),
            encrypted: tls::trusting(certificates).map_err(|error| error.to_string())?,
            plain: tls::unused().map_err(|error| error.to_string())?,
        })
    }
}

impl Network {
    pub(super) fn new(
        resolver: Resolver,
        certificates: Vec<PathBuf>,
        recorded: Option<RecordedNetwork>,
    ) -> Self {
        Self {
            names: NamesOfHost::new(resolver),
            certificates,
            recorded,
            worker: OnceLock::new(),
        }
    }

    /// Sends a request of a component and waits for the whole answer, of at most so many bytes, as long as the call may go on.
    /// Gives the number of bytes, too, that came of its body, whether it was whole or not.
    ///
    /// # Errors
    /// [`Stopped`]: the call ends. [`Unanswered`]: there is no answer, and the call goes on.
    pub(super) fn exchange(
        &self,
        outgoing: Outgoing,
        limit: usize,
        component: &Arc<str>,
        watch: &Watch,
    ) -> (Result<Result<Answered, Unanswered>, Stopped>, usize) {
        let received = Arc::new(AtomicUsize::new(0));
        let taking = Taking {
            limit,
            received: Arc::clone(&received),
        };
        let answered = self.answered(outgoing, taking, component, watch);
        (answered, received.load(Ordering::Acquire))
    }

    fn answered(
        &self,
        outgoing: Outgoing,
        taking: Taking,
        component: &Arc<str>,
        watch: &Watch,
    ) -> Result<Result<Answered, Unanswered>, Stopped> {
        if let Some(recorded) = &self.recorded {
            return Ok(from_record(recorded, outgoing, &taking));
        }
        let origin = outgoing.origin.clone();
        let broken = |reason: &str| Unanswered::Broken {
            origin: origin.clone(),
            reason: reason.to_owned(),
        };
        let worker = match self
            .worker
            .get_or_init(|| Worker::start(&self.certificates))
        {
            Ok(worker) => worker,
            Err(reason) => return Ok(Err(broken(reason))),
        };
        let Some(runtime) = &worker.runtime else {
            return Ok(Err(broken("the client has ended")));
        };
        let tls = match origin.is_encrypted() {
            true => worker.encrypted.clone(),
            false => worker.plain.clone(),
        };
        let (answer, answered) = mpsc::sync_channel(1);
        let names = self.names.of(component);
        let task = runtime.spawn(async move {
            // Nobody waits any more if it cannot be sent.
            let _ = answer.send(send(outgoing, taking, &names, tls).await);
        });
        let _abort = AbortOnDrop(task.abort_handle());
        loop {
            match answered.recv_timeout(TICK) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => watch.check()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(broken("it was given up"))),
            }
        }
    }
}

/// How much of an answer is taken, and how much has come.
struct Taking {
    limit: usize,
    received: Arc<AtomicUsize>,
}

impl Taking {
    /// Counts a piece. False if it is too much.
    fn takes(&self, piece: &[u8]) -> bool {
        let before = self.received.fetch_add(piece.len(), Ordering::AcqRel);
        before.saturating_add(piece.len()) <= self.limit
    }
}

/// The recorded answer to a request, which is not sent.
fn from_record(
    recorded: &RecordedNetwork,
    outgoing: Outgoing,
    taking: &Taking,
) -> Result<Answered, Unanswered> {
    let answer = recorded.answer(RecordedRequest {
        method: outgoing.method.as_str(),
        url: outgoing.url.as_str(),
        headers: &outgoing.headers,
        body: &outgoing.body,
    });
    let (origin, limit) = (outgoing.origin, taking.limit);
    match answer {
        Err(reason) => Err(Unanswered::Broken { origin, reason }),
        Ok(answer) if !taking.takes(&answer.body) => Err(Unanswered::TooLong { origin, limit }),
        Ok(answer) => Ok(Answered {
            status: answer.status,
            headers: answer.header_map(),
            body: answer.body.into(),
        }),
    }
}

/// Closes the connection of a request that nobody waits for.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn send(
    outgoing: Outgoing,
    taking: Taking,
    names: &Names,
    tls: ClientConfig,
) -> Result<Answered, Unanswered> {
    let Outgoing {
        origin,
        url,
        method,
        headers,
        body,
    } = outgoing;
    let unreachable = |reason: String| Unanswered::Unreachable {
        origin: origin.clone(),
        reason,
    };
    let broken = |error: &reqwest::Error| Unanswered::Broken {
        origin: origin.clone(),
        reason: root_cause(error),
    };
    let addresses = names.addresses(&origin).await.map_err(unreachable)?;
    // One for each request: connections are made to the addresses that were judged for it, and none is left open for others.
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .resolve_to_addrs(origin.host(), &addresses)
        .connect_timeout(CONNECTING)
        .pool_max_idle_per_host(0)
        .user_agent(USER_AGENT)
        .build()
        .map_err(|error| broken(&error))?;
    let method = match method {
        Method::Get => reqwest::Method::GET,
        Method::Head => reqwest::Method::HEAD,
        Method::Options => reqwest::Method::OPTIONS,
        Method::Post => reqwest::Method::POST,
        Method::Put => reqwest::Method::PUT,
        Method::Patch => reqwest::Method::PATCH,
        Method::Delete => reqwest::Method::DELETE,
    };
    let mut request = client.request(method, url).headers(headers);
    if !body.is_empty() {
        request = request.body(body);
    }
    let mut response = request
        .send()
        .await
        .map_err(|error| match error.is_connect() {
            true => unreachable(root_cause(&error)),
            false => broken(&error),
        })?;
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        if !taking.takes(&piece) {
            let limit = taking.limit;
            return Err(Unanswered::TooLong { origin, limit });
        }
        body.extend_from_slice(&piece);
    }
    Ok(Answered {
        status: response.status().as_u16(),
        headers: std::mem::take(response.headers_mut()),
        body: body.into(),
    })
}

/// What a call has left of the network, and the answers that it has not read.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    /// Bytes of requests and answers.
    pub(super) bytes_left: usize,
    bodies: BTreeMap<u32, Bytes>,
}

impl Exchanges {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes_left: bytes,
            ..Self::default()
        }
    }

    /// Keeps a body under its number until it is read.
    pub(super) fn keep(&mut self, number: u32, body: Bytes) {
        self.bodies.insert(number, body);
    }

    /// The next bytes of a body; none at its end.
    pub(super) fn read(&mut self, number: u32, max: u32) -> Bytes {
        let Some(body) = self.bodies.get_mut(&number) else {
            return Bytes::new();
        };
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        body.split_to(body.len().min(max))
    }

    /// How many answers there are that were not dropped.
    pub(super) fn open(&self) -> usize {
        self.bodies.len()
    }

    pub(super) fn close(&mut self, number: u32) {
        self.bodies.remove(&number);
    }
}
