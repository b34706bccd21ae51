//! Encrypted requests of plugins: to servers that somebody vouches for, and to no others.

use std::{
    io::Write as _,
    net::TcpListener,
    path::PathBuf,
    thread::{self, JoinHandle},
};

use rustls::{ServerConnection, StreamOwned};
use secrecy::SecretString;
use serde_json::json;
use windlass::plugins::{ComponentGrant, Method, PluginHost, PluginHostConfig, SecretSource};

use crate::{
    plugin_probe::{Probe, said},
    tls,
};

/// A server on loopback that answers one request over TLS. In the end it gives the request, if its client trusted it.
struct TlsServer {
    origin: String,
    /// The authority that vouches for it.
    authority: String,
    thread: JoinHandle<Option<String>>,
}

impl TlsServer {
    fn start() -> Self {
        let (settings, authority) = tls::for_localhost();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!(
            "https://localhost:{}",
            listener.local_addr().unwrap().port()
        );
        let thread = thread::spawn(move || {
            let (socket, _) = listener.accept().unwrap();
            let connection = ServerConnection::new(settings).unwrap();
            let mut stream = StreamOwned::new(connection, socket);
            // A client that does not trust the certificate ends the handshake.
            let request = tls::request_head(&mut stream).ok().flatten()?;
            let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
            stream.write_all(reply).unwrap();
            stream.conn.send_close_notify();
            let _ = stream.flush();
            Some(request)
        });
        Self {
            origin,
            authority,
            thread,
        }
    }
}

/// What a plugin says of this server that sends it a secret, and the request that the server got.
fn asked(certificates: impl FnOnce(&TlsServer) -> Vec<PathBuf>) -> (String, Option<String>) {
    let server = TlsServer::start();
    let origin = server.origin.clone();
    let host = PluginHost::new(PluginHostConfig {
        certificates: certificates(&server),
        secrets: SecretSource::new(|_| Some(SecretString::from("canary-0123456789"))),
        ..PluginHostConfig::default()
    });
    let asks = json!({"grants": {
        "http": [origin],
        "secrets": [{"name": "TOKEN", "description": "A token.", "audience": [origin]}],
    }});
    let grant = ComponentGrant::default()
        .origin(origin.parse().unwrap(), [Method::Get])
        .secret("TOKEN", "TOKEN");
    let probe = Probe::default().send_secret(&[], &[("authorization", "TOKEN", "Bearer ", None)]);
    let answer = said(
        &probe.granted(&host, &asks, &grant),
        &format!("{origin}/v1"),
    );
    (answer, server.thread.join().unwrap())
}

#[test]
fn card_5_an_encrypted_request_reaches_a_server_that_somebody_vouches_for_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let (answer, request) = asked(|server| {
        let file = folder.path().join("authority.pem");
        std::fs::write(&file, &server.authority).unwrap();
        vec![file]
    });
    assert!(
        answer.starts_with("200\n") && answer.ends_with("hello"),
        "{answer}"
    );
    let request = request.unwrap();
    assert!(
        request.contains("authorization: Bearer canary-0123456789\r\n"),
        "{request}"
    );

    let (answer, request) = asked(|_| Vec::new());
    assert!(
        answer.starts_with("F0 ") && answer.contains("could not be reached"),
        "{answer}"
    );
    assert_eq!(request, None);
}
