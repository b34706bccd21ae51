//! A component that does what a test says, and the servers that it talks to.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use serde_json::{Value, json};
use windlass::{
    core::{
        host::CancelSignal,
        json::RawJson,
        tool::{FsGrant, ToolCall, ToolResult},
    },
    plugins::{ComponentGrant, LogSink, Plugin, PluginHost, PluginHostConfig},
};

use crate::guest;

/// Where constants begin.
const CONSTANTS: usize = 3072;

const IMPORTS: &str = r#"
    (import "windlass:host/http@0.1.0" "[method]body.read" (func $body_read (param i32 i32 i32)))
    (import "windlass:host/http@0.1.0" "[resource-drop]body" (func $body_drop (param i32)))
    (import "windlass:host/secrets@0.1.0" "available" (func $available (param i32 i32) (result i32)))
    (import "windlass:host/secrets@0.1.0" "send"
        (func $send_secret (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "windlass:host/state@0.1.0" "get" (func $state_get (param i32 i32 i32)))
    (import "windlass:host/state@0.1.0" "set" (func $state_set (param i32 i32 i32 i32 i32)))
    (import "windlass:host/config@0.1.0" "get" (func $config_get (param i32 i32 i32)))
    (import "windlass:host/progress@0.1.0" "report" (func $report (param i32 i32 i32 f64)))
"#;

/// `$put` adds to the result, `$dump` adds an answer that lies at 2048: status, headers, body; or `F`, the kind of failure and
/// its text.
const FIELDS: &str = r#"
    (global $out (mut i32) (i32.const 0))
    (global $len (mut i32) (i32.const 0))
    (func $put (param $at i32) (param $size i32)
        (if (i32.eqz (global.get $out)) (then
            (global.set $out (call $alloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 200000)))))
        (memory.copy (i32.add (global.get $out) (global.get $len)) (local.get $at) (local.get $size))
        (global.set $len (i32.add (global.get $len) (local.get $size))))
    (func $letter (param $letter i32)
        (i32.store8 (i32.const 2040) (local.get $letter))
        (call $put (i32.const 2040) (i32.const 1)))
    (func $digit (param $number i32) (call $letter (i32.add (i32.const 48) (local.get $number))))
    (func $dump (local $left i32) (local $at i32)
        (if (i32.load8_u (i32.const 2048)) (then
            (call $letter (i32.const 70))
            (call $digit (i32.load8_u (i32.const 2052)))
            (call $letter (i32.const 32))
            (call $put (i32.load (i32.const 2056)) (i32.load (i32.const 2060)))
            (return)))
        (call $digit (i32.div_u (i32.load16_u (i32.const 2052)) (i32.const 100)))
        (call $digit (i32.rem_u (i32.div_u (i32.load16_u (i32.const 2052)) (i32.const 10)) (i32.const 10)))
        (call $digit (i32.rem_u (i32.load16_u (i32.const 2052)) (i32.const 10)))
        (call $letter (i32.const 10))
        (local.set $at (i32.load (i32.const 2056)))
        (local.set $left (i32.load (i32.const 2060)))
        (block $none (loop $next
            (br_if $none (i32.eqz (local.get $left)))
            (call $put (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)))
            (call $letter (i32.const 58))
            (call $put (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at)))
            (call $letter (i32.const 10))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $left (i32.sub (local.get $left) (i32.const 1)))
            (br $next)))
        (loop $more
            (call $body_read (i32.load (i32.const 2064)) (i32.const 1000) (i32.const 2100))
            (if (i32.load8_u (i32.const 2100)) (then unreachable))
            (if (i32.load (i32.const 2108)) (then
                (call $put (i32.load (i32.const 2104)) (i32.load (i32.const 2108)))
                (br $more)))))
"#;

/// The text of the input, a JSON string.
pub(crate) const INPUT: &str =
    "(i32.add (local.get 2) (i32.const 1)) (i32.sub (local.get 3) (i32.const 2))";

/// What a component does, step by step.
#[derive(Default)]
pub(crate) struct Probe {
    constants: Vec<u8>,
    steps: String,
}

/// A header with a secret: name, secret, prefix, user.
pub(crate) type Secret<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);

