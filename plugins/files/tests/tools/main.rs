//! The tools from outside: calls with JSON in, results out, over a tree in memory.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod declaration;
mod edit;
mod glob;
mod grep;
mod notebook;
mod pdf;
mod read;
mod refusing;
mod write;

use serde_json::Value;
use windlass_plugin::testing::MemoryTree;
use windlass_plugin::{Content, Observation, ToolCall, ToolResult, Workspace};

/// A session: what calls saw is handed to later calls, as the core does it.
struct Session {
    workspace: Workspace<MemoryTree>,
    observed: Vec<Observation>,
}

impl Session {
    fn new(tree: MemoryTree) -> Self {
        Self {
            workspace: tree.with_digest(sha256).into_workspace(),
            observed: Vec::new(),
        }
    }

    fn tree(&self) -> &MemoryTree {
        &self.workspace.roots()[0].tree
    }

    fn content(&self, path: &str) -> String {
        String::from_utf8(self.tree().content(path).expect("the file exists")).unwrap()
    }

    /// Runs a call that must succeed; returns its text and its structured output.
    fn ok(&mut self, tool: &str, input: Value) -> (String, Value) {
        let result = self.run(tool, &input);
        assert!(!result.is_error, "{tool} {input}: {}", text(&result));
        let structured = result.structured.as_deref().expect("structured output");
        (text(&result), serde_json::from_str(structured).unwrap())
    }

    /// Runs a call that must fail; returns what the model reads.
    fn err(&mut self, tool: &str, input: Value) -> String {
        let result = self.run(tool, &input);
        assert!(result.is_error, "{tool} {input}: {}", text(&result));
        text(&result)
    }

    fn run(&mut self, tool: &str, input: &Value) -> ToolResult {
        let call = ToolCall {
            observed: self.observed.clone(),
            ..call(tool, input)
        };
        let result = windlass_files::call(&call, &self.workspace).unwrap_or_else(ToolResult::from);
        self.observed.extend(result.observed.iter().cloned());
        result
    }
}

fn call(tool: &str, input: &Value) -> ToolCall {
    ToolCall {
        name: tool.to_owned(),
        input: input.to_string(),
        observed: Vec::new(),
    }
}

fn text(result: &ToolResult) -> String {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            Content::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}

fn sha256(data: &[u8]) -> String {
    use sha2::Digest as _;
    let hex: String = sha2::Sha256::digest(data)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256:{hex}")
}
