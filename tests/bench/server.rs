//! A model server that costs next to nothing: every answer is rendered beforehand.
//!
//! It runs in the bench's own process; the clients that are measured run in others.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Deltas in each response.
const DELTAS: usize = 200;

/// A tool call of every response but the last.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// Its input, JSON.
    pub(crate) input: String,
}

/// Serves one conversation of so many tool rounds, then a final text, over and over.
pub(crate) struct BenchServer {
    pub(crate) url: String,
    stop: Arc<AtomicBool>,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: AtomicUsize,
    /// Seconds from the end of a response to the head of the next request.
    gaps: Mutex<Vec<f64>>,
    first_request: Mutex<Option<Instant>>,
}

impl BenchServer {
    /// Three calls of the tool `lookup` in each round.
    pub(crate) fn start(tool_rounds: usize) -> Self {
        let lookup = Call {
            name: "lookup",
            input: r#"{"key": "value"}"#.to_owned(),
        };
        Self::with_calls(tool_rounds, &[lookup.clone(), lookup.clone(), lookup])
    }

    pub(crate) fn with_calls(tool_rounds: usize, calls: &[Call]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Seen::default()));
        let (stopping, shared) = (stop.clone(), seen.clone());
        let with_calls: Arc<[String]> =
            (0..tool_rounds).map(|turn| response(turn, calls)).collect();
        let last = Arc::new(response(tool_rounds, &[]));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopping.load(Ordering::Relaxed) {
                    return;
                }
                let (with_calls, last, seen) = (with_calls.clone(), last.clone(), shared.clone());
                std::thread::spawn(move || serve(stream, &with_calls, &last, &seen));
            }
        });
        Self { url, stop, seen }
    }

    /// The gaps of the conversation so far, and a clean sheet for the next one.
    pub(crate) fn take_gaps(&self) -> Vec<f64> {
        self.seen.requests.store(0, Ordering::SeqCst);
        *lock(&self.seen.first_request) = None;
        std::mem::take(&mut lock(&self.seen.gaps))
    }

    /// Waits until a request has arrived, at most five seconds.
    pub(crate) fn first_request(&self) -> Option<Instant> {
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until {
            if let Some(at) = *lock(&self.seen.first_request) {
                return Some(at);
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        None
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the accepting thread, which then sees that it shall stop.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn serve(stream: TcpStream, with_calls: &[String], last: &str, seen: &Seen) {
    let _ = stream.set_nodelay(true);
    let Ok(mut writer) = stream.try_clone() else {
        return;
    };
    let mut reader = BufReader::with_capacity(64 << 10, stream);
    let mut responded: Option<Instant> = None;
    let mut body = Vec::new();
    while let Some(Head { model, length }) = head(&mut reader) {
        let arrived = Instant::now();
        body.resize(length, 0);
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        if !model {
            // Some clients look whether anybody is there; that is no turn.
            let nothing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
            if writer.write_all(nothing.as_bytes()).is_err() {
                return;
            }
            continue;
        }
        lock(&seen.first_request).get_or_insert(arrived);
        if let Some(responded) = responded {
            lock(&seen.gaps).push((arrived - responded).as_secs_f64());
        }
        let turn = seen.requests.fetch_add(1, Ordering::SeqCst);
        let response = with_calls.get(turn).map_or(last, String::as_str);
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
        responded = Some(Instant::now());
    }
}

struct Head {
    /// Whether it asks the model for an answer.
    model: bool,
    /// The body's, in bytes.
    length: usize,
}

fn head(reader: &mut impl BufRead) -> Option<Head> {
    let mut length = 0;
    let mut line = String::new();
    let mut model = None;
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        let model = *model.get_or_insert_with(|| is_model_call(line));
        if line.is_empty() {
            return Some(Head { model, length });
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}

fn is_model_call(request_line: &str) -> bool {
    let mut words = request_line.split([' ', '?']);
    words.next() == Some("POST") && words.next() == Some("/v1/messages")
}

fn response(turn: usize, calls: &[Call]) -> String {
    let mut events = String::new();
    start(&mut events, turn);
    text_block(&mut events, DELTAS);
    for (at, call) in calls.iter().enumerate() {
        call_block(&mut events, turn, at, call);
    }
    let reason = if calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    end(&mut events, reason);
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{events}",
        events.len()
    )
}

/// A response of nothing but text, as events.
pub(crate) fn text_events(deltas: usize) -> String {
    let mut events = String::new();
    start(&mut events, 0);
    text_block(&mut events, deltas);
    end(&mut events, "end_turn");
    events
}

fn event(out: &mut String, name: &str, data: &str) {
    // Writing into a string cannot fail.
    let _ = write!(out, "event: {name}\ndata: {data}\n\n");
}

fn start(out: &mut String, turn: usize) {
    event(
        out,
        "message_start",
        &format!(
            r#"{{"type":"message_start","message":{{"id":"msg_{turn}","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":100,"output_tokens":1}}}}}}"#
        ),
    );
}

fn text_block(out: &mut String, deltas: usize) {
    event(
        out,
        "content_block_start",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    );
    for i in 0..deltas {
        event(
            out,
            "content_block_delta",
            &format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":" word{i:04}"}}}}"#
            ),
        );
    }
    event(
        out,
        "content_block_stop",
        r#"{"type":"content_block_stop","index":0}"#,
    );
}

fn call_block(out: &mut String, turn: usize, at: usize, call: &Call) {
    let index = at + 1;
    let name = call.name;
    event(
        out,
        "content_block_start",
        &format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"toolu_{turn}_{at}","name":"{name}","input":{{}}}}}}"#
        ),
    );
    let (first, second) = call.input.split_at(call.input.len() / 2);
    for part in [first, second] {
        let part = serde_json::to_string(part).expect("a string");
        event(
            out,
            "content_block_delta",
            &format!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":{part}}}}}"#
            ),
        );
    }
    event(
        out,
        "content_block_stop",
        &format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
    );
}

fn end(out: &mut String, reason: &str) {
    event(
        out,
        "message_delta",
        &format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":300}}}}"#
        ),
    );
    event(out, "message_stop", r#"{"type":"message_stop"}"#);
}
