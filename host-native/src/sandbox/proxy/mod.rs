//! The way out of a sandbox's network: HTTP and SOCKS proxies that run in this process, on sockets created inside of the sandbox.
//!
//! They run on their own thread, because a sandbox may be used from several runtimes, or created without one.

mod http;
mod refusals;
mod socks;

use std::{io, net::Ipv4Addr, sync::Arc, thread, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

pub(super) use self::refusals::{Refusal, Refusals};
use super::ProxySockets;
use crate::net::{DomainList, Target, TargetError};

/// The maximum number of concurrent connections of all commands of a sandbox: each uses two file descriptors of this
/// process, which needs some itself. Further connections wait in the kernel's queue.
const MOST: usize = 128;

/// How long a client may take to send its request.
const BEGINNING: Duration = Duration::from_secs(30);

/// Decides about connections.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) domains: DomainList,
    /// Proxies of the user, which decide themselves.
    pub(super) own_http: Option<u16>,
    pub(super) own_socks: Option<u16>,
    pub(super) refusals: Arc<Refusals>,
}

/// The running proxies; dropping this stops them.
#[derive(Debug)]
pub(super) struct Proxies(CancellationToken);

impl Proxies {
    /// Starts the proxies.
    ///
    /// # Errors
    /// The thread or its runtime cannot be created.
    pub(super) fn start(sockets: ProxySockets, gate: Gate) -> io::Result<Self> {
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        sockets.http.set_nonblocking(true)?;
        sockets.socks.set_nonblocking(true)?;
        let serve = move || {
            runtime.block_on(async {
                let (gate, places) = (Arc::new(gate), Arc::new(Semaphore::new(MOST)));
                let serving = async {
                    tokio::join!(
                        accept(sockets.http, Kind::Http, &gate, &places),
                        accept(sockets.socks, Kind::Socks, &gate, &places)
                    )
                };
                tokio::select! {
                    _ = serving => {}
                    () = stopped.cancelled() => {}
                }
            });
            // Does not wait for a name lookup in progress.
            runtime.shutdown_background();
        };
        thread::Builder::new()
            .name("windlass-proxy".to_owned())
            .spawn(serve)?;
        Ok(Self(stop))
    }
}

impl Drop for Proxies {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Http,
    Socks,
}

async fn accept(
    listener: std::net::TcpListener,
    kind: Kind,
    gate: &Arc<Gate>,
    places: &Arc<Semaphore>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    // The semaphore is never closed, so a permit becomes available sooner or later.
    while let Ok(place) = Arc::clone(places).acquire_owned().await {
        // If a connection is already gone, the next one is accepted. If file descriptors have run out, accepting is
        // retried after a pause.
        let Ok((connection, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let gate = Arc::clone(gate);
        tokio::spawn(async move {
            let place = Place(Arc::new(place));
            match (kind, gate.own_http, gate.own_socks) {
                (Kind::Http, Some(port), _) | (Kind::Socks, _, Some(port)) => {
                    hand_on(connection, port).await;
                }
                (Kind::Http, ..) => http::serve(connection, gate, place).await,
                (Kind::Socks, ..) => socks::serve(connection, &gate).await,
            }
        });
    }
}

/// A permit held as long as a connection is served, including data passed through it.
#[derive(Debug, Clone)]
struct Place(#[allow(dead_code, reason = "held")] Arc<OwnedSemaphorePermit>);

/// Passes everything to a proxy on this machine.
async fn hand_on(mut connection: TcpStream, port: u16) {
    if let Ok(mut proxy) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        let _ = tokio::io::copy_bidirectional(&mut connection, &mut proxy).await;
    }
}

impl Gate {
    /// Connects to a host if it is allowed. The check applies to the very address that is connected to.
    async fn connect(&self, target: Result<Target, TargetError>) -> Result<TcpStream, Closed> {
        let addresses = match target {
            Ok(target) => target.resolve(&self.domains).await,
            Err(error) => Err(error),
        };
        let addresses = addresses.map_err(|error| {
            let host = match &error {
                TargetError::NotAllowed(host) | TargetError::Denied(host) => host.clone(),
                TargetError::Address { host, .. } | TargetError::Unresolved { host, .. } => {
                    host.clone()
                }
                TargetError::Unreadable(text) => text.clone(),
                TargetError::Scheme(_) | TargetError::UserInfo => String::new(),
            };
            let text = error.to_string();
            match error {
                TargetError::Unresolved { .. } => Closed::Unreachable(text),
                _ => {
                    self.refusals.add(host, text.clone());
                    Closed::Refused(text)
                }
            }
        })?;
        let mut failure = Closed::Unreachable("it has no address".to_owned());
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = Closed::Unreachable(format!("{address}: {error}")),
            }
        }
        Err(failure)
    }
}

/// Why there is no connection.
#[derive(Debug)]
enum Closed {
    /// It is not allowed.
    Refused(String),
    /// It failed.
    Unreachable(String),
}
