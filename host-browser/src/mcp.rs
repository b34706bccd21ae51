//! MCP servers that the page connects to: what they offer and what their tools give, as the engine reads it.

use std::collections::BTreeMap;

use futures_core::Stream;
use serde::Deserialize;
use serde_json::Value;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use windlass_core::{
    RawJson,
    effect::Answer,
    host::CancelSignal,
    json::JsonError,
    permission::server_tool_name,
    tool::{Annotations, ToolDefinition, ToolResult},
};
use windlass_engine::machine::{ConnectRequest, Offer, Outcome, ServerTool};

use crate::{
    answers::{ToolAnswers, kind_of, to_json},
    imports::{WasmHost, reason},
};

/// What the engine knows of the configuration of a server; the rest, such as its keys, stays with the page.
const CONFIGURATION: &str = r#"{"type":"http"}"#;

/// What a server offers, as the page says it.
#[derive(Deserialize)]
struct Offered {
    #[serde(default)]
    info: Option<Value>,
    tools: RawJson,
}

/// A tool as it is listed (Model Context Protocol, "Tools").
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    #[serde(default)]
    description: Option<String>,
    input_schema: RawJson,
    #[serde(default)]
    annotations: Option<Annotations>,
}

/// A result with what programs get of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    result: RawJson,
    /// Whether programs get all of it, and not only its structured content.
    is_for_programs: bool,
}

/// The configurations of servers, by their names.
pub(crate) fn configurations(names: Vec<String>) -> BTreeMap<String, RawJson> {
    // The constant is valid JSON.
    let one = || RawJson::parse(CONFIGURATION).unwrap_or_else(|_| RawJson::empty_object());
    names.into_iter().map(|name| (name, one())).collect()
}

/// Connects to a server.
pub(crate) async fn connect(js: &WasmHost, request: &ConnectRequest) -> Outcome {
    let connected = js.connect_server(request.connection as f64, &request.name);
    match JsFuture::from(connected).await {
        Ok(offered) => Outcome::Connected(
            offer(&request.name, &offered)
                .map_err(|error| format!("it does not speak the protocol as it should: {error}")),
        ),
        Err(exception) if kind_of(&exception).as_deref() == Some("needs-auth") => {
            Outcome::NeedsAuth(reason(&exception))
        }
        Err(exception) => Outcome::Connected(Err(reason(&exception))),
    }
}

fn offer(server: &str, offered: &JsValue) -> Result<Offer, JsonError> {
    let Offered {
        info,
        tools: listed,
    } = RawJson::parse(offered.as_string().unwrap_or_default())?.decode()?;
    Ok(Offer {
        info,
        tools: tools(server, &listed)?,
        ..Offer::default()
    })
}

/// The definitions of a server's tools, each with its name on the server.
pub(crate) fn tools(
    server: &str,
    listed: &RawJson,
) -> Result<Vec<(ToolDefinition, String)>, JsonError> {
    let listed: Vec<Listed> = listed.decode()?;
    let definition = |tool: Listed| {
        let name = server_tool_name(server, &tool.name);
        let description = tool.description.unwrap_or_default();
        let mut definition = ToolDefinition::new(name, description, tool.input_schema);
        definition.annotations = tool.annotations.unwrap_or_default();
        (definition, tool.name)
    };
    Ok(listed.into_iter().map(definition).collect())
}

/// Calls a tool of a server.
pub(crate) fn call(
    js: &WasmHost,
    call: &ServerTool,
    cancel: &CancelSignal,
) -> impl Stream<Item = Answer> + use<> {
    ToolAnswers::start(
        |signal, report| {
            let encoded = to_json(&call.call);
            js.call_server_tool(call.connection as f64, &call.tool, &encoded, signal, report)
        },
        result,
        cancel,
    )
}

fn result(called: &RawJson) -> Result<ToolResult, String> {
    let read = || {
        let called: Called = called.decode()?;
        let mut result = ToolResult::from_mcp(&called.result)?;
        if called.is_for_programs {
            result.structured = Some(called.result);
        }
        Ok(result)
    };
    read().map_err(|error: JsonError| error.to_string())
}
