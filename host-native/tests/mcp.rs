//! MCP servers that are programs: reached, called, dying, ended.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use windlass::mcp::{ConnectError, Connection, Limits, StdioServer};
use windlass_core::{
    RawJson,
    effect::Answer,
    host::CancelSignal,
    tool::{FsGrant, ResultBlock, ToolCall, ToolResult},
};

/// A server written in Python, against the specification alone.
const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

fn server(config: &Value) -> StdioServer {
    let config = RawJson::parse(config.to_string()).unwrap();
    StdioServer::read("notes", &config, &|_| None).unwrap()
}

async fn notes(env: &Value) -> Connection {
    let config = json!({"command": "python3", "args": [NOTES], "env": env});
    server(&config).connect().await.unwrap()
}

fn call(name: &str, input: &Value) -> ToolCall {
    ToolCall {
        tool_use_id: "toolu_1".into(),
        name: format!("mcp__notes__{name}"),
        input: RawJson::parse(input.to_string()).unwrap(),
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

async fn answer(notes: &Connection, name: &str, input: &Value) -> ToolResult {
    let tool = notes.tool(name);
    match tool.call(&call(name, input), CancelSignal::new()).await {
        Answer::Tool(result) => result,
        other => panic!("{name} was answered with {other:?}"),
    }
}

fn text(result: &ToolResult) -> String {
    let blocks = result.content.iter().map(|block| match block {
        ResultBlock::Text { text } => text.as_str(),
        other => panic!("{other:?}"),
    });
    blocks.collect()
}

#[tokio::test]
async fn mcp_1_a_program_is_reached_by_pipe_and_its_tools_have_names_of_their_own() {
    let notes = notes(&json!({"NOTE": "${NOWHERE:-buy milk}"})).await;
    let info = notes.info().unwrap();
    assert_eq!(
        (info.name.as_str(), info.version.as_str()),
        ("notes", "1.2.3")
    );
    // The list comes in two pages.
    let names: Vec<&str> = notes.tools().map(|(tool, _)| tool.name.as_str()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let (read, name) = notes.tools().next().unwrap();
    assert_eq!((read.name.as_str(), name), ("mcp__notes__read", "read"));
    assert_eq!(read.description, "Reads a note");
    assert!(read.annotations.read_only && !read.annotations.destructive);

    let result = answer(&notes, "read", &json!({"name": "today"})).await;
    assert_eq!(text(&result), "buy milk (today)");
    assert!(!result.is_error);
    let result = answer(&notes, "fail", &json!({})).await;
    assert!(result.is_error && text(&result) == "There is no paper.");
    notes.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_dies_fails_its_calls_and_can_be_connected_anew() {
    let first = notes(&json!({})).await;
    // One call waits while another one ends the server.
    let slow = first.tool("slow");
    let (waiting, crash) = (call("slow", &json!({})), call("crash", &json!({})));
    let crashing = first.tool("crash");
    let (slow, crash) = tokio::join!(
        slow.call(&waiting, CancelSignal::new()),
        crashing.call(&crash, CancelSignal::new())
    );
    for answer in [slow, crash] {
        let Answer::Tool(result) = answer else {
            panic!("{answer:?}")
        };
        let said = text(&result);
        assert!(result.is_error, "{said}");
        for wanted in ["notes", "exit status: 3", "notes: ready"] {
            assert!(said.contains(wanted), "{said}");
        }
    }
    assert!(first.is_closed());
    assert!(answer(&first, "read", &json!({"name": "x"})).await.is_error);

    let second = notes(&json!({"NOTE": "alive"})).await;
    let result = answer(&second, "read", &json!({"name": "x"})).await;
    assert_eq!(text(&result), "alive (x)");
    second.close().await;
}

#[tokio::test]
async fn a_call_is_cancelled_or_runs_out_of_time_without_harm_to_others() {
    let notes = notes(&json!({"NOTE": "here"})).await;
    let cancel = CancelSignal::new();
    cancel.cancel();
    let slow = notes.tool("slow");
    let cancelled = slow.call(&call("slow", &json!({})), cancel).await;
    assert!(matches!(cancelled, Answer::Cancelled), "{cancelled:?}");
    // It never answers, so any limit will do.
    let limited = ToolCall {
        timeout_ms: Some(1),
        ..call("slow", &json!({}))
    };
    let Answer::Tool(result) = slow.call(&limited, CancelSignal::new()).await else {
        panic!("no result");
    };
    assert!(result.is_error && text(&result).contains("longer than 0.001 seconds"));
    let result = answer(&notes, "read", &json!({"name": "x"})).await;
    assert_eq!(text(&result), "here (x)");
    notes.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_cannot_be_reached_says_why() {
    let error = |config: Value| async move {
        let limits = Limits {
            connect: Duration::from_millis(50),
            ..Limits::default()
        };
        let limits = match config["silent"] == true {
            true => limits,
            false => Limits::default(),
        };
        server(&config).limits(limits).connect().await.unwrap_err()
    };
    let absent = error(json!({"command": "/nowhere/server"})).await;
    assert!(matches!(absent, ConnectError::Start { .. }), "{absent}");
    assert!(absent.to_string().contains("/nowhere/server"), "{absent}");

    let short = json!({"command": "sh", "args": ["-c", "echo no licence >&2; exit 4"]});
    let ended = error(short).await;
    assert!(matches!(ended, ConnectError::Ended { .. }), "{ended}");
    let said = ended.to_string();
    assert!(
        said.contains("exit status: 4") && said.contains("no licence"),
        "{said}"
    );

    // Says nothing for as long as it lives, which is as long as its input is open.
    let silent = json!({"command": "sh", "args": ["-c", "cat > /dev/null"], "silent": true});
    let silent = error(silent).await;
    assert!(matches!(silent, ConnectError::TimedOut { .. }), "{silent}");
}

#[tokio::test]
async fn mcp_2_a_closed_server_is_gone_even_if_it_will_not_go() {
    for env in [json!({}), json!({"STUBBORN": "1"})] {
        let notes = notes(&env).await;
        let id = text(&answer(&notes, "whoami", &json!({})).await);
        let process = Pid::from_raw(id.parse().unwrap()).unwrap();
        assert!(test_kill_process(process).is_ok());
        notes.close().await;
        assert!(test_kill_process(process).is_err(), "{id} is still there");
        assert!(notes.is_closed());
    }
}

#[tokio::test]
async fn mcp_1_tools_that_come_later_are_heard_of() {
    let notes = notes(&json!({})).await;
    answer(&notes, "grow", &json!({})).await;
    let tools = notes.changed_tools().await;
    let (late, name) = tools.last().unwrap();
    assert_eq!(
        (late.name.as_str(), name.as_str()),
        ("mcp__notes__late", "late")
    );
    notes.close().await;
}
