//! MCP servers in the SDK's process: JSON-RPC messages inside control requests.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    tool::{Annotations, ToolCall, ToolDefinition, ToolResult},
};

use super::{
    message::{Listing, ServerMessage},
    not_found,
};
use crate::{
    machine::{
        Engine,
        io::{ConnectionId, Offer},
        questions::Purpose,
    },
    protocol::{PROTOCOL_VERSION, reply::Reply, sdk_request::SdkRequest},
};

/// The supported version of the Model Context Protocol.
const MCP_VERSION: &str = "2025-11-25";

#[derive(Deserialize)]
struct Envelope {
    mcp_response: RawJson,
}

#[derive(Deserialize)]
struct JsonRpc {
    #[serde(default)]
    result: Option<RawJson>,
    #[serde(default)]
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolPage {
    #[serde(default)]
    tools: Vec<ListedTool>,
    #[serde(default)]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool {
    name: String,
    #[serde(default)]
    description: Option<String>,
    input_schema: RawJson,
    #[serde(default)]
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introduction {
    #[serde(default)]
    server_info: Option<Value>,
}

impl Engine {
    /// Starts the MCP handshake with a server, which ends with its tool list.
    pub(super) fn introduce(&mut self, connection: ConnectionId, server: &str) {
        let params = json!({
            "protocolVersion": MCP_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "windlass", "version": PROTOCOL_VERSION},
        });
        let message = self.request(server, "initialize", &params);
        let purpose = ServerMessage::Initialize(connection, server.to_owned());
        self.send_to_server(server, &message, purpose);
    }

    fn list_tools(
        &mut self,
        connection: ConnectionId,
        server: String,
        listing: Listing,
        cursor: Option<String>,
    ) {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        let message = self.request(&server, "tools/list", &params);
        let purpose = ServerMessage::ListTools(connection, server.clone(), listing);
        self.send_to_server(&server, &message, purpose);
    }

    /// Calls a tool of a server in the SDK's process.
    pub(in crate::machine) fn call_sdk_tool(
        &mut self,
        id: EffectId,
        server: &str,
        tool: &str,
        call: &ToolCall,
    ) {
        #[derive(serde::Serialize)]
        struct Call<'a> {
            jsonrpc: &'static str,
            id: u64,
            method: &'static str,
            params: Params<'a>,
        }
        #[derive(serde::Serialize)]
        struct Params<'a> {
            name: &'a str,
            arguments: &'a RawJson,
            #[serde(rename = "_meta")]
            meta: Value,
        }
        let number = self.next_request(server);
        let message = Call {
            jsonrpc: "2.0",
            id: number,
            method: "tools/call",
            params: Params {
                name: tool,
                arguments: &call.input,
                meta: json!({"claudecode/toolUseId": call.tool_use_id, "progressToken": number}),
            },
        };
        let purpose = ServerMessage::Call {
            id,
            server: server.to_owned(),
            number,
        };
        self.send_to_server(server, &message, purpose);
    }

    /// Tells the server that a call has been cancelled.
    pub(in crate::machine) fn call_given_up(&mut self, message: &ServerMessage) {
        if let ServerMessage::Call { server, number, .. } = message {
            let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": {"requestId": number, "reason": "the call was given up"}});
            // Whether the server honours it does not matter.
            self.send_to_server(server, &cancelled, ServerMessage::GivenUp);
        }
    }

    fn next_request(&mut self, server: &str) -> u64 {
        let next = self.servers.requests.entry(server.to_owned()).or_default();
        let number = *next;
        *next += 1;
        number
    }

    fn request(&mut self, server: &str, method: &str, params: &Value) -> Value {
        let id = self.next_request(server);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    fn send_to_server(
        &mut self,
        server: &str,
        message: &(impl serde::Serialize + ?Sized),
        purpose: ServerMessage,
    ) {
        match RawJson::encode(message) {
            Ok(message) => {
                let request = SdkRequest::McpMessage {
                    server_name: server.to_owned(),
                    message,
                };
                self.ask(&request, Purpose::Server(purpose));
            }
            Err(error) => self.server_answered(purpose, Err(error.to_string())),
        }
    }

    /// Handles a server's answer, or the failure to get one.
    pub(in crate::machine) fn server_answered(
        &mut self,
        message: ServerMessage,
        answer: Result<RawJson, String>,
    ) {
        let answer = match answer {
            Ok(answer) => match self.launch.redaction.text(answer.get()) {
                Cow::Borrowed(_) => Ok(answer),
                Cow::Owned(clean) => RawJson::parse(clean).map_err(|error| error.to_string()),
            },
            Err(reason) => Err(self.launch.redaction.text(&reason).into_owned()),
        };
        match message {
            ServerMessage::Initialize(connection, server) => {
                let introduction = answer.and_then(introduced);
                match introduction {
                    Ok(info) => {
                        // The SDK acknowledges the notification; there is no answer.
                        let greeting =
                            json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                        let purpose = ServerMessage::Initialized(connection, server.clone(), info);
                        self.send_to_server(&server, &greeting, purpose);
                    }
                    Err(reason) => self.connected(connection, Err(reason)),
                }
            }
            ServerMessage::Initialized(connection, server, info) => match answer {
                Ok(_) => {
                    let listing = Listing {
                        info,
                        ..Listing::default()
                    };
                    self.list_tools(connection, server, listing, None);
                }
                Err(reason) => self.connected(connection, Err(reason)),
            },
            ServerMessage::ListTools(connection, server, mut listing) => {
                match answer.and_then(|answer| listing.take(answer, &server)) {
                    Ok(None) => {
                        let offer = Offer {
                            info: listing.info,
                            tools: listing.tools,
                            ..Offer::default()
                        };
                        self.connected(connection, Ok(offer));
                    }
                    Ok(cursor) => self.list_tools(connection, server, listing, cursor),
                    Err(reason) => self.connected(connection, Err(reason)),
                }
            }
            ServerMessage::Call { id, server, .. } => {
                let result = answer
                    .and_then(|answer| result_of(answer, "tools/call"))
                    .and_then(|it| ToolResult::from_mcp(&it).map_err(|error| error.to_string()));
                let result = result.unwrap_or_else(|reason| {
                    ToolResult::error(format!("The MCP server {server} failed: {reason}"))
                });
                self.answer_session(id, Answer::Tool(result));
            }
            ServerMessage::GivenUp => {}
        }
    }

    /// Handles an unsolicited message of a server in the SDK's process.
    pub(in crate::machine) fn server_says(&mut self, id: &str, name: &str, message: &RawJson) {
        #[derive(Deserialize)]
        struct Notification {
            #[serde(default)]
            method: String,
        }
        if !self.servers.session.all.contains_key(name) {
            return self.reply(id, &not_found(name).into());
        }
        self.reply(id, &Reply::done());
        let method = message.decode::<Notification>().map(|it| it.method);
        if method.is_ok_and(|method| method == "notifications/tools/list_changed") {
            self.connect(&None, name);
        }
    }
}

