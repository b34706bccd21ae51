//! A server on loopback that gives out files over TLS.

use std::{
    collections::BTreeMap,
    io::Write as _,
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use rustls::{ServerConnection, StreamOwned};

use crate::tls;

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
        let (settings, authority) = tls::for_localhost();
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
            authority,
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
    let Some(request) = tls::request_head(&mut stream)? else {
        return Ok(());
    };
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
