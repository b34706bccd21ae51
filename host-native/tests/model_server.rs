//! The scripted model through a socket, seen by a client that looks at the bytes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    thread,
};

use serde_json::{Value, json};
use windlass::model_server::{ModelServer, ModelServerError, ServeOptions};
use windlass_testkit::Script;

fn serve(script: &Value) -> ModelServer {
    let script = Script::parse(&script.to_string()).expect("a script");
    ModelServer::start(script).expect("a free port")
}

/// A server for one response.
fn serve_one(respond: &Value) -> ModelServer {
    serve(&json!({"exchanges": [{"respond": respond}]}))
}

fn question(text: &str, stream: bool) -> String {
    json!({
        "model": "m-1", "max_tokens": 10, "stream": stream,
        "messages": [{"role": "user", "content": text}]
    })
    .to_string()
}

/// A connection of a client that does nothing by itself.
struct Client(BufReader<TcpStream>);

/// What came back, as far as it came.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<String>,
    /// The chunks of a chunked body, or the one body of a given length.
    chunks: Vec<Vec<u8>>,
    /// Whether the body came to its proper end.
    complete: bool,
}

impl Answer {
    fn body(&self) -> Vec<u8> {
        self.chunks.concat()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body()).expect("UTF-8")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.headers
            .iter()
            .find_map(|line| line.strip_prefix(&start))
    }
}

impl Client {
    fn connect(server: &ModelServer) -> Self {
        let socket = TcpStream::connect(server.address()).expect("it listens");
        Self(BufReader::new(socket))
    }

    fn send(&mut self, method: &str, path: &str, body: &str) {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nX-Api-Key: k\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        (self.0.get_mut().write_all(request.as_bytes())).expect("the request is taken");
    }

    fn ask(&mut self, body: &str) -> Answer {
        self.send("POST", "/v1/messages", body);
        self.answer().expect("an answer")
    }

    /// One line; `None` when the connection is closed.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(n) if n > 0 => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    fn answer(&mut self) -> Option<Answer> {
        let status = self.line()?;
        let mut headers = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            headers.push(line);
        }
        let mut answer = Answer {
            status: status.split(' ').nth(1)?.parse().ok()?,
            headers,
            chunks: Vec::new(),
            complete: false,
        };
        if let Some(length) = answer.header("content-length") {
            let mut body = vec![0; length.parse().expect("a number")];
            answer.complete = self.0.read_exact(&mut body).is_ok();
            answer.chunks.push(body);
            return Some(answer);
        }
        while let Some(chunk) = self.chunk() {
            if chunk.is_empty() {
                answer.complete = true;
                break;
            }
            answer.chunks.push(chunk);
        }
        Some(answer)
    }

    fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(&self.line()?, 16).ok()?;
        let mut chunk = vec![0; length + 2];
        self.0.read_exact(&mut chunk).ok()?;
        chunk.truncate(length);
        Some(chunk)
    }
}

#[test]
fn a_stream_arrives_event_by_event_and_the_connection_is_kept() {
    let server = serve(&json!({"exchanges": [
        {"respond": "First."},
        {"respond": {"text": "Second.", "chunks": {"bytes": 100}}}
    ]}));
    let mut client = Client::connect(&server);
    let first = client.ask(&question("one", true));
    assert_eq!(first.status, 200);
    assert_eq!(
        first.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    assert_eq!(first.header("request-id"), Some("req_1"));
    assert!(first.complete);
    for chunk in &first.chunks {
        assert!(chunk.starts_with(b"event: ") && chunk.ends_with(b"\n\n"));
    }
    assert!(first.text().contains("\"text\":\"First.\""));

    let second = client.ask(&question("two", true));
    assert!(second.text().contains("\"text\":\"Second.\""));
    let (last, full) = second.chunks.split_last().expect("chunks");
    assert!(full.iter().all(|chunk| chunk.len() == 100) && last.len() <= 100);
    assert!(server.verify().is_ok());
}

#[test]
fn requests_are_recorded_unless_that_is_not_wanted() {
    let server = serve_one(&json!("Hi."));
    let body = question("hello", true);
    Client::connect(&server).ask(&body);
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].body, body.as_bytes());
    assert!(
        requests[0]
            .headers
            .contains(&("x-api-key".into(), "k".into()))
    );

    let options = ServeOptions::default().record(false);
    let server = ModelServer::start_with(Script::says(["Hi."]), options).expect("a free port");
    assert_eq!(Client::connect(&server).ask(&body).status, 200);
    assert!(server.requests().is_empty());
}

#[test]
fn plain_json_has_its_length() {
    let server = serve_one(&json!("Hi."));
    let answer = Client::connect(&server).ask(&question("hello", false));
    assert!(answer.header("content-length").is_some() && answer.complete);
    let message: Value = serde_json::from_slice(&answer.body()).expect("JSON");
    assert_eq!(message["content"][0]["text"], "Hi.");
}