impl Listing {
    /// Adds a page; returns the cursor of the next one if the list continues.
    fn take(&mut self, answer: RawJson, server: &str) -> Result<Option<String>, String> {
        let page: ToolPage = decode(&result_of(answer, "tools/list")?, "tools/list")?;
        let cursor = self.pages.next(page.tools.len(), page.next_cursor)?;
        let tools = page.tools.into_iter().map(|tool| definition(server, tool));
        self.tools.extend(tools);
        Ok(cursor)
    }
}

fn introduced(answer: RawJson) -> Result<Option<Value>, String> {
    let introduction: Introduction = decode(&result_of(answer, "initialize")?, "initialize")?;
    Ok(introduction.server_info)
}

fn definition(server: &str, tool: ListedTool) -> (ToolDefinition, String) {
    let name = format!("mcp__{}__{}", plain_name(server), plain_name(&tool.name));
    let description = tool.description.unwrap_or_default();
    let mut definition = ToolDefinition::new(name, description, tool.input_schema);
    definition.annotations = tool.annotations.unwrap_or_default();
    (definition, tool.name)
}

fn result_of(answer: RawJson, method: &str) -> Result<RawJson, String> {
    let Envelope { mcp_response } = decode(&answer, method)?;
    let response: JsonRpc = decode(&mcp_response, method)?;
    match (response.result, response.error) {
        (_, Some(error)) => Err(error.message),
        (Some(result), None) => Ok(result),
        (None, None) => Err(format!(
            "{method} was answered with neither a result nor an error"
        )),
    }
}

fn decode<T: serde::de::DeserializeOwned>(raw: &RawJson, method: &str) -> Result<T, String> {
    raw.decode()
        .map_err(|error| format!("the answer to {method} is not of its form: {error}"))
}

/// A name in the form that tool names may have: characters that the Messages API rejects become `_`.
fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect()
}
