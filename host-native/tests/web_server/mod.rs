//! A web server on loopback that answers each path as a test says.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What is answered to a path.
#[derive(Clone)]
pub(crate) enum Page {
    /// A whole answer: status and headers, and the body.
    Whole(&'static str, Vec<u8>),
    /// Never ends.
    Endless(&'static str),
}

impl Page {
    /// A page of this type.
    pub(crate) fn of(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let head = format!("200 OK\r\ncontent-type: {content_type}");
        Self::Whole(Box::leak(head.into_boxed_str()), body.into())
    }
}

/// Ends with the runtime of its test.
pub(crate) struct WebServer {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl WebServer {
    pub(crate) async fn start<const N: usize>(pages: [(&'static str, Page); N]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (pages, log) = (Arc::new(BTreeMap::from(pages)), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&pages), Arc::clone(&log)));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The host as rules and options name it.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The paths that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    pages: Arc<BTreeMap<&'static str, Page>>,
    log: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(path.clone());
    let missing = Page::Whole("404 Not Found", Vec::new());
    // Whoever asked may have gone.
    let _ = match pages.get(path.as_str()).unwrap_or(&missing) {
        Page::Whole(head, body) => {
            let head = format!(
                "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).await;
            stream.write_all(body).await
        }
        Page::Endless(head) => {
            let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).await;
            let piece = vec![b'x'; 64 << 10];
            while stream.write_all(&piece).await.is_ok() {}
            Ok(())
        }
    };
}