impl Probe {
    fn put(&mut self, bytes: &[u8]) -> usize {
        self.constants
            .resize(self.constants.len().next_multiple_of(4), 0);
        let at = CONSTANTS + self.constants.len();
        self.constants.extend_from_slice(bytes);
        assert!(self.constants.len() < 5000);
        at
    }

    fn words(&mut self, words: &[usize]) -> usize {
        let bytes = words
            .iter()
            .flat_map(|word| u32::try_from(*word).unwrap().to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        self.put(&bytes)
    }

    /// A constant, as two arguments.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let at = self.put(text.as_bytes());
        format!("(i32.const {at}) (i32.const {})", text.len())
    }

    pub(crate) fn step(mut self, step: &str) -> Self {
        self.steps.push_str(step);
        self
    }

    /// Sends a request to the URL in the input, and adds what came back to the result.
    pub(crate) fn send(self, method: &str, headers: &[(&str, &str)], body: &str) -> Self {
        self.request(method, headers, body, None)
    }

    /// The same without a header or body, and leaves the answer at 2048 as it came.
    pub(crate) fn send_unread(mut self, method: &str) -> Self {
        let method = self.text(method);
        let piece = self.words(&[0, 0]);
        self.step(&format!(
            "(call $send {method} {INPUT} (i32.const 0) (i32.const 0) (i32.const {piece}) (i32.const 1) (i32.const 2048))"
        ))
    }

    /// The same with secrets.
    pub(crate) fn send_secret(self, headers: &[(&str, &str)], secrets: &[Secret<'_>]) -> Self {
        self.request("GET", headers, "", Some(secrets))
    }

    fn request(
        mut self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
        secrets: Option<&[Secret<'_>]>,
    ) -> Self {
        let method = self.text(method);
        let mut list = Vec::new();
        for (name, value) in headers {
            list.extend([self.put(name.as_bytes()), name.len()]);
            list.extend([self.put(value.as_bytes()), value.len()]);
        }
        let list = self.words(&list);
        let piece = self.put(body.as_bytes());
        let pieces = self.words(&[piece, body.len()]);
        let request = format!(
            "{method} {INPUT} (i32.const {list}) (i32.const {}) (i32.const {pieces}) (i32.const 1)",
            headers.len()
        );
        let Some(secrets) = secrets else {
            return self.step(&format!(
                "(call $send {request} (i32.const 2048)) (call $dump)"
            ));
        };
        let mut list = Vec::new();
        for (header, secret, prefix, user) in secrets {
            for text in [header, secret, prefix] {
                list.extend([self.put(text.as_bytes()), text.len()]);
            }
            let user_at = self.put(user.unwrap_or_default().as_bytes());
            list.extend([
                usize::from(user.is_some()),
                user_at,
                user.map_or(0, str::len),
            ]);
        }
        let list = self.words(&list);
        let added = format!("(i32.const {list}) (i32.const {})", secrets.len());
        self.step(&format!(
            "(call $send_secret {request} {added} (i32.const 2048)) (call $dump)"
        ))
    }

    /// Adds `1` to the result if a secret is available, else `0`.
    pub(crate) fn available(mut self, name: &str) -> Self {
        let name = self.text(name);
        self.step(&format!("(call $digit (call $available {name}))"))
    }

    /// Adds what is remembered under a key (`-` if nothing is, `E` and a code if that fails), and remembers the input instead.
    pub(crate) fn swap(mut self, key: &str) -> Self {
        let key = self.text(key);
        self.step(&format!(
            "(call $state_get {key} (i32.const 2200))
            (if (i32.load8_u (i32.const 2200))
                (then
                    (call $letter (i32.const 69))
                    (call $digit (i32.load8_u (i32.const 2204))))
                (else (if (i32.load8_u (i32.const 2204))
                    (then (call $put (i32.load (i32.const 2208)) (i32.load (i32.const 2212))))
                    (else (call $letter (i32.const 45))))))
            (call $state_set {key} {INPUT} (i32.const 2200))"
        ))
    }

    /// Adds the value of a variable, or `-`.
    pub(crate) fn variable(mut self, name: &str) -> Self {
        let name = self.text(name);
        self.step(&format!(
            "(call $config_get {name} (i32.const 2200))
            (if (i32.load8_u (i32.const 2200))
                (then (call $put (i32.load (i32.const 2204)) (i32.load (i32.const 2208))))
                (else (call $letter (i32.const 45))))"
        ))
    }

    /// The component, with what it asks for.
    pub(crate) fn component(&self, asks: &Value) -> Vec<u8> {
        let mut declaration = json!({
            "name": "probe", "version": "0.1.0", "wit": "0.1.0",
            "tools": [{
                "name": "Probe", "description": "Does as it is told.", "input_schema": {},
            }],
        });
        for (key, value) in asks.as_object().unwrap() {
            declaration[key] = value.clone();
        }
        let constants: String = self
            .constants
            .iter()
            .map(|byte| format!("\\{byte:02x}"))
            .collect();
        let fields = format!("{FIELDS} (data (i32.const {CONSTANTS}) \"{constants}\")");
        let body = format!(
            "{} (call $text (global.get $out) (global.get $len))",
            self.steps
        );
        guest::declared_with(&declaration.to_string(), IMPORTS, &fields, &body)
    }

    /// The component loaded and granted something.
    pub(crate) fn granted(
        &self,
        host: &PluginHost,
        asks: &Value,
        grant: &ComponentGrant,
    ) -> Plugin {
        let plugin = host.load("probe", self.component(asks)).unwrap();
        plugin.granted(grant).unwrap()
    }
}

/// A call whose input is this text.
pub(crate) fn call(text: &str) -> ToolCall {
    ToolCall {
        tool_use_id: "toolu_1".into(),
        name: "Probe".into(),
        input: RawJson::string(text),
        grant: FsGrant::default(),
        observed: Vec::new(),
        timeout_ms: None,
        agent: None,
        command: None,
        outside_sandbox: false,
        model: None,
        shell: None,
    }
}

pub(crate) fn run(plugin: &Plugin, text: &str) -> ToolResult {
    plugin.call_blocking(&call(text), &CancelSignal::new())
}

/// The text of a call that was a success.
pub(crate) fn said(plugin: &Plugin, text: &str) -> String {
    let result = run(plugin, text);
    assert!(!result.is_error, "{result:?}");
    result.joined_text()
}

/// Lines of a log, as they came.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn sink(&self) -> LogSink {
        let lines = Arc::clone(&self.0);
        LogSink::new(move |line| lines.lock().unwrap().push(line.message.to_owned()))
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }

