//! Clients over Streamable HTTP, on this machine.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{net::TcpListener, net::TcpStream, time::sleep};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use crate::engine::ComponentTools;

/// The path under which the server is reached.
const PATH: &str = "/mcp";

/// The pause before the next attempt when the system cannot accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What a client has to send as its bearer token.
#[derive(Debug, Clone)]
pub struct AccessToken(SecretString);

impl AccessToken {
    /// A token.
    ///
    /// # Errors
    /// A sentence, if no header can carry it.
    pub fn new(token: &str) -> Result<Self, &'static str> {
        let is_usual = |letter: char| letter.is_ascii_graphic();
        match !token.is_empty() && token.chars().all(is_usual) {
            true => Ok(Self(token.into())),
            false => Err("a token has visible ASCII characters only, and no spaces"),
        }
    }

    /// Whether a header carries it. Takes the same time for every token of its length.
    fn is_in(&self, header: Option<&HeaderValue>) -> bool {
        let given = header.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        let Some((scheme, given)) = given else {
            return false;
        };
        let (given, token) = (given.trim().as_bytes(), self.0.expose_secret().as_bytes());
        let differ = given.iter().zip(token).fold(0, |sum, (a, b)| sum | (a ^ b));
        scheme.eq_ignore_ascii_case("bearer") && given.len() == token.len() && differ == 0
    }
}

/// Why clients cannot be listened to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address belongs to a network.
    #[error(
        "{0} is no address of this machine alone: tools are served on loopback only, such as 127.0.0.1:8080"
    )]
    NotLoopback(SocketAddr),
    /// The port is in use, or not allowed.
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for a free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Listens for clients on a loopback address.
///
/// A request is answered only if its `Host` is this machine and its `Origin`, if it has one, is this server, so that no page in a
/// browser reaches it; and if it carries the token, if there is one.
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    token: Option<AccessToken>,
}

impl HttpListener {
    /// Listens on an address; port 0 picks a free one.
    ///
    /// # Errors
    /// [`ListenError`]
    pub async fn bind(
        address: SocketAddr,
        token: Option<AccessToken>,
    ) -> Result<Self, ListenError> {
        if !address.ip().is_loopback() {
            return Err(ListenError::NotLoopback(address));
        }
        let failed = |source| ListenError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            token,
        })
    }

    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves clients until `stop` fires. Calls that still run are stopped then.
    pub async fn serve(self, tools: &Arc<ComponentTools>, stop: CancellationToken) {
        let tools = Arc::clone(tools);
        let protocol = StreamableHttpService::new(
            move || Ok(Handler::new(&tools)),
            Arc::new(LocalSessionManager::default()),
            config(self.address.port(), stop.child_token()),
        );
        let server = Arc::new(Server {
            protocol,
            token: self.token,
        });
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, _)) => {
                    let (server, stop) = (Arc::clone(&server), stop.clone());
                    tokio::spawn(async move {
                        tokio::select! {
                            () = server.converse(stream) => {}
                            () = stop.cancelled() => {}
                        }
                    });
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

/// Requests of other origins are refused, as the specification wants it against DNS rebinding.
fn config(port: u16, stop: CancellationToken) -> StreamableHttpServerConfig {
    let hosts = ["localhost", "127.0.0.1", "[::1]"];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.iter().flat_map(|host| {
            [
                format!("{host}:{port}"),
                host.trim_matches(['[', ']']).to_owned(),
            ]
        }))
        .with_allowed_origins(hosts.map(|host| format!("http://{host}:{port}")))
        .enforce_origin_validation()
        .with_cancellation_token(stop)
}

/// What all connections share.
struct Server {
    protocol: StreamableHttpService<Handler, LocalSessionManager>,
    token: Option<AccessToken>,
}

impl Server {
    async fn converse(self: &Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request| {
            let server = Arc::clone(self);
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        // A connection that breaks off ends by itself.
        let _ = http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<BoxBody<Bytes, Infallible>> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        let is_let_in = match &self.token {
            None => true,
            Some(token) => token.is_in(request.headers().get(AUTHORIZATION)),
        };
        if !is_let_in {
            let mut refused = refusal(
                StatusCode::UNAUTHORIZED,
                "the bearer token is missing or wrong",
            );
            let scheme = HeaderValue::from_static("Bearer");
            refused.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return refused;
        }
        let (parts, body) = self.protocol.handle(request).await.into_parts();
        Response::from_parts(parts, body.boxed())
    }
}

fn refusal(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
