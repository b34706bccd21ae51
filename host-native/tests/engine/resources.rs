//! Resources of MCP servers: for the model, by tools of the engine.

use serde_json::{Value, json};

use crate::{
    http::{Manners, McpServer},
    http_servers::{init, run, session, sse_server},
    support::{Sdk, all, calls, result_text, says},
};

#[tokio::test]
async fn tool_29_resources_are_listed_and_read_unasked_until_a_rule_denies_it() {
    let server = McpServer::start(Manners::default());
    let config = json!({"mcpServers": {
        "far": {"type": "http", "url": server.url()},
        // It has none.
        "old": {"type": "sse", "url": sse_server().url("/sse")},
    }})
    .to_string();
    let list = |input: Value| calls("ListMcpResourcesTool", input);
    let read = |server: &str, uri: &str| {
        calls("ReadMcpResourceTool", json!({"server": server, "uri": uri}))
    };
    let exchanges = json!([
        list(json!({})),
        list(json!({"server": "far"})),
        list(json!({"server": "old"})),
        read("far", "note://today"),
        read("far", "note://logo"),
        read("far", "note://nowhere"),
        read("nobody", "note://today"),
        read("far", "note://today"),
        says("So."),
    ]);
    let mut sdk = Sdk::start(&["--mcp-config", &config], exchanges);
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let of_init = init(&frames)["tools"].to_string();
    assert!(
        of_init.contains("ListMcpResourcesTool") && of_init.contains("ReadMcpResourceTool"),
        "{of_init}"
    );
    let users = all(&frames, "user");
    let listed = json!([
        {"uri": "note://today", "name": "today", "mimeType": "text/plain", "description": "What is to be done", "server": "far"},
        {"uri": "note://logo", "name": "logo", "mimeType": "image/png", "server": "far"},
    ]);
    for user in &users[..2] {
        assert_eq!(user["tool_use_result"], listed);
        assert_eq!(
            serde_json::from_str::<Value>(&result_text(user)).unwrap(),
            listed
        );
    }
    assert!(
        result_text(users[2]).contains("Those that do: far."),
        "{}",
        users[2]
    );
    assert_eq!(result_text(users[3]), "[note://today]\nBuy milk.");
    let contents = json!({"contents": [{"uri": "note://today", "mimeType": "text/plain", "text": "Buy milk."}]});
    assert_eq!(users[3]["tool_use_result"], contents);
    assert_eq!(
        users[4]["message"]["content"][0]["content"][0]["type"],
        "image"
    );
    assert!(
        result_text(users[5]).contains("did not give the resource: no resource"),
        "{}",
        users[5]
    );
    assert!(result_text(users[6]).contains("\"nobody\""), "{}", users[6]);
    sdk.close().await;

    let flags = [
        "--mcp-config",
        &config,
        "--disallowedTools",
        "ReadMcpResourceTool",
    ];
    let mut sdk = Sdk::start(&flags, json!([read("far", "note://today"), says("So.")]));
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert!(
        !init(&frames)["tools"]
            .to_string()
            .contains("ReadMcpResourceTool")
    );
    assert!(!format!("{frames:?}").contains("Buy milk"));
    sdk.close().await;
}

#[tokio::test]
async fn mcp_3_without_resources_there_are_no_tools_for_them() {
    let server = sse_server();
    let mut sdk = session(
        json!({"type": "sse", "url": server.url("/sse")}),
        json!([says("So.")]),
    )
    .await;
    let frames = run(&mut sdk, "go").await;
    assert!(!init(&frames)["tools"].to_string().contains("McpResource"));
    sdk.close().await;
}
