//! MCP servers over HTTP that a program adds.

use serde_json::json;
use windlass::{RunError, mcp::HttpServer};

use crate::{
    http::{Manners, McpServer},
    support::{Model, calls, messages, text, tool_results},
};

#[tokio::test]
async fn mcp_1_a_server_over_http_of_the_program_is_called_by_its_name() {
    let secret = "Bearer sesame-open-the-door";
    let far = McpServer::start(Manners {
        authorization: Some(secret.to_owned()),
        ..Manners::default()
    });
    let model = Model::of(json!([
        calls(&[("mcp__far__add", json!({"a": 17, "b": 25}))]),
        { "expect": { "last_user_contains": "42" }, "respond": "done" },
    ]));
    let server = HttpServer::new("far", &far.url()).unwrap();
    let server = server.header("Authorization", secret).unwrap();
    let agent = model
        .agent()
        .mcp_server_http(server)
        .allowed_tools(["mcp__far"]);
    let agent = agent.build().unwrap();
    let mut run = agent.query("What is 17 + 25?");
    let said = messages(&mut run).await;
    assert_eq!(tool_results(&said), ["42"]);
    assert_eq!(text(run.result().await.unwrap()), "done");
    model.verify();
}

#[tokio::test]
async fn mcp_1_a_server_over_http_that_lets_nobody_in_ends_the_session_with_the_reason() {
    let far = McpServer::start(Manners {
        authorization: Some("Bearer sesame-open-the-door".to_owned()),
        ..Manners::default()
    });
    let server = HttpServer::new("far", &far.url()).unwrap();
    let agent = Model::says([])
        .agent()
        .mcp_server_http(server)
        .build()
        .unwrap();
    let error = agent.query("go").result().await.unwrap_err();
    let RunError::McpServer { server, reason } = &error else {
        panic!("{error}");
    };
    assert_eq!(server, "far");
    assert!(reason.contains("(401)"), "{reason}");
}
