//! Builder methods for the prompt, the tools and the workspace.

use std::{path::PathBuf, time::Duration};

#[cfg(feature = "plugins")]
use windlass_core::tool::{Access, PluginGrant};
use windlass_core::{
    agent::AgentDefinition,
    context::{ContextPolicy, MemoryFile, OutputStyle, SystemPrompt},
    spec::ToolSearchSetting,
    tools::CoreTool,
};

use super::AgentBuilder;
#[cfg(feature = "plugins")]
use crate::agent::components::{ComponentFile, Content};
use crate::agent::{McpServer, Tool, builtin::Selection};

/// The prompt, the tools, the workspace.
impl AgentBuilder {
    /// The system prompt: a text that is used unchanged, or [`SystemPrompt::Preset`]. Default: none.
    pub fn system_prompt(mut self, prompt: impl Into<SystemPrompt>) -> Self {
        self.spec.prompt.system = prompt.into();
        self
    }

    /// Text appended to the system prompt, after an empty line.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system.push(text.into());
        self
    }

    /// The output style. It applies where the system prompt is the preset.
    pub fn output_style(mut self, style: OutputStyle) -> Self {
        self.spec.prompt.output_style = Some(style);
        self
    }

    /// Standing instructions (CLAUDE.md), already read. They are part of every request.
    pub fn memory(mut self, file: MemoryFile) -> Self {
        self.spec.prompt.memory.push(file);
        self
    }

    /// How the context is kept within the model's window: by compaction and by clearing old tool results.
    pub fn context(mut self, policy: ContextPolicy) -> Self {
        self.spec.prompt.context = policy;
        self
    }

    /// Adds a tool of this program, under its own name.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds tools of this program under a server's name: the model calls them as `mcp__server__tool`.
    pub fn mcp_server(mut self, server: McpServer) -> Self {
        self.mcp_servers.push(server);
        self
    }

    /// Adds an MCP server that runs as a process: started with each session and stopped with it. The model calls its
    /// tools as `mcp__server__tool`. If the server does not start or does not respond, the session fails with
    /// [`RunError::McpServer`](crate::RunError::McpServer).
    #[cfg(all(unix, feature = "mcp"))]
    pub fn mcp_server_process(mut self, server: crate::mcp::StdioServer) -> Self {
        self.started.push(server.line());
        self.outside_servers
            .push(crate::mcp::ServerConfig::Stdio(server));
        self
    }

    /// Adds an MCP server that is reached over HTTP: connected with each session. The model calls its tools as
    /// `mcp__server__tool`. If it cannot be reached or lets nobody in, the session fails with
    /// [`RunError::McpServer`](crate::RunError::McpServer).
    #[cfg(all(unix, feature = "mcp"))]
    pub fn mcp_server_http(mut self, server: crate::mcp::HttpServer) -> Self {
        self.outside_servers
            .push(crate::mcp::ServerConfig::Http(server));
        self
    }

    /// Offers tools that act on the session itself: the todo list, questions to the person, subagents and background
    /// tasks. They need nothing from the operating system. With [`CoreTool::Task`] the model can start subagents.
    pub fn core_tools(mut self, tools: impl IntoIterator<Item = CoreTool>) -> Self {
        self.spec.offer(tools);
        self
    }

    /// When the definitions of MCP tools are deferred until the model searches for them, with
    /// [`CoreTool::ToolSearch`] among the [`core_tools`](Self::core_tools). Default: when together they exceed a
    /// tenth of the model's context window.
    pub fn tool_search(mut self, setting: ToolSearchSetting) -> Self {
        self.spec.tools.search = setting;
        self
    }

    /// Adds a subagent that Task can start; it replaces a built-in one of the same name. Task itself is offered by
    /// [`core_tools`](Self::core_tools). Only the engine of the SDKs starts servers whose configuration is given
    /// inline in `mcp_servers`: here, name one that was added with [`mcp_server`](Self::mcp_server).
    pub fn subagent(mut self, name: impl Into<String>, definition: AgentDefinition) -> Self {
        self.agents.push((name.into(), definition));
        self
    }

    /// Runs the main conversation as one of the agents: with its prompt, tools, model and limit.
    pub fn run_as(mut self, agent: impl Into<String>) -> Self {
        self.run_as = Some(agent.into());
        self
    }

    /// Offers only these of the built-in tools (`Read`, `Write`, `Edit`, `NotebookEdit`, `Glob`, `Grep`, `Bash`, `WebFetch`,
    /// `WebSearch`). An empty list offers none, which is the default. Tools added by other methods are not affected. Without the
    /// feature `plugins`, only the last three exist. `WebSearch` is a tool of Anthropic's servers: there is none with another
    /// wire format than the Messages API.
    pub fn tools<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.builtin = Selection::Named(names.into_iter().map(Into::into).collect());
        self
    }

    /// Offers all built-in tools, and with Bash the tools that read and stop its background commands (TaskOutput, TaskStop).
    pub fn builtin_tools(mut self) -> Self {
        self.builtin = Selection::All;
        self
    }

    /// The model that WebFetch has read a page. Default: that of the conversation.
    pub fn small_fast_model(mut self, model: impl Into<String>) -> Self {
        self.small_fast_model = Some(model.into());
        self
    }

    /// Where commands leave output that is too long to be shown. Default: a directory of the agent, which is removed with it.
    #[cfg(all(unix, feature = "engine"))]
    pub(crate) fn outputs(mut self, directory: crate::bash::OutputDirectory) -> Self {
        self.outputs = Some(directory);
        self
    }

    /// Addresses of this machine or of a private network that WebFetch may fetch from, which it otherwise never does: `localhost`
    /// or an IP address, with a port or for every port. They are fetched by http where the address says so.
    pub fn web_private_hosts<S: Into<String>>(
        mut self,
        hosts: impl IntoIterator<Item = S>,
    ) -> Self {
        self.web_private_hosts
            .extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Adds the tools of a component file, which reach the files of the workspace as far as the plugin declares to need them and
    /// rules let them, and nothing else: no other file, no network, no environment variable, no process. An allow rule that names
    /// a tool lets it run; it opens no file outside of the workspace.
    #[cfg(feature = "plugins")]
    pub fn plugin(self, path: impl Into<PathBuf>) -> Self {
        self.plugin_granted(path, PluginGrant::workspace(Access::Write))
    }

    /// The same, with another grant: other directories ([`PluginGrant`]), or a
    /// [`ComponentGrant`](crate::plugins::ComponentGrant) that has more than directories.
    ///
    /// ```no_run
    /// use windlass::{Agent, core::tool::{Access, PluginGrant}, plugins::{ComponentGrant, Method}};
    /// let files = PluginGrant::workspace(Access::Read).directory("/srv/data", Access::Read);
    /// let grant = ComponentGrant::from(files).origin("https://api.example.com".parse()?, [Method::Get]);
    /// let agent = Agent::builder().plugin_granted("count.wasm", grant);
    /// # Ok::<(), windlass::plugins::InvalidOrigin>(())
    /// ```
    #[cfg(feature = "plugins")]
    pub fn plugin_granted(
        self,
        path: impl Into<PathBuf>,
        grant: impl Into<crate::plugins::ComponentGrant>,
    ) -> Self {
        self.component_file(path.into(), grant.into(), Content::Any)
    }

    /// The same for a component that was granted something when its file had this digest
    /// ([`Inspection::digest`](crate::plugins::Inspection::digest)): another one is not loaded.
    #[cfg(feature = "plugins")]
    pub fn plugin_pinned(
        self,
        path: impl Into<PathBuf>,
        digest: impl Into<String>,
        grant: impl Into<crate::plugins::ComponentGrant>,
    ) -> Self {
        self.component_file(path.into(), grant.into(), Content::Pinned(digest.into()))
    }

    /// The same for a component that was read before: exactly what was inspected then runs, whatever its file has now. The path is
    /// what it is named by.
    #[cfg(feature = "plugins")]
    pub fn plugin_inspected(
        self,
        path: impl Into<PathBuf>,
        component: crate::plugins::InspectedComponent,
        grant: impl Into<crate::plugins::ComponentGrant>,
    ) -> Self {
        self.component_file(path.into(), grant.into(), Content::Read(component))
    }

    /// The same for components of installed plugins, with what they were granted for good. Their files are read when they are
    /// first called.
    ///
    /// ```no_run
    /// use windlass::{Agent, plugins::{GrantFile, PluginStore}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = PluginStore::of_user().ok_or("no home directory")?;
    /// let grants = GrantFile::of_user().ok_or("no home directory")?.read()?;
    /// let installed = store.all_components(&store.read()?, &grants)?;
    /// let agent = Agent::builder().installed_plugins(installed);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "plugins")]
    pub fn installed_plugins(
        mut self,
        components: impl IntoIterator<Item = crate::plugins::GrantedComponent>,
    ) -> Self {
        let files = components.into_iter().map(|granted| ComponentFile {
            path: granted.component.path().to_path_buf(),
            grant: granted.grant,
            content: Content::Installed(granted.name, granted.component),
        });
        self.components.files.extend(files);
        self
    }

    #[cfg(feature = "plugins")]
    fn component_file(
        mut self,
        path: PathBuf,
        grant: crate::plugins::ComponentGrant,
        content: Content,
    ) -> Self {
        self.components.files.push(ComponentFile {
            path,
            grant,
            content,
        });
        self
    }

    /// The host that runs components: to set limits, to receive their logs, or to share compiled components between
    /// agents. Default: a separate host that keeps compiled components in the user's cache directory.
    #[cfg(feature = "plugins")]
    pub fn plugin_host(mut self, host: crate::plugins::PluginHost) -> Self {
        self.components.host = Some(host);
        self
    }

    /// The timeout of a call of this program's own tools, for tools that set none. Default:
    /// [`DEFAULT_TOOL_TIMEOUT`](crate::host::DEFAULT_TOOL_TIMEOUT).
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.tool_timeout = timeout;
        self
    }

    /// The working directory: relative paths are resolved against it, and it is part of the workspace. Default: the
    /// working directory of the process.
    pub fn cwd(mut self, path: impl Into<PathBuf>) -> Self {
        self.cwd = Some(path.into());
        self
    }

    /// Adds a directory to the workspace.
    pub fn add_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.directories.push(path.into());
        self
    }

    /// A directory of the embedding program itself, such as its configuration. It is never changed without approval
    /// of a person, and confined commands cannot access it. A directory in which the agent works is not treated so.
    pub fn own_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.own_directories.push(path.into());
        self
    }
}
