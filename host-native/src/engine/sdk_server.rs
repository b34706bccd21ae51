//! MCP servers that live in the SDK's process: JSON-RPC over the control channel.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::stream::{self, BoxStream, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    host::CancelSignal,
    tool::{Annotations, ToolCall, ToolDefinition, ToolResult},
};
use windlass_engine::protocol::{PROTOCOL_VERSION, host_request::HostRequest};

use super::channel::ControlChannel;
use crate::{host::RunTool, redact::Redactor};

/// The version of the Model Context Protocol that is spoken.
const MCP_VERSION: &str = "2025-11-25";
/// No list of tools is longer than so many pages: a server that never comes to an end is none.
const MOST_PAGES: usize = 1000;

/// A server in the SDK's process. Cloning is cheap.
#[derive(Clone)]
pub(super) struct SdkServer {
    pub(super) name: String,
    channel: ControlChannel,
    /// Takes keys out of what the server says.
    redactor: Redactor,
    /// The number of the next request.
    next: Arc<AtomicU64>,
}

/// What a server that answers has to offer.
#[derive(Debug, Clone, Default)]
pub(super) struct Offer {
    /// What it says of itself.
    pub(super) info: Option<Value>,
    /// Its tools, under the names the model calls them by, with those that the server knows them by.
    pub(super) tools: Vec<(ToolDefinition, String)>,
}

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

impl SdkServer {
    pub(super) fn new(name: String, channel: ControlChannel, redactor: Redactor) -> Self {
        Self {
            name,
            channel,
            redactor,
            next: Arc::default(),
        }
    }

    /// Introduces the engine to the server and asks what tools it has.
    pub(super) async fn connect(&self) -> Result<Offer, String> {
        let introduction = self
            .request(
                "initialize",
                &json!({
                    "protocolVersion": MCP_VERSION,
                    "capabilities": {},
                    "clientInfo": {"name": "windlass", "version": PROTOCOL_VERSION},
                }),
            )
            .await?;
        let introduction: Introduction = decode(&introduction, "initialize")?;
        // Acknowledged, not answered.
        let greeting = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(&greeting).await?;
        Ok(Offer {
            info: introduction.server_info,
            tools: self.list_tools().await?,
        })
    }

    /// What tools it has, page by page.
    async fn list_tools(&self) -> Result<Vec<(ToolDefinition, String)>, String> {
        let mut tools = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor
                .take()
                .map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let page: ToolPage = decode(&self.request("tools/list", &params).await?, "tools/list")?;
            tools.extend(page.tools.into_iter().map(|tool| self.definition(tool)));
            match page.next_cursor {
                Some(next) if !next.is_empty() => cursor = Some(next),
                _ => return Ok(tools),
            }
        }
        Err(format!(
            "the list of tools has more than {MOST_PAGES} pages"
        ))
    }

    fn definition(&self, tool: ListedTool) -> (ToolDefinition, String) {
        let name = format!(
            "mcp__{}__{}",
            plain_name(&self.name),
            plain_name(&tool.name)
        );
        let description = tool.description.unwrap_or_default();
        let mut definition = ToolDefinition::new(name, description, tool.input_schema);
        definition.annotations = tool.annotations.unwrap_or_default();
        (definition, tool.name)
    }

    async fn request(&self, method: &str, params: &Value) -> Result<RawJson, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        result_of(self.send(&message).await?, method)
    }

    async fn send(&self, message: &(impl serde::Serialize + ?Sized)) -> Result<RawJson, String> {
        let message = RawJson::encode(message).map_err(|error| error.to_string())?;
        let request = HostRequest::McpMessage {
            server_name: self.name.clone(),
            message,
        };
        let answer = self.channel.ask(request).await;
        let answer = answer.map_err(|error| self.redactor.owned(error.to_string()))?;
        match self.redactor.text(answer.get()) {
            Cow::Borrowed(_) => Ok(answer),
            Cow::Owned(clean) => RawJson::parse(clean).map_err(|error| error.to_string()),
        }
    }

    async fn call(&self, tool: &str, call: ToolCall) -> ToolResult {
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
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let message = Call {
            jsonrpc: "2.0",
            id,
            method: "tools/call",
            params: Params {
                name: tool,
                arguments: &call.input,
                meta: json!({"claudecode/toolUseId": call.tool_use_id, "progressToken": id}),
            },
        };
        let mut unanswered = Unanswered {
            server: self.clone(),
            call: Some(id),
        };
        let answer = self.send(&message).await;
        unanswered.call = None;
        let result = answer
            .and_then(|answer| result_of(answer, "tools/call"))
            .and_then(|result| ToolResult::from_mcp(&result).map_err(|error| error.to_string()));
        result.unwrap_or_else(|reason| {
            ToolResult::error(format!("The MCP server {} failed: {reason}", self.name))
        })
    }
}

/// A call that was not answered; dropped so, the server is told that nobody waits for it any more.
struct Unanswered {
    server: SdkServer,
    call: Option<u64>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let Some(id) = self.call else { return };
        let server = self.server.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": id, "reason": "the call was given up"}});
                // Whether the server takes note is its own affair.
                let _ = server.send(&message).await;
            });
        }
    }
}

/// A tool of such a server.
pub(super) struct SdkTool {
    pub(super) server: SdkServer,
    /// The name by which the server knows it.
    pub(super) name: String,
}

impl RunTool for SdkTool {
    fn run(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let server = self.server.clone();
        let name = self.name.clone();
        stream::once(async move {
            tokio::select! {
                biased;
                result = server.call(&name, call) => Answer::Tool(result),
                () = cancel.cancelled() => Answer::Cancelled,
            }
        })
        .boxed()
    }
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

/// A name as tools may have it: what the Messages API does not take becomes `_`.
pub(super) fn plain_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect()
}
