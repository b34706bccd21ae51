//! A scripted model behind a loopback address.
//!
//! Serves a [`Script`] (format: `docs/scripted-model.md`) over HTTP/1.1: for programs that can only be tested through
//! a socket, for demonstrations, and for benchmarks. [`ScriptedModel`] produces the answers; this module adds real
//! connections, delays and connection failures.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt as _, Either, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Frame, Incoming},
    header::{HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::sleep,
};
use windlass_scripted_model::{Miss, Piece, RequestView, ScriptedModel, Unmet};
pub use windlass_scripted_model::{Script, ScriptError, script};

/// The pause before the next attempt when the system cannot accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Options for serving a script.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// Whether requests are recorded for [`ModelServer::requests`]. Their bodies stay in memory.
    pub record: bool,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            port: 0,
            record: true,
        }
    }
}

impl ServeOptions {
    /// Sets the port on 127.0.0.1; 0 picks a free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Whether requests are recorded.
    #[must_use]
    pub fn record(mut self, record: bool) -> Self {
        self.record = record;
        self
    }
}

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Path and query.
    pub path: String,
    /// Headers, names in lower case. A value that is not text is shown as empty.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
}

/// The server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelServerError {
    /// The port is in use, or not allowed.
    #[error(
        "cannot listen on 127.0.0.1:{port}: {source}; choose another port, or 0 for a free one"
    )]
    Listen {
        /// The requested port.
        port: u16,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system could not create a thread or an event queue.
    #[error("cannot start the thread of the model server: {0}; the system is out of resources")]
    Start(io::Error),
}

/// A scripted model behind an address. Dropping it stops the server and closes open connections.
///
/// It runs on its own thread, so it can be used from blocking tests and from any runtime.
///
/// ```
/// use windlass::model_server::ModelServer;
/// use windlass::model_server::Script;
/// let server = ModelServer::start(Script::says(["Hello."]))?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// # Ok::<(), windlass::model_server::ModelServerError>(())
/// ```
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    model: Mutex<ScriptedModel>,
    /// `None` when requests are not recorded.
    requests: Option<Mutex<Vec<RecordedRequest>>>,
}

impl ModelServer {
    /// Serves a script on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// [`ModelServerError`] when no port or thread is available.
    pub fn start(script: Script) -> Result<Self, ModelServerError> {
        Self::start_with(script, ServeOptions::default())
    }

