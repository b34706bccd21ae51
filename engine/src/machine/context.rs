//! The composition of the next request's context, as far as it can be estimated locally.

use serde_json::{Value, json};
use windlass_core::{Spec, agent::AgentSource, context::size, prompt::system_blocks};

use super::{Engine, lifecycle::memory_type};

/// Token counts by category.
struct Sizes {
    system_prompt: u64,
    system_tools: u64,
    mcp_tools: u64,
    memory: u64,
    messages: u64,
    window: u64,
    /// The number of tokens at which the conversation is compacted.
    threshold: Option<u64>,
}

impl Sizes {
    fn total(&self) -> u64 {
        self.system_prompt + self.system_tools + self.mcp_tools + self.memory + self.messages
    }
}

impl Engine {
    /// The payload of `get_context_usage`. Token counts are estimates: no request is sent to count them.
    pub(super) fn context_usage(&self) -> Value {
        let Some(prepared) = &self.prepared else {
            return json!({
                "categories": [], "totalTokens": 0, "maxTokens": 0, "rawMaxTokens": 0, "percentage": 0,
                "gridRows": [], "model": self.model(), "memoryFiles": [], "mcpTools": [], "agents": [],
                "isAutoCompactEnabled": true, "apiUsage": null,
            });
        };
        let spec = prepared.spec();
        let sizes = self.sizes(spec);
        let total = sizes.total();
        let free = sizes.window.saturating_sub(total);
        let category = |id: &str, name: &str, tokens: u64, kind: &str| json!({"id": id, "name": name, "tokens": tokens, "color": color(kind), "kind": kind});
        let mut categories: Vec<Value> = [
            ("system_prompt", "System prompt", sizes.system_prompt),
            ("system_tools", "System tools", sizes.system_tools),
            ("mcp_tools", "MCP tools", sizes.mcp_tools),
            ("memory_files", "Memory files", sizes.memory),
            ("messages", "Messages", sizes.messages),
        ]
        .into_iter()
        .filter(|(_, _, tokens)| *tokens > 0)
        .map(|(id, name, tokens)| category(id, name, tokens, "used"))
        .collect();
        let buffer = sizes
            .threshold
            .map_or(0, |at| sizes.window.saturating_sub(at))
            .min(free);
        if buffer > 0 {
            categories.push(category(
                "autocompact_buffer",
                "Autocompact buffer",
                buffer,
                "buffer",
            ));
        }
        categories.push(category("free_space", "Free space", free - buffer, "free"));
        let percentage = (total * 100).checked_div(sizes.window).unwrap_or_default();
        let mcp_tools: Vec<Value> = (self.servers.named_tools())
            .map(|(server, tool)| json!({"name": tool.name, "serverName": server, "tokens": tool_tokens(tool)}))
            .collect();
        let agents: Vec<Value> = (spec.tools.agents.iter())
            .map(|agent| {
                let tokens = size::text(agent.definition.description.len());
                json!({"agentType": agent.name, "source": source(agent.source), "tokens": u64::from(tokens)})
            })
            .collect();
        let memory: Vec<Value> = (spec.prompt.memory.iter())
            .map(|file| {
                let tokens = u64::from(size::text(file.text.len()));
                json!({"path": file.path, "type": memory_type(file.scope), "tokens": tokens})
            })
            .collect();
        json!({
            "categories": categories, "totalTokens": total, "maxTokens": sizes.window,
            "rawMaxTokens": sizes.window, "percentage": percentage, "gridRows": [], "model": self.model(),
            "memoryFiles": memory, "mcpTools": mcp_tools, "agents": agents,
            "isAutoCompactEnabled": spec.prompt.context.compaction.automatic,
            "autoCompactThreshold": sizes.threshold, "apiUsage": null,
        })
    }

    /// The same as text, for `/context`.
    pub(super) fn context_in_words(&self) -> String {
        let usage = self.context_usage();
        let mut words = format!(
            "Context: {} of {} tokens ({}%), {}\n",
            usage["totalTokens"],
            usage["maxTokens"],
            usage["percentage"],
            self.model()
        );
        for category in usage["categories"].as_array().into_iter().flatten() {
            let name = category["name"].as_str().unwrap_or_default();
            words.push_str(&format!("- {name}: {}\n", category["tokens"]));
        }
        words
    }

    fn sizes(&self, spec: &Spec) -> Sizes {
        let facts = spec.model.catalogue.get(&self.model());
        let window = facts.map_or(0, |facts| facts.context_window);
        let messages = (self.session.as_ref())
            .map(|session| session.core_session().history().estimated_tokens());
        let prompt: usize = system_blocks(spec).iter().map(String::len).sum();
        Sizes {
            system_prompt: size::text(prompt).into(),
            system_tools: spec.offered_tools().map(tool_tokens).sum(),
            mcp_tools: self
                .servers
                .tools()
                .map(|(tool, _)| tool_tokens(tool))
                .sum(),
            memory: spec
                .prompt
                .memory
                .iter()
                .map(|file| u64::from(size::text(file.text.len())))
                .sum(),
            messages: messages.unwrap_or_default(),
            window,
            threshold: spec.prompt.context.compaction.threshold(window),
        }
    }
}

fn tool_tokens(tool: &windlass_core::tool::ToolDefinition) -> u64 {
    let bytes = tool.name.len() + tool.description.len() + tool.input_schema.get().len();
    size::text(bytes).into()
}

/// The colour of a category: a name of the terminal's theme, as in the official engine.
fn color(kind: &str) -> &'static str {
    match kind {
        "free" => "promptBorder",
        "buffer" => "inactive",
        _ => "warning",
    }
}

/// The source of an agent, named as in the official engine.
fn source(source: AgentSource) -> &'static str {
    match source {
        AgentSource::BuiltIn => "built-in",
        AgentSource::User => "userSettings",
        AgentSource::Project => "projectSettings",
        AgentSource::Option => "flagSettings",
    }
}
