//! The tools of plugins without a model: what `windlass mcp serve` offers to others.

use std::{collections::BTreeSet, sync::Arc};

use tokio_util::sync::CancellationToken;
use windlass_core::{
    RawJson, SessionId, Spec,
    hook::HookEvent,
    tool::{ToolDefinition, ToolResult},
};
use windlass_engine::{machine::ConfigureRequest, protocol::initialize::Initialize};

use super::{
    agent::plugins,
    build::resolved_for_no_session,
    launch::Launch,
    lone_call::{Caller, LoneCall, Report},
    start_error::StartError,
};
use crate::{
    Agent,
    host::NativeHost,
    plugin_dir::PluginOnDisk,
    project_config::Commands,
    random::{fresh_uuid, random_seed},
};

/// The tools of the plugins that a session with these launch options would have. Each call is judged by the rules, modes and
/// hooks of that session and runs with the grants of its component, as if the model of the session had made it; nobody is asked.
pub struct ComponentTools {
    agent: Agent,
    spec: Arc<Spec>,
    tools: Vec<ToolDefinition>,
    commands: Arc<Commands>,
    warnings: Vec<String>,
}

/// What calls have in common that belong together: the state and the instances of components that last for a session.
pub struct ToolSession {
    tools: Arc<ComponentTools>,
    host: NativeHost,
    /// Under which components keep what belongs to it.
    id: SessionId,
}

impl ComponentTools {
    /// Reads flags, plugins, settings and project files, as a session does when it starts. Nothing runs.
    ///
    /// # Errors
    /// [`StartError`]: no session could start.
    pub fn read(launch: &Launch) -> Result<Self, StartError> {
        let (plugins, left_out) = plugins(launch, &ConfigureRequest::default())?;
        let names: BTreeSet<String> = plugins
            .iter()
            .flat_map(PluginOnDisk::tools)
            .map(str::to_owned)
            .collect();
        let resolved = resolved_for_no_session(launch, (plugins, left_out))?;
        let agent = resolved.agent.clone();
        let commands = Arc::new(resolved.project_config.commands());
        let configuration = resolved.configuration(launch, 0);
        let configuration = configuration.completed(&launch.machine(), &Initialize::default())?;
        let mut spec = Spec::clone(&configuration.spec);
        let tools: Vec<ToolDefinition> = spec
            .offered_tools()
            .filter(|tool| tool.core.is_none() && names.contains(&tool.name))
            .cloned()
            .collect();
        narrow(&mut spec, &tools);
        Ok(Self {
            agent,
            spec: Arc::new(spec),
            tools,
            commands,
            warnings: configuration.warnings,
        })
    }

    /// What was left out of flags, plugins and settings, and why: sentences for the person.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The tools that may be called, but for those that a rule denies altogether.
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// Starts a session of calls.
    #[must_use]
    pub fn session(self: &Arc<Self>) -> ToolSession {
        // The messages of a call go to the call.
        let (host, _) = self.agent.host();
        ToolSession {
            tools: Arc::clone(self),
            host,
            id: fresh_uuid(),
        }
    }
}

impl ToolSession {
    /// The tools that it may call.
    #[must_use]
    pub fn tools(&self) -> &[ToolDefinition] {
        self.tools.tools()
    }

    /// Calls a tool; the input is a JSON object. Calls can run side by side. `report` is told what the tool says it is doing. When
    /// `stop` fires the call is ended.
    ///
    /// The result is an error with a sentence for whoever called if the input does not fit the tool's schema, if a rule or a hook
    /// denies the call, if a person would have to be asked, or if the tool fails.
    pub async fn call(
        &self,
        tool: &str,
        input: RawJson,
        report: &Report,
        stop: CancellationToken,
    ) -> ToolResult {
        let call = LoneCall {
            spec: Arc::clone(&self.tools.spec),
            session: self.id,
            seed: random_seed(),
            tool,
            input,
        };
        let caller = Caller {
            host: &self.host,
            commands: &self.tools.commands,
            report,
        };
        call.run(&caller, stop).await
    }
}

/// Leaves of a session's spec what a call needs: the tools that are offered, and the hooks that are about calls. What is said to
/// models, and what a session keeps, has no part in it.
fn narrow(spec: &mut Spec, tools: &[ToolDefinition]) {
    spec.tools.definitions = tools.to_vec();
    spec.tools.aliases = Default::default();
    spec.tools.agent = None;
    spec.tools.skills = Vec::new();
    spec.policy.persist = false;
    spec.policy.limits = Default::default();
    spec.policy.hooks.retain(|hook| {
        matches!(
            hook.event,
            HookEvent::PreToolUse
                | HookEvent::PostToolUse
                | HookEvent::PostToolUseFailure
                | HookEvent::PermissionRequest
                | HookEvent::PermissionDenied
        )
    });
}
