//! A server on loopback that gives out files over TLS.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivatePkcs8KeyDer};

/// A file, and how many bytes of it are said to come.
type Files = Arc<Mutex<BTreeMap<String, (Vec<u8>, usize)>>>;

/// The server. Its thread ends with the test.
pub(crate) struct TlsFiles {
    /// `https://localhost:PORT`.
    pub(crate) origin: String,
    /// The authority that vouches for it, in PEM form.
    pub(crate) authority: String,
    files: Files,
}

impl TlsFiles {
    pub(crate) fn start() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let settings = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .unwrap();
        let settings = Arc::new(settings);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = Files::default();
        let given = Arc::clone(&files);
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(Arc::clone(&settings)).unwrap();
                // A client that does not trust the certificate ends the handshake.
                let _ = answer(StreamOwned::new(connection, socket), &given);
            }
        });
        Self {
            origin: format!("https://localhost:{port}"),
            authority: authority.pem(),
            files,
        }
    }

    /// Gives out a file.
    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        self.put_cut(path, content, content.len());
    }

    /// Gives out a file of which more bytes are said to come than do.
    pub(crate) fn put_cut(&self, path: &str, content: &[u8], said: usize) {
        let mut files = self.files.lock().unwrap();
        files.insert(path.to_owned(), (content.to_vec(), said));
    }
}

fn answer(
    mut stream: StreamOwned<ServerConnection, std::net::TcpStream>,
    files: &Files,
) -> std::io::Result<()> {
    let mut request = String::new();
    while !request.contains("\r\n\r\n") {
        let mut part = [0; 4096];
        let read = stream.read(&mut part)?;
        if read == 0 {
            return Ok(());
        }
        request.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let file = files.lock().unwrap().get(path).cloned();
    let (status, content, said) = match file {
        Some((content, said)) => ("200 OK", content, said),
        None => ("404 Not Found", Vec::new(), 0),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {said}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&content)?;
    stream.conn.send_close_notify();
    stream.flush()
}