    /// Serves a script with these options.
    ///
    /// # Errors
    /// [`ModelServerError`] when no port or thread is available.
    pub fn start_with(script: Script, options: ServeOptions) -> Result<Self, ModelServerError> {
        let port = options.port;
        let listen = |source| ModelServerError::Listen { port, source };
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ModelServerError::Start)?;
        let shared = Arc::new(Shared {
            model: Mutex::new(ScriptedModel::new(script)),
            requests: options.record.then(Mutex::default),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = shared.clone();
        let thread = thread::Builder::new()
            .name("scripted-model".into())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = accept(listener, serving) => {}
                        // Either a stop request, or the server was dropped.
                        _ = stopped => {}
                    }
                });
            })
            .map_err(ModelServerError::Start)?;
        Ok(Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The base address, without a trailing slash, as for `ANTHROPIC_BASE_URL`. With `/v1` appended, it works for
    /// `OPENAI_BASE_URL`: the path of a request selects the protocol.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The socket address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All recorded requests to the model so far, in the order in which they were answered.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        match &self.shared.requests {
            Some(requests) => lock(requests).clone(),
            None => Vec::new(),
        }
    }

    /// Requests that did not match the script.
    #[must_use]
    pub fn misses(&self) -> Vec<Miss> {
        lock(&self.shared.model).misses().to_vec()
    }

    /// Checks that the script was followed to its end.
    ///
    /// # Errors
    /// [`Unmet`]: the misses, and the exchanges that were not requested.
    pub fn verify(&self) -> Result<(), Unmet> {
        lock(&self.shared.model).verify()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // There is nothing to report: a panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No update is left unfinished while the lock is held, so the data is valid after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts connections forever.
async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let listener = match TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("scripted model: cannot listen: {error}");
            return;
        }
    };
    loop {
        match listener.accept().await {
            Ok((socket, _)) => drop(tokio::spawn(connection(socket, shared.clone()))),
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Answers the requests of one connection.
async fn connection(socket: TcpStream, shared: Arc<Shared>) {
    // Pieces should arrive as they are sent; if this fails, they still arrive.
    let _ = socket.set_nodelay(true);
    let service = service_fn(move |request| respond(shared.clone(), request));
    // An error here means that the client disconnected, or that the script broke the connection.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

/// The connection is to be broken.
#[derive(Debug, thiserror::Error)]
#[error("the script breaks the connection here")]
struct Broken;

/// A body sent at once with its length, or piece by piece.
type AnswerBody = Either<Full<Bytes>, UnsyncBoxBody<Bytes, Broken>>;

async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Broken> {
    if request.method() != Method::POST {
        return Ok(greeting(request.method(), request.uri().path()));
    }
    let request = received(request).await?;
    let pieces = lock(&shared.model).answer(&RequestView {
        path: &request.path,
        headers: &request.headers,
        body: &request.body,
    });
    if let Some(requests) = &shared.requests {
        lock(requests).push(request);
    }
    let mut pieces = pieces.into_iter();
    let (status, headers) = loop {
        match pieces.next() {
            Some(Piece::Head { status, headers }) => break (status, headers),
            Some(Piece::Delay(ms)) => sleep(Duration::from_millis(ms)).await,
            Some(Piece::Hang) => std::future::pending().await,
            _ => return Err(Broken),
        }
    };
    let body = match pieces.as_slice() {
        [Piece::End] => Either::Left(Full::default()),
        [Piece::Bytes(whole), Piece::End] => Either::Left(Full::new(whole.clone())),
        _ => Either::Right(in_pieces(pieces)),
    };
    Ok(head(status, &headers, body))
}

/// Reads the whole request.
async fn received(request: Request<Incoming>) -> Result<RecordedRequest, Broken> {
    let (parts, body) = request.into_parts();
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    Ok(RecordedRequest {
        path: match parts.uri.path_and_query() {
            Some(path) => path.as_str().to_owned(),
            None => parts.uri.path().to_owned(),
        },
        headers: (parts.headers.iter())
            .map(|(name, value)| (name.as_str().to_owned(), text(value)))
            .collect(),
        // A client that disconnected during its request gets no answer.
        body: body.collect().await.map_err(|_| Broken)?.to_bytes(),
    })
}

/// Status and headers. A header that is invalid in HTTP becomes an error that names it.
fn head(status: u16, headers: &[(String, String)], body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    // The status in a script is between 200 and 599.
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        let parsed = HeaderName::try_from(name)
            .ok()
            .zip(HeaderValue::try_from(value).ok());
        let Some((name, value)) = parsed else {
            let problem = format!(
                "scripted model: HTTP cannot carry the header {name:?} with the value {value:?}; correct it in the script"
            );
            let mut response = Response::new(Either::Left(Full::from(problem)));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        };
        response.headers_mut().insert(name, value);
    }
    response
}

/// A body that sends each piece separately.
fn in_pieces(pieces: std::vec::IntoIter<Piece>) -> UnsyncBoxBody<Bytes, Broken> {
    let frames = stream::unfold(pieces, |mut pieces| async move {
        loop {
            // The writer flushes when the body has nothing ready.
            tokio::task::yield_now().await;
            return match pieces.next() {
                Some(Piece::Bytes(bytes)) => Some((Ok(Frame::data(bytes)), pieces)),
                Some(Piece::Delay(ms)) => {
                    sleep(Duration::from_millis(ms)).await;
                    continue;
                }
                Some(Piece::Hang) => std::future::pending().await,
                Some(Piece::Cut) => Some((Err(Broken), pieces)),
                // There is only one head, and it was sent already.
                Some(Piece::Head { .. }) => continue,
                Some(Piece::End) | None => None,
            };
        }
    });
    StreamBody::new(frames).boxed_unsync()
}

/// The answer to other methods than POST: a greeting at `/`, otherwise "not found".
fn greeting(method: &Method, path: &str) -> Response<AnswerBody> {
    let alive = path == "/" && (method == Method::GET || method == Method::HEAD);
    let text = if alive {
        "The scripted model of windlass: POST /v1/messages or /v1/chat/completions\n".to_owned()
    } else {
        r#"{"type":"error","error":{"type":"not_found_error","message":"scripted model: only POST is answered by the script"}}"#.to_owned()
    };
    let mut response = Response::new(Either::Left(Full::from(text)));
    if !alive {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}
