//! Variables of the environment and flags about servers, as they reach the command.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::support::{Done, Windlass, model, saying};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

fn body(server: &ModelServer, number: usize) -> Value {
    serde_json::from_slice(&server.requests()[number].body).unwrap()
}

#[test]
fn loop_9_the_variable_says_how_long_a_silent_server_is_waited_for() {
    const ANSWER: &str = concat!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"Here.\"}}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let (mut silent, _) = listener.accept().unwrap();
        let _ = silent.read(&mut [0; 1 << 16]);
        // Given up after the time that was said, and asked again while this one still says nothing.
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1 << 16]);
        stream.write_all(ANSWER.as_bytes()).unwrap();
    });
    let windlass = Windlass::new();
    let mut command = windlass.command(&["-p", "hi", "--max-retries", "1"]);
    command.env("ANTHROPIC_BASE_URL", url);
    command.env("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "200");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Here.\n"),
        "{done:?}"
    );
    serving.join().unwrap();
}

#[test]
fn a_proxy_is_never_used_for_a_server_on_this_machine() {
    let server = saying(["Hello."]);
    let windlass = Windlass::asking(&server);
    let mut command = windlass.command(&["-p", "hi", "--max-retries", "0"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"] {
        // Nobody listens there.
        command.env(name, "http://127.0.0.1:1");
    }
    let done = Done::of(&command.output().unwrap());
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Hello.\n"),
        "{done:?}"
    );
}

#[test]
fn a_proxy_is_used_for_a_server_elsewhere_that_is_not_excepted() {
    for (excepted, is_asked) in [("other.invalid", true), ("model.invalid", false)] {
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", proxy.local_addr().unwrap());
        let asked = thread::spawn(move || {
            let (mut stream, _) = proxy.accept().unwrap();
            let mut head = [0; 1 << 16];
            let length = stream.read(&mut head).unwrap();
            stream
                .write_all(b"HTTP/1.1 418 I am a proxy\r\ncontent-length: 0\r\n\r\n")
                .unwrap();
            String::from_utf8_lossy(&head[..length]).into_owned()
        });
        let windlass = Windlass::new();
        let mut command = windlass.command(&["-p", "hi", "--max-retries", "0"]);
        let output = (command.env("ANTHROPIC_BASE_URL", "http://model.invalid"))
            .envs([
                ("ANTHROPIC_API_KEY", "sk-test"),
                ("HTTP_PROXY", &address),
                ("NO_PROXY", excepted),
            ])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        if !is_asked {
            // Nobody has come; now somebody does.
            let mut stream = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
            stream.write_all(b"nobody").unwrap();
        }
        let head = asked.join().unwrap();
        assert_eq!(
            head.starts_with("POST http://model.invalid/v1/messages"),
            is_asked,
            "{head}"
        );
        assert_eq!(head == "nobody", !is_asked, "{head}");
    }
}

#[test]
fn loop_12_the_other_model_is_asked_where_the_first_is_overloaded() {
    let overloaded = json!({"error": {"type": "overloaded_error", "message": "Overloaded"},
        "headers": {"retry-after": "0"}});
    let script = json!({"exchanges": [
        {"expect": {"model": "claude-opus-4-6"}, "respond": overloaded, "repeat": 2},
        {"expect": {"model": "claude-haiku-4-5"}, "respond": "Hello."},
    ]});
    let server = model(&script.to_string());
    let args = [
        "-p",
        "hi",
        "--max-retries",
        "1",
        "--model",
        "claude-opus-4-6",
        "--fallback-model",
        "claude-haiku-4-5",
    ];
    let done = Windlass::asking(&server).run(&args);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Hello.\n"),
        "{done:?}"
    );
}

#[test]
fn mcp_1_with_the_strict_flag_there_are_no_other_servers_than_those_of_flags() {
    let named = |name: &str| {
        json!({"mcpServers": {name: {"command": "python3", "args": [NOTES]}}}).to_string()
    };
    for (flags, expected) in [
        (&["--trust"][..], true),
        (&["--trust", "--strict-mcp-config"], false),
    ] {
        let server = saying(["Done."]);
        let windlass = Windlass::asking(&server);
        windlass.write(".mcp.json", &named("ofproject"));
        let config = named("offlag");
        let done = windlass.run(&[&["-p", "hi", "--mcp-config", &config], flags].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        let tools = body(&server, 0)["tools"].to_string();
        assert!(tools.contains("mcp__offlag__"), "{tools}");
        assert_eq!(tools.contains("mcp__ofproject__"), expected, "{tools}");
    }
}

/// A server with one tool, which lets every call run whose input says so.
const JUDGE: &str = r#"
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, params = request["method"], request.get("params", {})
    result = {}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "judge", "version": "1"}}
    if method == "tools/list":
        result = {"tools": [{"name": "ask", "description": "", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        asked = params["arguments"]
        behavior = "allow" if asked["input"]["command"] == "touch yes" else "deny"
        said = {"behavior": behavior, "updatedInput": asked["input"], "message": "not that one"}
        result = {"content": [{"type": "text", "text": json.dumps(said)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;

#[test]
fn perm_14_the_tool_of_the_flag_is_asked_in_the_place_of_a_person() {
    let call = |line: &str| {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": line}});
        json!({"respond": {"content": [call]}})
    };
    let script = json!({"exchanges": [call("touch yes"), call("touch no"), {"respond": "Done."}]});
    let server = model(&script.to_string());
    let windlass = Windlass::asking(&server);
    let config = json!({"mcpServers": {"judge": {"command": "python3", "args": ["-c", JUDGE]}}});
    let args = [
        "-p",
        "go",
        "--mcp-config",
        &config.to_string(),
        "--permission-prompt-tool",
        "mcp__judge__ask",
    ];
    let done = windlass.run(&args);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Done.\n"),
        "{done:?}"
    );
    assert!(windlass.workspace.path().join("yes").exists(), "{done:?}");
    assert!(!windlass.workspace.path().join("no").exists(), "{done:?}");
    assert!(body(&server, 2).to_string().contains("not that one"));
}

/// What would be asked about would be denied: it is said before anything is, in the words of the command line.
#[test]
fn perm_14_no_session_begins_without_the_tool_that_is_to_be_asked() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    let config = json!({"mcpServers": {"judge": {"command": "python3", "args": ["-c", JUDGE]}}});
    let config = config.to_string();
    for (tool, servers) in [
        ("foo", &[][..]),
        ("mcp__judge__ask", &[]),
        ("mcp__judge__other", &["--mcp-config", config.as_str()]),
    ] {
        let args = ["-p", "go", "--permission-prompt-tool", tool];
        let done = windlass.run(&[&args[..], servers].concat());
        let complaint = done.complaint(3);
        let words = format!("--permission-prompt-tool: no MCP server has a tool named {tool}");
        assert!(complaint.contains(&words), "{complaint}");
        let json = ["--output-format", "json"];
        let done = windlass.run(&[&args[..], &json, servers].concat());
        let result = done.lines().pop().unwrap();
        assert_eq!((done.code, &result["is_error"]), (Some(3), &json!(true)));
        assert!(result["errors"].to_string().contains(&words), "{result}");
    }
    assert!(server.requests().is_empty());
}
