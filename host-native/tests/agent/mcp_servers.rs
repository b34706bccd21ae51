//! Tools of the program as a server of its own.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass::{McpServer, NoInput, Tool};

use crate::support::{Model, messages, text, tool_results};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

fn counting() -> (McpServer, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let add = Tool::new("add", "Adds two numbers", move |input: Add| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { input.a + input.b }
    });
    let nod = Tool::new("nod", "Nods", |_: NoInput| async {}).read_only();
    (McpServer::new("calc", "1.0").tool(add).tool(nod), calls)
}

fn call(name: &str, input: Value) -> Value {
    json!({ "respond": { "content": [{ "type": "tool_use", "name": name, "input": input }] } })
}

#[tokio::test]
async fn api_12_tools_of_a_server_of_the_program_are_called_by_its_name() {
    let model = Model::of(json!([
        {
            "expect": { "fields": {
                "/tools/0/name": "mcp__calc__add",
                "/tools/0/input_schema/properties/a/type": "integer",
                "/tools/1/name": "mcp__calc__nod",
            } },
            "respond": { "content": [{ "type": "tool_use", "name": "mcp__calc__add", "input": { "a": 17, "b": 25 } }] }
        },
        { "expect": { "last_user_contains": "42" }, "respond": "done" },
    ]));
    let (server, calls) = counting();
    assert_eq!((server.name(), server.version()), ("calc", "1.0"));
    // A rule for the server is one for its tools.
    let agent = model
        .agent()
        .mcp_server(server)
        .allowed_tools(["mcp__calc"]);
    let agent = agent.build().unwrap();
    let mut run = agent.query("What is 17 + 25?");
    let said = messages(&mut run).await;
    let init: Value = serde_json::from_str(&said[0].to_line()).unwrap();
    assert_eq!(
        init["mcp_servers"],
        json!([{ "name": "calc", "status": "connected" }])
    );
    assert_eq!(init["tools"], json!(["mcp__calc__add", "mcp__calc__nod"]));
    assert_eq!(tool_results(&said), ["42"]);
    assert_eq!(text(run.result().await.unwrap()), "done");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    model.verify();
}

#[tokio::test]
async fn api_12_input_that_does_not_fit_the_schema_never_reaches_a_handler() {
    let model = Model::of(json!([
        call("mcp__calc__add", json!({ "a": "17", "b": 25 })),
        call("mcp__calc__add", json!({ "a": 17 })),
        call("add", json!({ "a": 17, "b": 25 })),
        { "respond": "done" },
    ]));
    let (server, calls) = counting();
    let agent = model
        .agent()
        .mcp_server(server)
        .allowed_tools(["mcp__calc__add"]);
    let agent = agent.build().unwrap();
    let said = messages(&mut agent.query("add")).await;
    let results = tool_results(&said);
    for (result, part) in results
        .iter()
        .zip(["not valid", "`b`", "no tool named add"])
    {
        assert!(result.contains(part), "{part} is missing in {result}");
    }
    assert_eq!(results.len(), 3);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    model.verify();
}

#[test]
fn api_12_names_that_meet_are_refused() {
    let build = |first: McpServer, second: McpServer| {
        let agent = Model::says([]).agent();
        let agent = agent.mcp_server(first).mcp_server(second).build();
        agent.unwrap_err().to_string()
    };
    let nod = || Tool::new("nod", "Nods", |_: NoInput| async {});
    let server = |name: &str| McpServer::new(name, "1").tool(nod());
    let twice = build(server("calc"), server("calc"));
    assert!(
        twice.contains("two MCP servers are named `calc`"),
        "{twice}"
    );
    // In the names of tools these are the same server.
    let alike = build(server("my calc"), server("my/calc"));
    assert!(alike.contains("mcp__my_calc__nod"), "{alike}");
}
