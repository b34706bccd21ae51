//! Answers the requests of one client.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::mpsc;
use windlass_core::{
    RawJson,
    tool::{ResultBlock, ToolDefinition, ToolResult},
};

use crate::engine::{ComponentTools, ToolSession};

/// Reports of a running tool that wait to be sent; further ones are dropped.
const REPORTS_AHEAD: usize = 16;

/// The server that one client sees.
pub(super) struct Handler {
    session: ToolSession,
}

impl Handler {
    pub(super) fn new(tools: &Arc<ComponentTools>) -> Self {
        Self {
            session: tools.session(),
        }
    }

    /// Runs a call, and tells the client what the tool says that it is doing, if it wants to know.
    async fn run(
        &self,
        tool: &str,
        input: RawJson,
        context: &RequestContext<RoleServer>,
    ) -> ToolResult {
        let Some(token) = context.meta.get_progress_token() else {
            let ignored = |_: &str| {};
            return (self.session)
                .call(tool, input, &ignored, context.ct.clone())
                .await;
        };
        let (told, mut reports) = mpsc::channel::<String>(REPORTS_AHEAD);
        let steps = AtomicU32::new(0);
        let tell = async {
            while let Some(text) = reports.recv().await {
                let step = steps.fetch_add(1, Ordering::Relaxed) + 1;
                let report = ProgressNotificationParam::new(token.clone(), f64::from(step));
                // A client that is gone needs no reports.
                let _ = (context.peer)
                    .notify_progress(report.with_message(text))
                    .await;
            }
        };
        let call = async {
            // Ends with the call, and with it the reports.
            let report = move |text: &str| {
                let _ = told.try_send(text.to_owned());
            };
            let stop = context.ct.clone();
            self.session.call(tool, input, &report, stop).await
        };
        let (result, ()) = tokio::join!(call, tell);
        result
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("windlass", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.session.tools().iter().map(offered);
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut tools = self.session.tools().iter();
        if !tools.any(|tool| *tool.name == *request.name) {
            let text = format!("there is no tool named {}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        let input = RawJson::encode(&request.arguments.unwrap_or_default());
        let input = input.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let result = self.run(&request.name, input, &context).await;
        Ok(answer(result).into())
    }
}

/// A tool as clients are told of it.
fn offered(tool: &ToolDefinition) -> Tool {
    let schema: JsonObject = tool.input_schema.decode().unwrap_or_default();
    let hints = &tool.annotations;
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    Tool::new(tool.name.clone(), tool.description.clone(), schema).with_annotations(annotations)
}

/// A result as the protocol has it.
fn answer(result: ToolResult) -> CallToolResult {
    let content = result.content.into_iter().map(|block| match block {
        ResultBlock::Text { text } => ContentBlock::text(text),
        ResultBlock::Image { source } => ContentBlock::image(source.data, source.media_type),
        // The protocol has no block for it.
        ResultBlock::Other(block) => ContentBlock::text(block.get()),
    });
    let content = content.collect();
    if result.is_error {
        return CallToolResult::error(content);
    }
    let mut answer = CallToolResult::success(content);
    // Before 2026-07-28 it is an object or nothing.
    answer.structured_content = (result.structured)
        .and_then(|structured| structured.decode::<Value>().ok())
        .filter(Value::is_object);
    answer
}