#[test]
fn errors_and_misses_are_answers() {
    let server = serve(&json!({"exchanges": [
        {"respond": {"error": {"type": "rate_limit_error", "message": "Slow down"},
                     "headers": {"retry-after": "2"}}},
        {"expect": {"last_user_contains": "magic"}, "respond": "Yes."}
    ]}));
    let mut client = Client::connect(&server);
    let limited = client.ask(&question("hello", true));
    assert_eq!(
        (limited.status, limited.header("retry-after")),
        (429, Some("2"))
    );
    let missed = client.ask(&question("hello", true));
    assert_eq!(missed.status, 400);
    assert!(missed.text().contains("request 2 is not exchange 2"));
    assert_eq!(server.misses().len(), 1);
    let unmet = server.verify().expect_err("a miss").to_string();
    assert!(
        unmet.contains("magic") && unmet.contains("unused: exchange 2"),
        "{unmet}"
    );
}

#[test]
fn a_cut_breaks_the_connection_after_what_was_sent() {
    let server = serve(&json!({"exchanges": [
        {"respond": {"text": "Hello", "faults": [{"after_events": 2, "cut": true}]}},
        {"respond": {"cut": true}},
        {"respond": "Still here."}
    ]}));
    let mut client = Client::connect(&server);
    let cut = client.ask(&question("one", true));
    assert_eq!(cut.status, 200);
    assert_eq!(cut.chunks.len(), 2);
    assert!(!cut.complete);

    let mut client = Client::connect(&server);
    client.send("POST", "/v1/messages", &question("two", true));
    assert!(client.answer().is_none(), "closed without a word");

    assert!(
        Client::connect(&server)
            .ask(&question("three", true))
            .complete
    );
}

#[test]
fn bytes_that_are_no_text_and_large_bodies_arrive_whole() {
    let server = serve(&json!({"exchanges": [
        {"respond": {"body": {"hex": "fffe00"}}},
        {"respond": {"body": {"text": "0123456789", "repeat": 1_000_000}}}
    ]}));
    let mut client = Client::connect(&server);
    assert_eq!(client.ask(&question("one", true)).body(), [0xff, 0xfe, 0]);
    assert_eq!(client.ask(&question("two", true)).body().len(), 10_000_000);
}

#[test]
fn waits_are_kept_and_a_hanging_answer_ends_with_the_server() {
    let server = serve_one(&json!({
        "text": "Hello",
        "delay_ms": {"head": 1, "chunk": 1},
        "faults": [{"after_events": 2, "hang": true}]
    }));
    let mut client = Client::connect(&server);
    client.send("POST", "/v1/messages", &question("one", true));
    for line in std::iter::from_fn(|| client.line()) {
        if line.is_empty() {
            break;
        }
    }
    let chunks = [client.chunk(), client.chunk()];
    assert!(chunks.iter().all(Option::is_some));
    let address = server.address();
    drop(server);
    assert_eq!(client.chunk(), None, "the connection broke");
    assert!(
        TcpStream::connect(address).is_err(),
        "nobody listens any more"
    );
}

#[test]
fn sessions_side_by_side_each_get_their_own_answer() {
    let exchanges: Vec<Value> = (0..8)
        .map(|n| json!({"expect": {"last_user_contains": format!("<{n}>")}, "respond": format!("answer {n}")}))
        .collect();
    let server = serve(&json!({"match": "any", "exchanges": exchanges}));
    thread::scope(|scope| {
        for n in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let answer = Client::connect(server).ask(&question(&format!("<{n}>"), true));
                assert!(answer.text().contains(&format!("answer {n}")));
            });
        }
    });
    assert!(server.verify().is_ok());
    assert_eq!(server.requests().len(), 8);
}

#[test]
fn anything_but_a_post_uses_nothing_up() {
    let server = serve_one(&json!("Hi."));
    let mut client = Client::connect(&server);
    client.send("GET", "/", "");
    let alive = client.answer().expect("an answer");
    assert_eq!(alive.status, 200);
    client.send("GET", "/v1/models", "");
    assert_eq!(client.answer().expect("an answer").status, 404);
    assert!(server.requests().is_empty() && server.misses().is_empty());
    assert_eq!(client.ask(&question("hello", true)).status, 200);
}

#[test]
fn a_header_that_http_cannot_carry_is_named() {
    let server = serve_one(&json!({"text": "Hi.", "headers": {"a b": "c"}}));
    let answer = Client::connect(&server).ask(&question("hello", true));
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("\"a b\""));
}

#[test]
fn a_port_that_is_taken_is_an_error_that_names_it() {
    let first = serve_one(&json!("Hi."));
    let options = ServeOptions::default().port(first.address().port());
    let error = ModelServer::start_with(Script::says(["Hi."]), options).expect_err("taken");
    assert!(matches!(error, ModelServerError::Listen { .. }));
    assert!(
        error
            .to_string()
            .contains(&first.address().port().to_string())
    );
}
