//! The HTTP proxy: `CONNECT` for encrypted connections, absolute URIs for the rest. Each request is checked.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Method, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{CONNECTION, HeaderName, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::{BEGINNING, Closed, Gate, Place};
use crate::net::Target;

type Body = BoxBody<Bytes, hyper::Error>;

/// Hop-by-hop headers, between a program and its proxy.
const OF_THE_HOP: [&str; 6] = [
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "keep-alive",
    "te",
    "upgrade",
];

/// Serves one connection to its end.
pub(super) async fn serve(connection: TcpStream, gate: Arc<Gate>, place: Place) {
    let service = service_fn(move |request| {
        let (gate, place) = (Arc::clone(&gate), place.clone());
        async move { Ok::<_, Infallible>(answer(request, &gate, place).await) }
    });
    // A client that disconnects is not an error.
    let _ = hyper::server::conn::http1::Builder::new()
        .preserve_header_case(true)
        .timer(TokioTimer::new())
        .header_read_timeout(BEGINNING)
        .serve_connection(TokioIo::new(connection), service)
        .with_upgrades()
        .await;
}

async fn answer(request: Request<Incoming>, gate: &Gate, place: Place) -> Response<Body> {
    let outcome = match request.method() {
        &Method::CONNECT => tunnel(request, gate, place).await,
        _ => forward(request, gate).await,
    };
    outcome.unwrap_or_else(|closed| match closed {
        Closed::Refused(reason) => told(
            StatusCode::FORBIDDEN,
            &format!("The sandbox refuses this connection: {reason}.\n"),
        ),
        Closed::Unreachable(reason) => told(
            StatusCode::BAD_GATEWAY,
            &format!("There is no connection: {reason}.\n"),
        ),
    })
}

/// Opens a tunnel. Its contents are not inspected.
async fn tunnel(
    request: Request<Incoming>,
    gate: &Gate,
    place: Place,
) -> Result<Response<Body>, Closed> {
    let authority = request.uri().authority().map_or("", |it| it.as_str());
    let mut there = gate.connect(Target::of_authority(authority)).await?;
    tokio::spawn(async move {
        let _place = place;
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(upgraded), &mut there).await;
        }
    });
    Ok(Response::new(empty()))
}

/// Forwards a request to the host in its URI, whatever its `host` header says.
async fn forward(mut request: Request<Incoming>, gate: &Gate) -> Result<Response<Body>, Closed> {
    let target = Target::of_url(&request.uri().to_string());
    let there = gate.connect(target).await?;
    let unreachable = |error: hyper::Error| Closed::Unreachable(error.to_string());
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(there))
        .await
        .map_err(unreachable)?;
    tokio::spawn(connection);
    let authority = request.uri().authority().map(ToString::to_string);
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    let headers = request.headers_mut();
    for name in OF_THE_HOP {
        headers.remove(name);
    }
    headers.remove(CONNECTION);
    // A server may serve many hosts, and only this one was checked.
    if let Some(Ok(host)) = authority.map(|it| HeaderValue::from_str(&it)) {
        headers.insert(HeaderName::from_static("host"), host);
    }
    let response = sender.send_request(request).await.map_err(unreachable)?;
    Ok(response.map(http_body_util::BodyExt::boxed))
}

fn told(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(
        Full::from(text.to_owned())
            .map_err(|never| match never {})
            .boxed(),
    );
    *response.status_mut() = status;
    // A client may read until the connection closes, so it is closed after this response.
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

fn empty() -> Body {
    Full::default().map_err(|never| match never {}).boxed()
}
