//! An agent with one tool of its own, in ten lines.
//!
//! `cargo run --example ten_lines` needs neither network nor key: it uses a scripted model in this process. With
//! `Agent::builder().api_key_from_env()?` instead of `base_url`, it uses a real one.

use windlass::{
    Agent, Tool,
    model_server::{ModelServer, Script},
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

const SCRIPT: &str = r#"{ "exchanges": [
    { "respond": { "content": [{ "type": "tool_use", "name": "add", "input": { "a": 17, "b": 25 } }] } },
    { "expect": { "tool_results": [{ "contains": "42" }] }, "respond": "17 + 25 is 42." }
] }"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;

    let add = Tool::new("add", "Adds two numbers", |input: Add| async move {
        input.a + input.b
    });
    let agent = Agent::builder()
        .base_url(model.url())
        .tool(add)
        .allowed_tools(["add"])
        .build()?;
    let result = agent.run("What is 17 + 25?").await?;
    println!("{}", result.result.unwrap_or_default());

    model.verify()?;
    Ok(())
}
