//! What an agent starts for itself: MCP servers and hooks that are programs.
#![cfg(unix)]

use serde_json::json;
use windlass::{
    BuildError, McpServer, Message, RunError,
    core::{
        hook::{HookEvent, HookMatcher},
        message::SystemMessage,
    },
    hooks::HookCommand,
    mcp::StdioServer,
    store::MemoryStore,
};

use crate::support::{Model, calls, messages, text, tool_results};

/// A server written in Python, against the specification alone.
fn notes() -> StdioServer {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");
    StdioServer::new("notes", "python3")
        .args([program])
        .variable("NOTE", "buy milk")
}

#[tokio::test]
async fn mcp_5_a_server_that_is_a_program_is_started_for_a_session_and_called() {
    let model = Model::of(json!([
        calls(&[("mcp__notes__read", json!({"name": "today"}))]),
        { "expect": { "tool_results": [{ "contains": "buy milk (today)", "is_error": false }] }, "respond": "Milk." },
        { "expect": { "tools_include": ["mcp__notes__read"] }, "respond": "Still milk." },
    ]));
    let kept = MemoryStore::default();
    let agent = |store: MemoryStore| {
        let agent = model.agent().mcp_server_process(notes()).store(store);
        agent.allowed_tools(["mcp__notes"]).continue_latest()
    };
    let first = agent(kept.again()).build().unwrap();
    let said = messages(&mut first.query("What is to be done?")).await;
    let Some(Message::System(SystemMessage::Init(init))) = said.first() else {
        panic!("{said:?}");
    };
    assert_eq!(init.mcp_servers[0].name, "notes");
    assert_eq!(init.mcp_servers[0].status, "connected");
    assert_eq!(tool_results(&said).len(), 1);
    // A session that goes on has them as well.
    let again = agent(kept.again()).build().unwrap();
    assert_eq!(text(again.run("And now?").await.unwrap()), "Still milk.");
    model.verify();
}

#[tokio::test]
async fn mcp_5_a_server_that_does_not_start_ends_the_run_and_says_why() {
    let model = Model::says([]);
    let absent = StdioServer::new("absent", "/nowhere/server");
    let agent = model.agent().mcp_server_process(absent).build().unwrap();
    let error = agent.run("go").await.unwrap_err();
    assert!(matches!(&error, RunError::McpServer { server, .. } if server == "absent"));
    assert!(error.to_string().contains("/nowhere/server"), "{error}");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn mcp_5_two_servers_of_one_name_are_refused() {
    let model = Model::says([]);
    let twice = model.agent().mcp_server_process(notes());
    let twice = twice.mcp_server(McpServer::new("notes", "1"));
    let error = twice.build().unwrap_err();
    assert!(
        matches!(error, BuildError::DuplicateMcpServer { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn hook_5_a_program_decides_about_a_call() {
    let model = Model::of(json!([
        calls(&[("Glob", json!({"pattern": "*"}))]),
        { "expect": { "tool_results": [{ "contains": "not today", "is_error": true }] }, "respond": "Pity." },
    ]));
    let guard = HookCommand::new("grep -q Glob && echo not today >&2 && exit 2", ".");
    let agent = model.agent().tools(["Glob"]).allowed_tools(["Glob"]);
    let agent = agent.hook_command(HookMatcher::of(HookEvent::PreToolUse), guard);
    let result = agent.build().unwrap().run("Look.").await.unwrap();
    assert_eq!(text(result), "Pity.");
    model.verify();
}
