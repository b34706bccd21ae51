//! The model endpoint against servers that behave and servers that do not, all on loopback.

#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use secrecy::SecretString;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};
use windlass::http::{Auth, EndpointConfig, EndpointError, ModelEndpoint};
use windlass_core::effect::{Answer, HttpFailure, HttpFailureKind, HttpRequest};

const KEY: &str = "sk-canary-1234";

fn config(base_url: impl Into<String>) -> EndpointConfig {
    EndpointConfig::new(base_url, Auth::ApiKey(SecretString::from(KEY)))
}

fn request(pieces: &[&'static str]) -> HttpRequest {
    HttpRequest {
        method: "POST",
        path: "/v1/messages".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: pieces
            .iter()
            .map(|p| Bytes::from_static(p.as_bytes()))
            .collect(),
    }
}

async fn answers(endpoint: &ModelEndpoint, request: HttpRequest) -> Vec<Answer> {
    let all: Vec<_> = endpoint.send(request).collect().await;
    assert!(all.last().unwrap().is_last(), "{all:?}");
    assert_eq!(all.iter().filter(|a| a.is_last()).count(), 1, "{all:?}");
    all
}

async fn failure(endpoint: &ModelEndpoint) -> HttpFailure {
    match answers(endpoint, request(&["{}"])).await.pop() {
        Some(Answer::HttpFailed(failure)) => {
            assert!(!failure.message.contains(KEY));
            failure
        }
        other => panic!("{other:?}"),
    }
}

/// Reads one request: head and body as they came.
async fn read_request(socket: &mut (impl AsyncRead + Unpin)) -> String {
    let mut text = String::new();
    loop {
        let mut part = vec![0; 4096];
        let n = socket.read(&mut part).await.unwrap();
        text.push_str(std::str::from_utf8(&part[..n]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert_ne!(n, 0, "a whole request");
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |n| n.parse().unwrap());
        if body.len() >= length {
            return text;
        }
    }
}

/// A server that answers one connection with these bytes and closes it; gives the request it got.
async fn server(reply: Vec<u8>) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let request = read_request(&mut socket).await;
        // The client may have seen enough and gone.
        let _ = socket.write_all(&reply).await;
        request
    });
    (url, served)
}

