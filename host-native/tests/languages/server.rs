//! A server on this machine that answers with the request.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// Answers one request after the other, until it is dropped.
pub(crate) struct Server {
    port: u16,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<String>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let serve = move || {
            let mut requests = Vec::new();
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    break;
                }
                requests.extend(echo(stream.unwrap()));
            }
            requests
        };
        Self {
            port,
            ends,
            thread: Some(thread::spawn(serve)),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends, and gives the requests.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.stop()
    }

    fn stop(&mut self) -> Vec<String> {
        let Some(thread) = self.thread.take() else {
            return Vec::new();
        };
        self.ends.store(true, Ordering::SeqCst);
        // Wakes it up; it is there as long as its thread is.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        thread.join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads a request and answers with it.
fn echo(mut stream: TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let request = loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                break text.into_owned();
            }
        }
        match stream.read(&mut piece).unwrap() {
            0 => return None,
            count => bytes.extend_from_slice(&piece[..count]),
        }
    };
    let length = request.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    Some(request)
}
