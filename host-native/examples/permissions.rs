//! How permissions are decided: first by rules, then by a callback.

use windlass::{
    Agent, NoInput, PermissionResponse, Tool,
    model_server::{ModelServer, Script},
};

const SCRIPT: &str = r#"{ "exchanges": [
    {
        "expect": { "tools_include": ["look", "repair", "demolish"], "tools_exclude": ["sell"] },
        "respond": { "content": [
            { "type": "tool_use", "name": "look", "input": {} },
            { "type": "tool_use", "name": "repair", "input": {} },
            { "type": "tool_use", "name": "demolish", "input": {} }
        ] }
    },
    {
        "expect": { "tool_results": [
            { "id": "toolu_1_1", "is_error": false },
            { "id": "toolu_1_2", "is_error": false },
            { "id": "toolu_1_3", "contains": "the neighbours live there", "is_error": true }
        ] },
        "respond": "Looked and repaired; it still stands."
    }
] }"#;

fn tool(name: &'static str) -> Tool {
    Tool::new(
        name,
        format!("To {name} the house"),
        move |_: NoInput| async move { format!("{name}: done") },
    )
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let agent = Agent::builder()
        .base_url(model.url())
        .tool(tool("look"))
        .tool(tool("repair"))
        .tool(tool("demolish"))
        .tool(tool("sell"))
        // Allowed in advance: runs without asking.
        .allowed_tools(["look"])
        // Never runs, and is not offered to the model.
        .disallowed_tools(["sell"])
        // The callback decides everything else. A real program would ask a person here.
        .on_permission(|request| async move {
            println!(
                "may {} run? ({})",
                request.tool_name, request.decision_reason
            );
            match request.tool_name.as_str() {
                "demolish" => PermissionResponse::deny("No: the neighbours live there."),
                _ => PermissionResponse::allow(),
            }
        })
        .build()?;
    let result = agent.run("See to the house.").await?;
    for denied in &result.permission_denials {
        println!("denied: {}", denied.tool_name);
    }
    println!("{}", result.result.unwrap_or_default());

    model.verify()?;
    Ok(())
}