#[tokio::test]
async fn a_request_goes_out_in_pieces_and_comes_back_in_answers() {
    let reply = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\nserver: x\r\n\
                 transfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n3\r\n 1\n\r\n0\r\n\r\n";
    let (url, served) = server(reply.into()).await;
    let endpoint = ModelEndpoint::new(&config(format!("{url}/base/"))).unwrap();
    let all = answers(&endpoint, request(&["{\"a\":", "", "1", "}"])).await;
    let sent = served.await.unwrap();
    assert!(
        sent.starts_with("POST /base/v1/messages HTTP/1.1\r\n"),
        "{sent}"
    );
    assert!(sent.contains("\r\nx-api-key: sk-canary-1234\r\n"), "{sent}");
    assert!(sent.contains("\r\ncontent-length: 7\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"a\":1}"), "{sent}");
    let head = Answer::HttpHead {
        status: 200,
        headers: vec![
            ("content-type".into(), "text/event-stream".into()),
            ("request-id".into(), "req_1".into()),
        ],
    };
    assert_eq!(all[0], head);
    let body: Vec<u8> = all
        .iter()
        .filter_map(|a| match a {
            Answer::HttpBody(bytes) => Some(bytes.to_vec()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(body, b"data: 1\n");
    assert_eq!(all.last(), Some(&Answer::HttpEnd));
}

#[tokio::test]
async fn a_bearer_token_goes_into_its_own_header() {
    let (url, served) = server(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let auth = Auth::Bearer(SecretString::from("token"));
    let endpoint = ModelEndpoint::new(&EndpointConfig::new(url, auth)).unwrap();
    answers(&endpoint, request(&["{}"])).await;
    let sent = served.await.unwrap();
    assert!(
        sent.contains("\r\nauthorization: Bearer token\r\n"),
        "{sent}"
    );
    assert!(!sent.contains("x-api-key"), "{sent}");
}

#[tokio::test]
async fn an_error_status_is_an_answer_not_a_failure() {
    let reply = b"HTTP/1.1 529 Overloaded\r\nretry-after: 3\r\ncontent-length: 2\r\n\r\n{}";
    let (url, _served) = server(reply.to_vec()).await;
    let all = answers(&ModelEndpoint::new(&config(url)).unwrap(), request(&["{}"])).await;
    let head = Answer::HttpHead {
        status: 529,
        headers: vec![("retry-after".into(), "3".into())],
    };
    assert_eq!(
        all,
        [
            head,
            Answer::HttpBody(Bytes::from_static(b"{}")),
            Answer::HttpEnd
        ]
    );
}

#[tokio::test]
async fn what_is_not_found_is_named_without_the_path_that_may_hold_a_key() {
    for (base, shown) in [("", "/v1/messages"), ("/k3y/", "/…/v1/messages")] {
        let reply = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
        let (url, _served) = server(reply.to_vec()).await;
        let endpoint = ModelEndpoint::new(&config(format!("{url}{base}"))).unwrap();
        let all = answers(&endpoint, request(&["{}"])).await;
        let address = ("windlass-address".to_owned(), format!("{url}{shown}"));
        let head = Answer::HttpHead {
            status: 404,
            headers: vec![address],
        };
        assert_eq!(all[0], head);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let reply = b"HTTP/1.1 307 T\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let (url, _served) = server(reply.to_vec()).await;
    let all = answers(&ModelEndpoint::new(&config(url)).unwrap(), request(&["{}"])).await;
    assert!(
        matches!(all[0], Answer::HttpHead { status: 307, .. }),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_refused_connection_names_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let endpoint = ModelEndpoint::new(&config(format!("http://{address}"))).unwrap();
    let failure = failure(&endpoint).await;
    assert_eq!(failure.kind, HttpFailureKind::Connect);
    assert!(failure.message.contains(&address), "{}", failure.message);
    assert!(failure.message.contains("refused"), "{}", failure.message);
    assert!(
        failure.message.contains("is the server running"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_server_that_closes_in_the_middle_is_an_interruption() {
    let cuts: [&[u8]; 4] = [
        b"",
        b"HTTP/1.1 20",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    ];
    for cut in cuts {
        let (url, _served) = server(cut.to_vec()).await;
        let failure = failure(&ModelEndpoint::new(&config(&url)).unwrap()).await;
        assert_eq!(failure.kind, HttpFailureKind::Interrupted, "{cut:?}");
        assert!(failure.message.contains(&url), "{}", failure.message);
    }
}

#[tokio::test]
async fn garbage_is_an_interruption() {
    for garbage in [b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), vec![0xff; 4000]] {
        let (url, _served) = server(garbage).await;
        let failure = failure(&ModelEndpoint::new(&config(&url)).unwrap()).await;
        assert_eq!(failure.kind, HttpFailureKind::Interrupted);
        assert!(
            failure.message.contains("does not speak HTTP"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_response_that_does_not_end_is_too_large() {
    let mut reply = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    reply.resize(100_000, b'x');
    let (url, _served) = server(reply).await;
    let settings = EndpointConfig {
        max_response: 50_000,
        ..config(&url)
    };
    let failure = failure(&ModelEndpoint::new(&settings).unwrap()).await;
    assert_eq!(failure.kind, HttpFailureKind::TooLarge);
    assert!(
        failure.message.contains("50000 bytes"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    for head in [None, Some("HTTP/1.1 200 OK\r\n\r\nab")] {
        let settings = EndpointConfig {
            idle_timeout: Duration::from_millis(50),
            ..config(&url)
        };
        let endpoint = ModelEndpoint::new(&settings).unwrap();
        let (failure, _socket) = tokio::join!(failure(&endpoint), async {
            let (mut socket, _) = listener.accept().await.unwrap();
            if let Some(head) = head {
                read_request(&mut socket).await;
                socket.write_all(head.as_bytes()).await.unwrap();
            }
            socket
        });
        assert_eq!(failure.kind, HttpFailureKind::Interrupted);
        assert!(
            failure.message.contains("sent nothing"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_dropped_stream_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = ModelEndpoint::new(&config(url)).unwrap();
    let mut stream = Box::pin(endpoint.send(request(&["{}"])));
    let (head, mut socket) = tokio::join!(stream.next(), async {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n";
        socket.write_all(head).await.unwrap();
        socket
    });
    assert!(matches!(head, Some(Answer::HttpHead { status: 200, .. })));
    drop(stream);
    // Whatever way the client closes: nothing more comes from it.
    assert_eq!(socket.read(&mut [0; 16]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn connections_are_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = ModelEndpoint::new(&config(url)).unwrap();
    let served = tokio::spawn(async move {
        // One connection is accepted; a second one would wait for ever.
        let (mut socket, _) = listener.accept().await.unwrap();
        for _ in 0..3 {
            read_request(&mut socket).await;
            let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            socket.write_all(reply).await.unwrap();
        }
    });
    for _ in 0..3 {
        assert_eq!(
            answers(&endpoint, request(&["{}"])).await.last(),
            Some(&Answer::HttpEnd)
        );
    }
    served.await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    let endpoint = ModelEndpoint::new(&config("http://127.0.0.1:1")).unwrap();
    let base = request(&["{}"]);
    let header = |name: &str, value: &str| HttpRequest {
        headers: vec![(name.into(), value.into())],
        ..base.clone()
    };
    let bad = [
        header("bad name", "x"),
        header("x", "line\r\nbreak"),
        HttpRequest {
            path: "@evil.test/".into(),
            ..base.clone()
        },
        HttpRequest {
            method: "PO ST",
            ..base.clone()
        },
    ];
    for request in bad {
        let Some(Answer::HttpFailed(failure)) = answers(&endpoint, request).await.pop() else {
            panic!("it was sent");
        };
        assert_eq!(
            failure.kind,
            HttpFailureKind::Refused,
            "{}",
            failure.message
        );
    }
}

/// A TLS server for `127.0.0.1` that answers one request, and the authority that vouches for it. In the end it says whether it was
/// trusted.
async fn tls_server() -> (String, String, JoinHandle<bool>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])
        .unwrap()
        .signed_by(&key, &authority)
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let settings = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(settings));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        // A client that does not trust the certificate ends the handshake.
        let Ok(mut socket) = acceptor.accept(socket).await else {
            return false;
        };
        read_request(&mut socket).await;
        let reply = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(reply).await.unwrap();
        true
    });
    (url, authority.pem(), served)
}

/// What other programs read to trust a proxy of a company.
#[tokio::test]
async fn the_command_trusts_what_a_variable_of_the_environment_names() {
    let directory = tempfile::TempDir::new().unwrap();
    for (variable, is_trusted) in [
        ("SSL_CERT_FILE", true),
        ("SSL_CERT_DIR", true),
        ("NODE_EXTRA_CA_CERTS", true),
        ("OTHER_CERT_FILE", false),
    ] {
        let (url, authority, served) = tls_server().await;
        let folder = directory.path().join(variable);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("authority.pem");
        std::fs::write(&file, authority).unwrap();
        let named = match variable {
            "SSL_CERT_DIR" => &folder,
            _ => &file,
        };
        let asking = tokio::process::Command::new(env!("CARGO_BIN_EXE_windlass"))
            .args(["-p", "hi", "--no-session-persistence", "--base-url", &url])
            .env_clear()
            .env("HOME", directory.path())
            .env("ANTHROPIC_API_KEY", "dummy")
            .env(variable, named)
            .current_dir(directory.path())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        assert_eq!(served.await.unwrap(), is_trusted, "{variable}");
        drop(asking);
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused_and_one_of_a_named_authority_is_not() {
    let (url, _authority, _served) = tls_server().await;
    let failure = failure(&ModelEndpoint::new(&config(&url)).unwrap()).await;
    assert_eq!(failure.kind, HttpFailureKind::Refused);
    assert!(
        failure.message.contains("could not be trusted"),
        "{}",
        failure.message
    );
    assert!(
        failure.message.contains("NODE_EXTRA_CA_CERTS"),
        "{}",
        failure.message
    );

    let (url, authority, _served) = tls_server().await;
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let settings = EndpointConfig {
        extra_ca: vec![file],
        ..config(&url)
    };
    let all = answers(&ModelEndpoint::new(&settings).unwrap(), request(&["{}"])).await;
    assert!(
        matches!(all[0], Answer::HttpHead { status: 200, .. }),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let begun = socket.read(&mut [0; 4096]).await.unwrap();
        assert!(begun > 0, "a request came");
        let reply = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        socket.write_all(reply).await.unwrap();
    });
    let failure = failure(&ModelEndpoint::new(&config(&url)).unwrap()).await;
    served.await.unwrap();
    assert_eq!(failure.kind, HttpFailureKind::Connect);
    assert!(
        failure.message.contains("does it speak TLS"),
        "{}",
        failure.message
    );
    assert!(failure.message.contains(&url), "{}", failure.message);
}

#[test]
fn settings_that_cannot_work_are_refused_with_advice() {
    let addresses = [
        "",
        "api.anthropic.com",
        "ftp://host",
        "http://",
        "https://user:hunter2@host",
        "https://host/?x=1",
    ];
    for address in addresses {
        let error = ModelEndpoint::new(&config(address)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("https://api.anthropic.com"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    let auth = Auth::ApiKey(SecretString::from("sk-canary\n1234"));
    let error = ModelEndpoint::new(&EndpointConfig::new("http://h", auth)).unwrap_err();
    assert!(matches!(error, EndpointError::Key));
    assert!(!format!("{error}{error:?}").contains("canary"));
    let directory = tempfile::TempDir::new().unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for file in [empty, directory.path().join("missing.pem")] {
        let settings = EndpointConfig {
            extra_ca: vec![file.clone()],
            ..config("https://127.0.0.1")
        };
        let error = ModelEndpoint::new(&settings).unwrap_err().to_string();
        assert!(error.contains(file.to_str().unwrap()), "{error}");
    }
}

#[test]
fn keys_do_not_show() {
    let settings = config("http://127.0.0.1:1");
    let endpoint = ModelEndpoint::new(&settings).unwrap();
    let shown = format!("{settings:?}{:?}{endpoint:?}", settings.auth);
    assert!(!shown.contains(KEY), "{shown}");
}
