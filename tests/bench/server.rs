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
/// Calls in each response but the last.
const CALLS: usize = 3;

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
    pub(crate) fn start(tool_rounds: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Seen::default()));
        let (stopping, shared) = (stop.clone(), seen.clone());
        let with_calls: Arc<[String]> = (0..tool_rounds).map(|turn| response(turn, true)).collect();
        let last = Arc::new(response(tool_rounds, false));
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
    while let Some(length) = head(&mut reader) {
        let arrived = Instant::now();
        lock(&seen.first_request).get_or_insert(arrived);
        if let Some(responded) = responded {
            lock(&seen.gaps).push((arrived - responded).as_secs_f64());
        }
        body.resize(length, 0);
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let turn = seen.requests.fetch_add(1, Ordering::SeqCst);
        let response = with_calls.get(turn).map_or(last, String::as_str);
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
        responded = Some(Instant::now());
    }
}

/// Reads a request head; gives the length of its body.
fn head(reader: &mut impl BufRead) -> Option<usize> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Some(length);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}

fn response(turn: usize, calls: bool) -> String {
    let mut events = String::new();
    start(&mut events, turn);
    text_block(&mut events, DELTAS);
    let reason = if calls {
        for call in 0..CALLS {
            call_block(&mut events, turn, call);
        }
        "tool_use"
    } else {
        "end_turn"
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

fn call_block(out: &mut String, turn: usize, call: usize) {
    let index = call + 1;
    event(
        out,
        "content_block_start",
        &format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"toolu_{turn}_{call}","name":"lookup","input":{{}}}}}}"#
        ),
    );
    for part in [r#"{\"key\": "#, r#"\"value\"}"#] {
        event(
            out,
            "content_block_delta",
            &format!(
                r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":"{part}"}}}}"#
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
