//! Configurations from settings and project files, with the tools and hooks that belong to them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::stream::BoxStream;
use windlass_core::{
    EffectId, SessionId,
    effect::{Answer, Effect as SessionEffect},
    host::CancelSignal,
};
use windlass_engine::machine::{ConfigNumber, Configuration, ConfigureRequest};

use super::{
    agent::{agent, plugins},
    build::{ResolvedConfig, resolved_config},
    launch::Launch,
    model_access::AccessTransport,
    start_error::StartError,
};
use crate::{
    Agent,
    agent::default_plugin_host,
    host::GitWorktrees,
    host::{NativeHost, RunTool, Transport},
    plugins::{LogSink, PluginHost},
    project_config::Commands,
    session_shares::SharesBySession,
    web::{SideModels, WebTools},
};

/// The configurations that sessions may use.
pub(super) struct Configurations {
    launch: Arc<Launch>,
    worktrees: GitWorktrees,
    /// Runs the components of all configurations: what they may use together is theirs together.
    plugins: PluginHost,
    /// What belongs to the sessions, whatever configuration they have.
    shares: SharesBySession,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: ConfigNumber,
    runners: BTreeMap<ConfigNumber, Arc<Runners>>,
    /// The agent built last, with the tools that were disallowed for it.
    agent: Option<(Vec<String>, Agent)>,
}

/// Performs the effects of sessions with one configuration.
pub(super) struct Runners {
    native: NativeHost,
    /// Bash with the variables of the settings, confined if configured.
    bash: Option<Arc<dyn RunTool>>,
    /// The tools that ask a model, with what flags and settings say of models.
    web: Option<WebTools>,
    commands: Commands,
    /// Sends requests to the model server.
    transport: Arc<dyn Transport>,
}

impl Configurations {
    pub(super) fn new(launch: Arc<Launch>, worktrees: GitWorktrees, log: LogSink) -> Self {
        Self {
            launch,
            worktrees,
            plugins: default_plugin_host(log),
            shares: SharesBySession::default(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves valid lists.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads settings and project files for the first time. The session starts with exactly this reading; if a person
    /// has agreed to the project's files, the reading is compared with what they were shown.
    pub(super) fn first(&self) -> Result<Configuration, StartError> {
        let request = ConfigureRequest::default();
        let resolved_config = self.resolved_config(&request)?;
        match &self.launch.agreed {
            Some(agreed) if *agreed != resolved_config.project_config.found.brought => {
                Err(StartError::NotAsAgreed)
            }
            _ => Ok(self.keep(resolved_config, &request)),
        }
    }

    /// Reads settings and project files.
    pub(super) fn read(&self, request: &ConfigureRequest) -> Result<Configuration, StartError> {
        Ok(self.keep(self.resolved_config(request)?, request))
    }

    fn resolved_config(&self, request: &ConfigureRequest) -> Result<ResolvedConfig, StartError> {
        let known = self.state().agent.clone();
        let (plugins, left_out) = plugins(&self.launch, request)?;
        // Components of plugins may have changed since the agent was built.
        let agent = match known {
            Some((disallowed, agent))
                if disallowed == request.disallowed_tools && plugins.is_empty() =>
            {
                agent
            }
            _ => agent(&self.launch, request, &plugins, &self.plugins)?,
        };
        resolved_config(&self.launch, agent, request, (plugins, left_out))
    }

    fn keep(
        &self,
        mut resolved_config: ResolvedConfig,
        request: &ConfigureRequest,
    ) -> Configuration {
        let runners = self.runners(&mut resolved_config);
        let mut state = self.state();
        state.last += 1;
        let number = state.last;
        state.runners.insert(number, Arc::new(runners));
        state.agent = Some((
            request.disallowed_tools.clone(),
            resolved_config.agent.clone(),
        ));
        drop(state);
        resolved_config.configuration(&self.launch, number)
    }

    fn runners(&self, resolved_config: &mut ResolvedConfig) -> Runners {
        // The machine handles its messages.
        let (native, _) = resolved_config.agent.host();
        let transport: Arc<dyn Transport> = Arc::new(AccessTransport {
            access: Arc::new(std::mem::take(&mut resolved_config.access)),
            inner: resolved_config.agent.transport(),
        });
        Runners {
            native: native
                .with_worktrees(self.worktrees.clone())
                .sharing(self.shares.clone()),
            bash: bash(&self.launch, resolved_config),
            web: web(resolved_config, &transport),
            commands: resolved_config.project_config.commands(),
            transport,
        }
    }

    pub(super) fn get(&self, number: ConfigNumber) -> Option<Arc<Runners>> {
        self.state().runners.get(&number).cloned()
    }

    pub(super) fn end_session(&self, session: SessionId) {
        self.shares.end(session);
    }

    pub(super) fn forget(&self, number: ConfigNumber) {
        self.state().runners.remove(&number);
    }
}

impl Runners {
    /// Performs an effect of a session.
    pub(super) fn perform(
        &self,
        id: EffectId,
        effect: SessionEffect,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        match effect {
            SessionEffect::CallTool(call) => {
                let bash = self.bash.as_deref().filter(|_| call.name == "Bash");
                let of_web = || self.web.as_ref().and_then(|web| web.get(&call.name));
                match bash.or_else(of_web) {
                    Some(tool) => tool.run(id, call, cancel),
                    None => self
                        .native
                        .perform(id, SessionEffect::CallTool(call), cancel),
                }
            }
            SessionEffect::RunHook(call) => match self.commands.get(&call.hook) {
                Some(command) => command.run(id, call, cancel),
                None => self
                    .native
                    .perform(id, SessionEffect::RunHook(call), cancel),
            },
            SessionEffect::Http(request) => self.transport.send(id, request),
            effect => self.native.perform(id, effect, cancel),
        }
    }
}

/// The tools that ask a model, if they are offered.
fn web(resolved_config: &ResolvedConfig, transport: &Arc<dyn Transport>) -> Option<WebTools> {
    let web = resolved_config.agent.web_tools()?;
    Some(web.asking(&SideModels {
        transport: Arc::clone(transport),
        spec: resolved_config.spec.model.clone(),
        small: resolved_config.small_fast_model.clone(),
    }))
}

/// Bash with the options of the settings, if they have any.
#[cfg(unix)]
fn bash(launch: &Launch, resolved_config: &ResolvedConfig) -> Option<Arc<dyn RunTool>> {
    use crate::bash::{Bash, TimeLimits};
    let variables = resolved_config.project_config.found.variables();
    let sandbox = &resolved_config.sandbox;
    let (limits, shown) = {
        let variable = launch.variables.below(&variables);
        let shown = variable("BASH_MAX_OUTPUT_LENGTH");
        let shown = shown.and_then(|bytes| bytes.trim().parse::<usize>().ok());
        (TimeLimits::read(variable), shown)
    };
    if variables.is_empty()
        && sandbox.is_none()
        && limits == TimeLimits::default()
        && shown.is_none()
    {
        return None;
    }
    let mut bash = Bash::new()
        .with_time_limits(limits)
        .with_variables(variables)
        .saving_in(launch.outputs.clone());
    if let Some(shown) = shown {
        bash = bash.showing(shown);
    }
    if let Some(sandbox) = sandbox {
        bash = bash.confined_by(sandbox.clone());
    }
    Some(Arc::new(bash))
}

/// There is no shell on this system.
#[cfg(not(unix))]
fn bash(_: &Launch, _: &ResolvedConfig) -> Option<Arc<dyn RunTool>> {
    None
}
