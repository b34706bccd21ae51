//! What the agent is told and what it works with.

use std::{path::PathBuf, time::Duration};

use windlass_core::{
    agent::AgentDefinition,
    context::{ContextPolicy, MemoryFile, OutputStyle, SystemPrompt},
    spec::ToolSearchSetting,
    tools::CoreTool,
};

use super::AgentBuilder;
use crate::agent::{McpServer, Tool, builtin::Selection};

/// The prompt, the tools, the workspace.
impl AgentBuilder {
    /// The system prompt: a text to which nothing is added, or [`SystemPrompt::Preset`]. Default: none.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.spec.prompt.system = prompt.into();
        self
    }

    /// Text after the system prompt, with an empty line between.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system.push(text.into());
        self
    }

    /// How the agent writes, where the system prompt is the preset.
    pub fn output_style(mut self, style: OutputStyle) -> Self {
        self.spec.prompt.output_style = Some(style);
        self
    }

    /// Standing instructions (CLAUDE.md) that were read already; they are part of every request.
    pub fn memory(mut self, file: MemoryFile) -> Self {
        self.spec.prompt.memory.push(file);
        self
    }

    /// How the context is kept within the model's window: compaction, clearing of old tool results.
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.spec.prompt.context = policy;
        self
    }

    /// Adds a tool of this program, under exactly the name it has.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools of this program under the name of a server: the model calls them as `mcp__server__tool`.
    pub fn mcp_server(mut self, server: McpServer) -> Self {
        self.mcp_servers.push(server);
        self
    }

    /// Adds an MCP server that is a program: started for each session, ended with it. The model calls its tools as
    /// `mcp__server__tool`. A session whose server does not start or does not answer says so and answers nothing
    /// ([`RunError::McpServer`](crate::RunError::McpServer)).
    #[cfg(all(unix, feature = "mcp"))]
    pub fn mcp_server_process(mut self, server: crate::mcp::StdioServer) -> Self {
        self.started.push(server.line());
        self.processes.push(server);
        self
    }

    /// Offers tools that work on the session itself: the list of what is to be done, questions to the person, agents and
    /// background tasks. They need nothing of the system. With [`CoreTool::Task`] the model can start agents.
    pub fn core_tools(mut self, tools: impl IntoIterator<Item = CoreTool>) -> Self {
        self.spec.offer(tools);
        self
    }

    /// When the definitions of tools of servers wait until the model searches for them, with [`CoreTool::ToolSearch`] among the
    /// [`core_tools`](Self::core_tools). Default: where together they are larger than a tenth of the model's context window.
    pub fn tool_search(mut self, setting: ToolSearchSetting) -> Self {
        self.spec.tools.search = setting;
        self
    }

    /// Adds an agent that Task can start, beside those built in; one of the same name takes its place. Task itself is offered
    /// by [`core_tools`](Self::core_tools). Servers that its `mcp_servers` bring along with their configuration are started by the
    /// engine of the SDKs alone: here, name one of [`mcp_server`](Self::mcp_server).
    pub fn subagent(mut self, name: impl Into<String>, definition: AgentDefinition) -> Self {
        self.agents.push((name.into(), definition));
        self
    }

    /// Has the conversation itself run as one of the agents: with its prompt, tools, model and limit.
    pub fn run_as(mut self, agent: impl Into<String>) -> Self {
        self.run_as = Some(agent.into());
        self
    }

    /// Offers just these of the built-in tools (`Read`, `Write`, `Edit`, `Glob`, `Grep`, `Bash`); an empty list is
    /// none, which is the default. What was added otherwise is there in any case. Without
    /// the feature `plugins` there is only `Bash`.
    pub fn tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.builtin = Selection::Named(names.into_iter().map(Into::into).collect());
        self
    }

    /// Offers all built-in tools, and with Bash what reads and stops the commands that it runs in the background
    /// (TaskOutput, TaskStop).
    pub fn builtin_tools(mut self) -> Self {
        self.builtin = Selection::All;
        self
    }

    /// Adds the tools of a component file. It reaches the files that its calls name and that the rules let it
    /// reach, and nothing else: no other file, no network, no environment, no process.
    #[cfg(feature = "plugins")]
    pub fn plugin(mut self, path: impl Into<PathBuf>) -> Self {
        self.components.files.push(path.into());
        self
    }

    /// Where components run: to set limits, to see what they log, to share compiled components between agents.
    /// Default: one of its own, with compiled components kept in the user's cache directory.
    #[cfg(feature = "plugins")]
    pub fn plugin_host(mut self, host: crate::plugins::PluginHost) -> Self {
        self.components.host = Some(host);
        self
    }

    /// How long a call of this program's own tools may take when the tool does not say. Default:
    /// [`DEFAULT_TOOL_TIMEOUT`](crate::host::DEFAULT_TOOL_TIMEOUT).
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// The working directory: where relative paths start, and what belongs to the workspace. Default: that of the
    /// process.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = Some(path.into());
        self
    }

    /// A further directory that belongs to the workspace.
    pub fn add_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.directories.push(path.into());
        self
    }

    /// A directory of the program itself, such as its configuration: never changed without a person, and closed to confined
    /// commands. One in which the agent works is no such directory.
    pub fn own_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.own_directories.push(path.into());
        self
    }
}
