//! A registry on loopback that answers over TLS what a test wants, and remembers what it was asked.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::tls;

/// More than any client should take that was promised less.
const WITHOUT_END: usize = 256 << 20;

/// What a path is answered with.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status with its reason, headers that each end in `\r\n`, and a body.
    Whole(&'static str, String, Vec<u8>),
    /// A status with its reason, and a body that goes on until nobody takes it.
    Endless(&'static str),
    /// The other reply, once `authorization` begins like this; else 401 with this challenge.
    IfTold(&'static str, String, Box<Self>),
}

impl Reply {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Whole("200 OK", String::new(), body.into())
    }

    pub(crate) fn redirect(location: &str) -> Self {
        let header = format!("location: {location}\r\n");
        Self::Whole("307 Temporary Redirect", header, Vec::new())
    }
}

/// What it does and has seen.
#[derive(Default)]
struct Seen {
    replies: BTreeMap<String, Reply>,
    requests: Vec<String>,
    /// How many bytes were taken of each body without an end that somebody has stopped taking.
    cut_off: Vec<usize>,
}

/// The registry. Its threads end with the test.
pub(crate) struct HostileRegistry {
    /// `localhost:PORT`.
    pub(crate) address: String,
    seen: Arc<Mutex<Seen>>,
}

impl HostileRegistry {
    /// Several for which the same authority vouches, and that authority in PEM form.
    pub(crate) fn start<const N: usize>() -> ([Self; N], String) {
        let (settings, authority) = tls::for_localhost();
        let servers = std::array::from_fn(|_| Self::with(&settings));
        (servers, authority)
    }

    fn with(settings: &Arc<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Seen>>::default();
        let (settings, shared) = (Arc::clone(settings), Arc::clone(&seen));
        thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(Arc::clone(&settings)).unwrap();
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    // A client may go at any time.
                    let _ = serve(StreamOwned::new(connection, socket), &shared);
                });
            }
        });
        Self {
            address: format!("localhost:{port}"),
            seen,
        }
    }

    /// Answers a path, whatever its query.
    pub(crate) fn put(&self, path: &str, reply: Reply) {
        let mut seen = self.seen.lock().unwrap();
        seen.replies.insert(path.to_owned(), reply);
    }

    /// The heads of all requests since the last time this was asked, in small letters where they are names.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap().requests)
    }

    /// How many bytes were taken of the one body without an end. Waits for its client to go.
    #[track_caller]
    pub(crate) fn cut_off(&self) -> usize {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let cut_off = std::mem::take(&mut self.seen.lock().unwrap().cut_off);
            match cut_off.as_slice() {
                [] if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
                [bytes] => return *bytes,
                other => panic!("{other:?}"),
            }
        }
    }
}

/// The value of a header of a request, if it has one.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let lines = request.lines().skip(1);
    let mut pairs = lines.filter_map(|line| line.split_once(": "));
    pairs
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

fn serve(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    shared: &Mutex<Seen>,
) -> io::Result<()> {
    let Some(request) = tls::request_head(&mut stream)? else {
        return Ok(());
    };
    let path = request.split([' ', '?']).nth(1).unwrap_or_default();
    let mut reply = {
        let mut seen = shared.lock().unwrap();
        seen.requests.push(request.clone());
        seen.replies.get(path).cloned()
    };
    if let Some(Reply::IfTold(scheme, challenge, then)) = reply {
        let told = header(&request, "authorization");
        reply = match told.is_some_and(|told| told.starts_with(scheme)) {
            true => Some(*then),
            false => {
                let header = format!("www-authenticate: {challenge}\r\n");
                Some(Reply::Whole("401 Unauthorized", header, Vec::new()))
            }
        };
    }
    let none = || Reply::Whole("404 Not Found", String::new(), Vec::new());
    match reply.unwrap_or_else(none) {
        Reply::Endless(status) => {
            let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes())?;
            let taken = write_without_end(&mut stream);
            shared.lock().unwrap().cut_off.push(taken);
        }
        Reply::Whole(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body)?;
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        Reply::IfTold(..) => unreachable!("a reply for whoever is known is one for all"),
    }
    Ok(())
}

/// Writes until nobody takes it, and returns how many bytes that were.
fn write_without_end(stream: &mut StreamOwned<ServerConnection, TcpStream>) -> usize {
    let piece = [b' '; 16 << 10];
    let mut taken = 0;
    while taken < WITHOUT_END && stream.write_all(&piece).is_ok() {
        taken += piece.len();
    }
    taken
}
