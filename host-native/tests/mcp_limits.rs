//! MCP servers that answer too much, too deep, or without an end. Every call has the usual limit of an hour, and these tests
//! do not take one: what cannot be read is refused when it comes.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use windlass::mcp::{ConnectError, Connection, StdioServer};
use windlass_core::{
    RawJson,
    effect::Answer,
    host::CancelSignal,
    tool::{FsGrant, ToolCall, ToolResult},
};

const HOSTILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/sdk/servers/hostile.py"
);

async fn hostile(env: &Value) -> Result<Connection, ConnectError> {
    let config = json!({"command": "python3", "args": [HOSTILE], "env": env});
    let config = RawJson::parse(config.to_string()).unwrap();
    let server = StdioServer::read("hostile", &config, &|_| None).unwrap();
    server.connect().await
}

async fn sized(size: usize) -> Connection {
    hostile(&json!({"SIZE": size.to_string()})).await.unwrap()
}

async fn answer(server: &Connection, name: &str) -> ToolResult {
    let call = ToolCall {
        tool_use_id: "toolu_1".into(),
        name: format!("mcp__hostile__{name}"),
        input: RawJson::empty_object(),
        grant: FsGrant::default(),
        observed: Vec::new(),
        timeout_ms: None,
        agent: None,
        command: None,
        outside_sandbox: false,
        model: None,
        shell: None,
    };
    match server.tool(name).call(&call, CancelSignal::new()).await {
        Answer::Tool(result) => result,
        other => panic!("{name} was answered with {other:?}"),
    }
}

/// The call fails with these words, and the server is none the worse for it.
#[track_caller]
fn refused(result: &ToolResult, words: &str) {
    let said = result.joined_text();
    assert!(result.is_error && said.contains(words), "{said}");
    assert!(said.contains("hostile"), "it names the server: {said}");
}

#[tokio::test]
async fn mcp_2_an_answer_that_is_too_long_fails_its_call_at_once() {
    let server = sized(100 << 20).await;
    refused(&answer(&server, "big").await, "longer than 16 MiB");
    assert_eq!(answer(&server, "plain").await.joined_text(), "plain");
    server.close().await;

    // Whose it is may come last.
    let server = sized(20 << 20).await;
    refused(&answer(&server, "late").await, "longer than 16 MiB");
    assert_eq!(answer(&server, "plain").await.joined_text(), "plain");
    server.close().await;

    let server = sized(8 << 20).await;
    for name in ["big", "late"] {
        let result = answer(&server, name).await;
        assert_eq!(
            (result.is_error, result.joined_text().len()),
            (false, 8 << 20)
        );
    }
    server.close().await;
}

#[tokio::test]
async fn mcp_2_an_answer_that_is_too_deep_or_no_text_fails_its_call_at_once() {
    for levels in [130, 200_000, 4_000_000] {
        let server = sized(levels).await;
        refused(&answer(&server, "deep").await, "deeper than 127 levels");
        refused(&answer(&server, "half").await, "cannot be read");
        assert_eq!(answer(&server, "plain").await.joined_text(), "plain");
        server.close().await;
    }
    let server = sized(100).await;
    assert!(!answer(&server, "deep").await.is_error);
    server.close().await;
}

#[tokio::test]
async fn mcp_2_a_server_that_never_ends_a_line_is_given_up() {
    let server = sized(0).await;
    refused(
        &answer(&server, "endless").await,
        "more than 256 MiB, which did not end",
    );
    assert!(server.is_closed());
    refused(&answer(&server, "plain").await, "did not end");
    server.close().await;
}

#[tokio::test]
async fn mcp_1_a_list_without_an_end_is_none() {
    for (lists, words) in [
        ("endless", "more than 1000 pages"),
        ("circle", "came twice"),
        ("long", "more than 10000 entries"),
    ] {
        let error = hostile(&json!({"LISTS": lists})).await.unwrap_err();
        assert!(matches!(error, ConnectError::Protocol { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn mcp_2_what_a_server_says_of_its_own_accord_is_not_held() {
    let server = sized(50_000).await;
    assert_eq!(answer(&server, "storm").await.joined_text(), "calm");
    assert_eq!(answer(&server, "plain").await.joined_text(), "plain");
    server.close().await;

    // More than are taken at a time, and fewer bytes than a pipe holds: it reads on when all are sent.
    let server = sized(1_000).await;
    assert_eq!(answer(&server, "asks").await.joined_text(), "1000");
    assert_eq!(answer(&server, "plain").await.joined_text(), "plain");
    server.close().await;
}

#[tokio::test]
async fn mcp_1_tools_that_change_all_the_time_are_asked_for_now_and_then() {
    let server = sized(20_000).await;
    assert_eq!(answer(&server, "changes").await.joined_text(), "changed");
    server.changed_tools().await;
    let asked: u32 = answer(&server, "count")
        .await
        .joined_text()
        .parse()
        .unwrap();
    assert!(asked <= 3, "{asked} times");
    server.close().await;
}