    pub(crate) fn lines(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// A host that writes to this log.
pub(crate) fn logging(log: &Log) -> PluginHostConfig {
    PluginHostConfig {
        log: log.sink(),
        ..PluginHostConfig::default()
    }
}

/// A server on loopback. It ends with this value.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server that answers requests with what the function makes of them; with nothing, it waits until the client goes.
    pub(crate) fn answering(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        Self::at(([127, 0, 0, 1], 0).into(), answer)
    }

    /// The same at an address of one's own.
    pub(crate) fn at(
        address: SocketAddr,
        answer: impl Fn(&str) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, ends): (Arc<Mutex<Vec<String>>>, Arc<AtomicBool>) = Default::default();
        let (kept, ending) = (Arc::clone(&requests), Arc::clone(&ends));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ending.load(Ordering::Acquire) {
                    return;
                }
                let mut stream = stream.unwrap();
                let request = read_request(&mut stream);
                let reply = answer(&request);
                kept.lock().unwrap().push(request);
                if reply.is_empty() {
                    // What comes is the end, in one way or another.
                    let _ = stream.read(&mut [0]);
                    kept.lock().unwrap().push("gone".to_owned());
                }
                // A client that takes no more has gone.
                let _ = stream.write_all(&reply);
            }
        });
        Self {
            address,
            requests,
            ends,
            thread: Some(thread),
        }
    }

    /// A server that answers every request with this text.
    pub(crate) fn saying(text: &str) -> Self {
        let reply = reply("200 OK", &[], text);
        Self::answering(move |_| reply.clone())
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What came so far, after the last exchange is over.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Ends the server; gives what came.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.stop();
        self.requests()
    }

    fn stop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // It waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text.into_owned();
            }
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return text.into_owned(),
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

/// An answer as bytes.
pub(crate) fn reply(status: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}
