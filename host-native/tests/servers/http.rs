//! Servers on loopback, written against the specification of the Model Context Protocol alone: one that speaks it, and ones that are
//! none. They end with the test.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

/// A request as it came in; names of headers are in small letters.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).ok()?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length");
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        lines.read_exact(&mut body).ok()?;
        Some(Self {
            method,
            path,
            headers,
            body,
        })
    }
}

/// A server of any kind.
pub(crate) struct HttpServer {
    origin: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl HttpServer {
    /// Serves each request on a connection and a thread of its own.
    pub(crate) fn start(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (answer, seen) = (Arc::new(answer), Arc::clone(&requests));
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                thread::spawn(move || {
                    if let Some(request) = Request::read(&stream) {
                        seen.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { origin, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// Answers with a whole body.
pub(crate) fn respond(stream: &mut TcpStream, status: u16, headers: &[(&str, &str)], body: &[u8]) {
    let mut head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // Whoever asked may be gone.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
}

/// Begins an answer that ends with its connection.
pub(crate) fn begin(stream: &mut TcpStream, kind: &str) {
    let head = format!("HTTP/1.1 200 X\r\nconnection: close\r\ncontent-type: {kind}\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
}

/// Sends pieces until nobody reads them.
pub(crate) fn flood(stream: &mut TcpStream, kind: &str, start: &str, piece: &str) {
    begin(stream, kind);
    let _ = stream.write_all(start.as_bytes());
    while stream.write_all(piece.as_bytes()).is_ok() {}
}

pub(crate) fn respond_json(stream: &mut TcpStream, headers: &[(&str, &str)], message: &Value) {
    let headers = [&[("content-type", "application/json")], headers].concat();
    respond(stream, 200, &headers, message.to_string().as_bytes());
}

/// How many have come, and the news of it.
pub(crate) type Together = (Mutex<usize>, Condvar);

/// What a server of the protocol wants and offers.
#[derive(Default)]
pub(crate) struct Manners {
    /// What the header `Authorization` has to say.
    pub(crate) authorization: Option<String>,
    /// Answers no `initialize` before so many have come in, to any server that has the same.
    pub(crate) together: Option<(usize, Arc<Together>)>,
}

struct State {
    manners: Manners,
    /// The sessions that it knows, and how many there were.
    sessions: Mutex<Vec<String>>,
    begun: AtomicUsize,
    has_grown: Mutex<bool>,
    /// Streams that wait for what it says of its own accord.
    listeners: Mutex<Vec<TcpStream>>,
}

/// A server that speaks Streamable HTTP with sessions.
pub(crate) struct McpServer {
    pub(crate) http: HttpServer,
    state: Arc<State>,
}

impl McpServer {
    pub(crate) fn start(manners: Manners) -> Self {
        let state = Arc::new(State {
            manners,
            sessions: Mutex::default(),
            begun: AtomicUsize::new(0),
            has_grown: Mutex::new(false),
            listeners: Mutex::default(),
        });
        let answering = Arc::clone(&state);
        let http = HttpServer::start(move |request, stream| answering.answer(request, stream));
        Self { http, state }
    }

    pub(crate) fn url(&self) -> String {
        self.http.url("/mcp")
    }

    /// Knows no session any more, as after a restart.
    pub(crate) fn forget(&self) {
        self.state.sessions.lock().unwrap().clear();
    }

    /// How many sessions it has begun.
    pub(crate) fn begun(&self) -> usize {
        self.state.begun.load(Ordering::SeqCst)
    }
}

impl State {
    fn answer(&self, request: &Request, stream: &mut TcpStream) {
        let wanted = self.manners.authorization.as_ref();
        if wanted.is_some_and(|wanted| request.headers.get("authorization") != Some(wanted)) {
            return respond(
                stream,
                401,
                &[("www-authenticate", "Bearer")],
                b"who are you?",
            );
        }
        let message = request.json();
        let is_first = message["method"] == "initialize";
        let session = request.headers.get("mcp-session-id");
        if !is_first && session.is_none() {
            return respond(
                stream,
                400,
                &[("content-type", "text/plain")],
                b"no session",
            );
        }
        let knows = |session: &String| self.sessions.lock().unwrap().contains(session);
        if session.is_some_and(|session| !knows(session)) {
            return respond(
                stream,
                404,
                &[("content-type", "text/plain")],
                b"no such session",
            );
        }
        match request.method.as_str() {
            "GET" => {
                begin(stream, "text/event-stream");
                self.listeners
                    .lock()
                    .unwrap()
                    .push(stream.try_clone().unwrap());
            }
            "DELETE" => respond(stream, 200, &[], b""),
            _ if message.get("id").is_none() => respond(stream, 202, &[], b""),
            _ if is_first => {
                self.wait_for_others();
                let number = self.begun.fetch_add(1, Ordering::SeqCst);
                let session = format!("s{number}");
                self.sessions.lock().unwrap().push(session.clone());
                respond_json(
                    stream,
                    &[("mcp-session-id", &session)],
                    &self.result(&message),
                );
            }
            _ if message["params"]["name"] == "die" => {
                begin(stream, "text/event-stream");
                let _ = stream.write_all(b": working\n\n");
            }
            _ if message["params"]["name"] == "hang" => {
                begin(stream, "text/event-stream");
                // Until nobody waits for it.
                let _ = stream.read(&mut [0]);
            }
            _ if message["params"]["name"] == "big" => {
                flood(stream, "text/event-stream", "data: ", &"x".repeat(1 << 16));
            }
            _ if message["params"]["name"] == "chatty" => {
                begin(stream, "text/event-stream");
                let said = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
                let said = format!("data: {said}\n\n").repeat(10_000);
                let _ = stream.write_all(said.as_bytes());
                let _ = stream.write_all(format!("data: {}\n\n", self.result(&message)).as_bytes());
            }
            _ => respond_json(stream, &[], &self.result(&message)),
        }
    }

    fn wait_for_others(&self) {
        if let Some((all, together)) = &self.manners.together {
            let (count, changed) = &**together;
            let mut count = count.lock().unwrap();
            *count += 1;
            changed.notify_all();
            while *count < *all {
                count = changed.wait(count).unwrap();
            }
        }
    }

    fn result(&self, message: &Value) -> Value {
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": true}, "resources": {}, "prompts": {}},
                "serverInfo": {"name": "tester", "version": "1.2.3"}}),
            "tools/list" => json!({ "tools": self.tools() }),
            "tools/call" => self.call(&message["params"]),
            "resources/list" => match message["params"]["cursor"].as_str() {
                None => json!({"nextCursor": "more", "resources": [
                    {"uri": "note://today", "name": "today", "mimeType": "text/plain", "description": "What is to be done"}]}),
                _ => {
                    json!({"resources": [{"uri": "note://logo", "name": "logo", "mimeType": "image/png"}]})
                }
            },
            "resources/read" => match message["params"]["uri"].as_str() {
                Some("note://today") => {
                    json!({"contents": [{"uri": "note://today", "mimeType": "text/plain", "text": "Buy milk."}]})
                }
                Some("note://logo") => {
                    json!({"contents": [{"uri": "note://logo", "mimeType": "image/png", "blob": PIXEL}]})
                }
                uri => {
                    return json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32002, "message": format!("no resource {uri:?}")}});
                }
            },
            "prompts/list" => {
                json!({"prompts": [{"name": "review", "description": "Reviews a file", "arguments": [
                {"name": "file", "required": true}, {"name": "style"}]}]})
            }
            "prompts/get" if message["params"]["arguments"]["file"] == "nowhere" => {
                return json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": "there is no such file"}});
            }
            "prompts/get" => json!({"messages": [{"role": "user", "content": {"type": "text",
                "text": format!("Review {}.", message["params"]["arguments"]["file"].as_str().unwrap_or("nothing"))}}]}),
            method => {
                return json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": format!("no method {method}")}});
            }
        };
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
    }

    fn tools(&self) -> Vec<Value> {
        let object = json!({"type": "object"});
        let mut tools = vec![
            json!({"name": "add", "description": "Adds.", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
                "annotations": {"readOnlyHint": true}}),
        ];
        let plain = ["die", "hang", "big", "chatty", "grow", "tell"];
        tools.extend(plain.map(|name| json!({"name": name, "inputSchema": object})));
        if *self.has_grown.lock().unwrap() {
            tools.push(json!({"name": "late", "inputSchema": object}));
        }
        tools
    }

    fn call(&self, params: &Value) -> Value {
        let arguments = &params["arguments"];
        let said = match params["name"].as_str().unwrap() {
            "add" => {
                (arguments["a"].as_i64().unwrap() + arguments["b"].as_i64().unwrap()).to_string()
            }
            "grow" => {
                *self.has_grown.lock().unwrap() = true;
                let changed =
                    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                for listener in self.listeners.lock().unwrap().iter_mut() {
                    let _ = listener.write_all(format!("data: {changed}\n\n").as_bytes());
                }
                "grown".to_owned()
            }
            "tell" => format!(
                "you came with {}",
                self.manners.authorization.clone().unwrap_or_default()
            ),
            other => format!("this is {other}"),
        };
        json!({"content": [{"type": "text", "text": said}]})
    }
}

/// An image of one pixel.
pub(crate) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
