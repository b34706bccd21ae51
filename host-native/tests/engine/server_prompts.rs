//! What a person's prompt takes from MCP servers: prompts as commands, resources by name.

use serde_json::{Value, json};

use crate::{
    http::{Manners, McpServer},
    http_servers::init,
    support::{Sdk, all, kinds, says},
};

/// A session with the server `far`.
async fn session(flags: &[&str], exchanges: Value) -> (Sdk, McpServer) {
    let server = McpServer::start(Manners::default());
    let config = json!({"mcpServers": {"far": {"type": "http", "url": server.url()}}}).to_string();
    let flags = [&["--mcp-config", config.as_str()], flags].concat();
    let mut sdk = Sdk::start(&flags, exchanges);
    sdk.initialize(json!({})).await;
    (sdk, server)
}

/// The texts of the last message that the model was sent.
fn told(body: &Value) -> Vec<&str> {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    let blocks = last["content"].as_array().unwrap();
    blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect()
}

#[tokio::test]
async fn a_prompt_of_a_server_is_a_command_with_its_words_as_arguments() {
    let (mut sdk, server) = session(&[], json!([says("Good."), says("Fine.")])).await;
    sdk.prompt(r#"/mcp__far__review "a b.rs" very brief"#).await;
    let frames = sdk.until("result").await;
    let commands = init(&frames)["slash_commands"].as_array().unwrap();
    assert!(
        commands.contains(&json!("mcp__far__review")),
        "{commands:?}"
    );
    sdk.prompt("/mcp__far__other stays as it is").await;
    sdk.until("result").await;
    let bodies = sdk.bodies();
    assert!(
        told(&bodies[0]).contains(&"Review a b.rs."),
        "{}",
        bodies[0]["messages"]
    );
    assert!(!bodies[0].to_string().contains("/mcp__far__review"));
    assert!(told(&bodies[1]).contains(&"/mcp__far__other stays as it is"));
    let asked = server.http.requests();
    let asked = asked.iter().map(crate::http::Request::json);
    let asked: Vec<Value> = asked.filter(|it| it["method"] == "prompts/get").collect();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0]["params"]["arguments"],
        json!({"file": "a b.rs", "style": "very brief"})
    );
    sdk.close().await;
}

#[tokio::test]
async fn a_command_that_its_server_does_not_give_is_an_error_and_the_session_goes_on() {
    let (mut sdk, _server) = session(&[], json!([says("So.")])).await;
    sdk.prompt("/mcp__far__review nowhere").await;
    let frames = sdk.until("result").await;
    let result = frames.last().unwrap();
    assert_eq!(result["is_error"], true, "{:?}", kinds(&frames));
    assert!(
        result.to_string().contains("there is no such file"),
        "{result}"
    );
    sdk.prompt("go on").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "So.");
    sdk.close().await;
}

#[tokio::test]
async fn resources_that_a_prompt_names_are_read_and_follow_it() {
    let text =
        "What is in @far:note://today, and @far:note://nowhere? me@far:x @other:note://today";
    let (mut sdk, server) = session(&[], json!([says("Milk.")])).await;
    sdk.prompt(text).await;
    sdk.until("result").await;
    let body = &sdk.bodies()[0];
    let told = told(body);
    let at = told.iter().position(|it| *it == text).unwrap();
    assert_eq!(told[at + 1], "[note://today]\nBuy milk.", "{told:?}");
    assert!(
        told[at + 2].contains("did not give the resource"),
        "{told:?}"
    );
    assert_eq!(told.len(), at + 3, "{told:?}");
    let asked = server.http.requests();
    let read = asked
        .iter()
        .filter(|it| it.json()["method"] == "resources/read");
    assert_eq!(read.count(), 2);
    sdk.close().await;
    // Whoever denies the tool for resources has none read.
    let flags = ["--disallowedTools", "ReadMcpResourceTool"];
    let (mut sdk, server) = session(&flags, json!([says("So.")])).await;
    sdk.prompt(text).await;
    let frames = sdk.until("result").await;
    assert_eq!(all(&frames, "result").len(), 1);
    let asked = server.http.requests();
    assert!(
        asked
            .iter()
            .all(|it| it.json()["method"] != "resources/read")
    );
    sdk.close().await;
}
