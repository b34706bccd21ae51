//! `windlass mcp serve`: a client at the other end of the pipe, or of the address.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{guest, support::Windlass};

/// A tool that says what it was given, and one that wants a file.
fn declaration() -> Value {
    let object = json!({"type": "object"});
    json!({
        "name": "echo", "version": "1.2.3", "wit": "0.1.0",
        "tools": [
            {"name": "Echo", "description": "Says it again.", "annotations": {"readOnly": true, "idempotent": true},
                "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}},
            {"name": "Look", "description": "Looks at a file.", "input_schema": object,
                "paths": [{"field": "file_path", "access": "read"}]},
        ],
        "grants": {"filesystem": "read"},
    })
}

/// What it is given as text: parameters 2 and 3.
const ECHO: &str = "(call $text (local.get 2) (local.get 3))";

/// The program with a plugin.
fn serving() -> Windlass {
    let windlass = Windlass::new();
    let component = guest::declared(&declaration().to_string(), ECHO);
    std::fs::write(windlass.home().join("echo.wasm"), component).unwrap();
    windlass
}

fn words(windlass: &Windlass, more: &[&str]) -> Vec<String> {
    let component = windlass.home().join("echo.wasm");
    let words = ["mcp", "serve", "--plugin-dir", component.to_str().unwrap()];
    words.iter().chain(more).map(ToString::to_string).collect()
}

/// A client over standard input and output.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn start(windlass: &Windlass, more: &[&str]) -> Self {
        let words = words(windlass, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = (windlass.command(&words))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            last: 0,
        }
    }

    /// The same, introduced as clients of 2025-11-25 are.
    fn introduced(windlass: &Windlass, more: &[&str]) -> Self {
        let mut client = Self::start(windlass, more);
        let answer = client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert_eq!(
            answer["result"]["serverInfo"]["name"], "windlass",
            "{answer}"
        );
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{answer}"
        );
        client.say(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
        client
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line:?}"))
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters});
        self.say(&request.to_string());
        let answer = self.hear();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, input: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": input}))
    }

    /// Leaves, and returns the exit code and what was said on standard error.
    fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = self.child.wait().unwrap().code();
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        (code, said)
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn tools_of_plugins_are_offered_to_an_mcp_client_and_no_others() {
    let windlass = serving();
    let mut client = Client::introduced(&windlass, &["--allowedTools", "Echo"]);
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["Echo", "Look"], "{listed}");
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["word"]));
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    let answer = client.call("Echo", &json!({"word": "again"}));
    assert_eq!(text(&answer), r#"{"word":"again"}"#, "{answer}");
    assert_ne!(answer["result"]["isError"], true);
    // What the agent has besides is not there, whatever its name.
    for other in ["Bash", "Read", "Task", "mcp__echo__Echo", ""] {
        let answer = client.call(other, &json!({"command": "true"}));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let (code, said) = client.leave();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn a_served_call_that_no_rule_allows_is_denied_with_what_would_allow_it() {
    let windlass = serving();
    let mut client = Client::introduced(&windlass, &[]);
    let answer = client.call("Echo", &json!({"word": "again"}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    for part in ["nobody is asked here", "--allowedTools \"Echo\""] {
        assert!(text(&answer).contains(part), "{part}: {answer}");
    }
    client.leave();
    // Settings of the user count, and a deny rule is above what the command line allows.
    windlass.write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Echo"]}}"#,
    );
    let mut client = Client::introduced(&windlass, &["--allowedTools", "Echo"]);
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(
        listed["result"]["tools"].as_array().unwrap().len(),
        1,
        "{listed}"
    );
    let answer = client.call("Echo", &json!({"word": "again"}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.leave();
}

#[test]
fn a_served_call_reaches_no_file_that_its_grant_and_the_rules_do_not() {
    let windlass = serving();
    windlass.write("inside.txt", "");
    windlass.write("secret/key.txt", "");
    let rules = r#"{"permissions": {"allow": ["Look"], "deny": ["Read(secret/**)"]}}"#;
    let mut client = Client::introduced(&windlass, &["--settings", rules]);
    let mut look = |path: &str| client.call("Look", &json!({"file_path": path}));
    let answer = look("inside.txt");
    assert!(text(&answer).contains("inside.txt"), "{answer}");
    let outside = windlass.home().join("outside.txt");
    for path in ["secret/key.txt", outside.to_str().unwrap(), "/etc/passwd"] {
        let answer = look(path);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!text(&answer).starts_with('{'), "it ran: {answer}");
    }
    client.leave();
}

#[test]
fn a_client_that_sends_what_is_no_call_gets_an_error_and_is_served_on() {
    let windlass = serving();
    let mut client = Client::introduced(&windlass, &["--allowedTools", "Echo"]);
    let answer = client.call("Echo", &json!({"word": 7}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text(&answer).contains("word"), "{answer}");
    let answer = client.ask("tools/call", &json!({"name": "Echo", "arguments": "again"}));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    let answer = client.ask("no/such/method", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = client.call("Echo", &json!({"word": "again"}));
    assert_eq!(text(&answer), r#"{"word":"again"}"#, "{answer}");
    client.leave();
}

#[test]
fn a_client_of_2026_07_28_calls_without_a_handshake() {
    let windlass = serving();
    let mut client = Client::start(&windlass, &["--allowedTools", "Echo"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask("server/discover", &json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.ask("tools/list", &json!({"_meta": meta}));
    assert!(listed["result"]["ttlMs"].is_u64(), "{listed}");
    let call = json!({"name": "Echo", "arguments": {"word": "again"}, "_meta": meta});
    let answer = client.ask("tools/call", &call);
    assert_eq!(text(&answer), r#"{"word":"again"}"#, "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    client.leave();
}

/// The program as a server over HTTP, ended when it is dropped.
pub(crate) struct Served {
    child: Child,
    address: String,
    _stderr: BufReader<ChildStderr>,
}

impl Served {
    fn start(windlass: &Windlass, token: Option<&str>) -> Self {
        let words = words(
            windlass,
            &["--http", "127.0.0.1:0", "--allowedTools", "Echo"],
        );
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = windlass.command(&words);
        if let Some(token) = token {
            command.env("WINDLASS_MCP_TOKEN", token);
        }
        Self::of(command)
    }

    /// The server that a command line starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1);
        let address = address.unwrap_or_else(|| panic!("no address: {line}"));
        let address = address.split('/').next().unwrap().to_owned();
        Self {
            child,
            address,
            _stderr: stderr,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Sends a request with these headers, and returns the status and the body.
    fn post(&self, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\nconnection: close\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn introduction() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

#[test]
fn over_http_only_this_machine_is_answered_and_no_page_of_a_browser() {
    let windlass = serving();
    let served = Served::start(&windlass, None);
    let (own, port) = (
        served.address.as_str(),
        served.address.split(':').nth(1).unwrap(),
    );
    let same = format!("http://{own}");
    let (status, answer) = served.post(&[("host", own), ("origin", &same)], &introduction());
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("windlass"), "{answer}");
    let foreign = format!(
        "http://localhost:{}",
        port.parse::<u16>().unwrap().wrapping_add(1)
    );
    for headers in [
        [("host", "evil.example"), ("x-none", "")],
        [("host", own), ("origin", "https://evil.example")],
        [("host", own), ("origin", "null")],
        // A page of another server of this machine is a page of somebody else.
        [("host", own), ("origin", &foreign)],
    ] {
        let (status, answer) = served.post(&headers, &introduction());
        assert_eq!(status, 403, "{headers:?}: {answer}");
    }
}

#[test]
fn over_http_a_token_is_asked_of_every_request() {
    let windlass = serving();
    let served = Served::start(&windlass, Some("sesame"));
    let host = ("host", served.address.as_str());
    for wrong in [
        "Bearer sesam",
        "Bearer sesame2",
        "Basic sesame",
        "sesame",
        "Bearer",
    ] {
        let (status, answer) = served.post(&[host, ("authorization", wrong)], &introduction());
        assert_eq!(status, 401, "{wrong}: {answer}");
        assert!(
            answer.to_lowercase().contains("www-authenticate: bearer"),
            "{answer}"
        );
    }
    let (status, answer) = served.post(&[host], &introduction());
    assert_eq!(status, 401, "{answer}");
    let (status, answer) =
        served.post(&[host, ("authorization", "Bearer sesame")], &introduction());
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is() {
    let windlass = serving();
    let refused = |more: &[&str], part: &str| {
        let words = words(&windlass, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = windlass.run(&words);
        assert!(matches!(done.code, Some(2 | 3)), "{done:?}");
        assert!(done.stderr.contains(part), "{part}: {done:?}");
        assert_eq!(done.stdout, "", "{done:?}");
    };
    refused(&["--http", "0.0.0.0:0"], "loopback only");
    refused(&["--http", "8080"], "--http");
    refused(&["--plugin-dir", "gone.wasm"], "gone.wasm");
    refused(&["--allowedTools", "Echo("], "--allowedTools");
}
