//! Calls of a server's tool.

use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use rmcp::{
    model::{CallToolRequestParams, CallToolResult, JsonObject},
    service::ServiceError,
};
use windlass_core::{
    EffectId, RawJson,
    effect::Answer,
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
};

use super::connection::Connection;
use crate::host::RunTool;

/// A tool of a server. Calls become requests and can run concurrently.
#[derive(Debug, Clone)]
pub struct McpTool {
    connection: Connection,
    name: String,
}

impl Connection {
    /// Runs a tool, given by its name on the server.
    #[must_use]
    pub fn tool(&self, name: impl Into<String>) -> McpTool {
        McpTool {
            connection: self.clone(),
            name: name.into(),
        }
    }
}

impl McpTool {
    /// Runs a call to its end: a result, or [`Answer::Cancelled`]. Any failure is an error result with the reason.
    pub async fn call(&self, call: &ToolCall, cancel: CancelSignal) -> Answer {
        let arguments: JsonObject = match call.input.decode() {
            Ok(arguments) => arguments,
            Err(error) => {
                let text = format!("The input of {} is no object: {error}", call.name);
                return Answer::Tool(ToolResult::error(text));
            }
        };
        let limit = call.timeout_ms.map_or(self.connection.call_limit(), |ms| {
            Duration::from_millis(ms.into())
        });
        let parameters = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        // Dropping the request before its answer sends the server a cancellation.
        let request = self.connection.service().call_tool(parameters);
        let answer = tokio::select! {
            biased;
            answer = request => answer,
            () = cancel.cancelled() => return Answer::Cancelled,
            () = tokio::time::sleep(limit) => {
                let seconds = limit.as_secs_f64();
                let text = format!("{} was stopped: it took longer than {seconds} seconds.", call.name);
                return Answer::Tool(ToolResult::error(text));
            }
        };
        Answer::Tool(match answer {
            Ok(result) => self.result(&result),
            Err(error) => self.failed(&error).await,
        })
    }

    fn result(&self, result: &CallToolResult) -> ToolResult {
        let read = RawJson::encode(result).and_then(|raw| ToolResult::from_mcp(&raw));
        read.unwrap_or_else(|error| self.nonsense(&error.to_string()))
    }

    fn nonsense(&self, what: &str) -> ToolResult {
        ToolResult::error(format!(
            "The MCP server {} answered the call with something that is no result: {what}.",
            self.connection.name()
        ))
    }

    /// The error result of a failed call.
    async fn failed(&self, error: &ServiceError) -> ToolResult {
        ToolResult::error(match error {
            ServiceError::McpError(error) => format!(
                "The MCP server {} refused the call: {}",
                self.connection.name(),
                error.message
            ),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                self.connection.epitaph().await
            }
            error => format!("The MCP server {} failed: {error}", self.connection.name()),
        })
    }
}

impl RunTool for McpTool {
    fn run(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let tool = self.clone();
        stream::once(async move { tool.call(&call, cancel).await }).boxed()
    }
}
