//! Builder methods for permissions, hooks and limits.

use std::{future::Future, path::PathBuf, sync::Arc};

use windlass_core::{
    Message, SessionId,
    effect::{PermissionRequest, PermissionResponse},
    hook::{HookInput, HookMatcher},
    money::Usd,
    output::OutputFormat,
    permission::{Layer, Mode},
};

use super::AgentBuilder;
use crate::{
    agent::{HookContext, IntoHookAnswer, hook::HookClosure},
    host::RunHook,
    sandbox::SandboxSettings,
};

/// Permissions, hooks and limits.
impl AgentBuilder {
    /// How tool calls that no rule decides are treated. Default: [`Mode::Default`], which asks.
    pub fn permission_mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Tool calls that run without approval, as rules such as `Read`, `Edit(src/**)` or `Bash(npm test:*)`. Does not affect
    /// which tools are offered to the model.
    pub fn allowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.allow.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Tool calls that are always denied, whatever else allows them. A tool named without parentheses is not offered
    /// to the model.
    pub fn disallowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.deny.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Tool calls that need approval in every mode.
    pub fn ask_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.ask.extend(rules.into_iter().map(Into::into));
        self
    }

    /// The permissions of settings files, highest precedence first
    /// ([`SettingsPlaces`](crate::settings::SettingsPlaces) reads them). The rules of all layers apply beside those
    /// set here; the mode applies only where [`permission_mode`](Self::permission_mode) was not called. What a
    /// project's own files allow applies only once a person has trusted the folder ([`Layer::trusted`]).
    pub fn permission_layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        self.layers.extend(layers);
        self
    }

    /// The callback that decides calls that nothing else decides. Without it, they are denied.
    pub fn on_permission<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionResponse> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(callback(request))));
        self
    }

    /// Adds a closure as a hook of an event, for some tools or for all:
    ///
    /// ```
    /// use windlass::{Agent, core::hook::{HookEvent, HookInput, HookMatcher, HookOutput, Matcher, Occurrence}};
    ///
    /// let mut bash = HookMatcher::of(HookEvent::PreToolUse);
    /// bash.matcher = Matcher::parse("Bash")?;
    /// let agent = Agent::builder().hook(bash, |input: HookInput, _context| async move {
    ///     match &input.event {
    ///         Occurrence::PreToolUse(call) if call.tool_input.get().contains("rm -rf") => {
    ///             HookOutput::deny("nothing is removed here")
    ///         }
    ///         _ => HookOutput::default(),
    ///     }
    /// });
    /// # let _ = agent;
    /// # Ok::<(), windlass::core::hook::MatcherError>(())
    /// ```
    ///
    /// When its time limit is reached, it is asked to stop
    /// ([`HookContext::cancelled`](crate::HookContext::cancelled)). The failure policy of the matcher says what a
    /// panic or an error means: by default, a tool call needs approval and everything else continues.
    pub fn hook<F, Fut>(self, matcher: impl Into<HookMatcher>, handler: F) -> Self
    where
        F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookAnswer,
    {
        self.registered(matcher.into(), Arc::new(HookClosure::new(handler)))
    }

    /// Adds a program as a hook of an event, as settings files do. It reads the event as JSON from standard input and
    /// answers by its exit code and output ([`HookCommand`](crate::hooks::HookCommand)).
    #[cfg(unix)]
    pub fn hook_command(
        mut self,
        matcher: impl Into<HookMatcher>,
        command: crate::hooks::HookCommand,
    ) -> Self {
        self.started.push(command.command().to_owned());
        self.registered(matcher.into(), Arc::new(command))
    }

    /// Registers a hook under a generated name.
    fn registered(mut self, mut matcher: HookMatcher, hook: Arc<dyn RunHook>) -> Self {
        let name = format!("hook_{}", self.hooks.len());
        self.hooks.insert(name.clone(), hook);
        matcher.hooks = vec![name];
        self.spec.policy.hooks.push(matcher);
        self
    }

    /// Confines the commands of Bash by the operating system (Agent SDK reference, option `sandbox`). Default: they
    /// are not confined.
    ///
    /// [`build`](Self::build) tests what the kernel supports. If something that the settings require is missing,
    /// permissions are decided and commands run as if there were no sandbox, and
    /// [`Agent::sandbox_lacks`](crate::Agent::sandbox_lacks) lists what is missing; with `fail_if_unavailable`,
    /// building the agent fails instead.
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// Whether tools that only read run without approval inside the workspace. Default: no.
    pub fn free_workspace_reads(mut self, free: bool) -> Self {
        self.spec.policy.permissions.free_workspace_reads = free;
        self
    }

    /// Allows [`Mode::BypassPermissions`], from the start or when the mode is changed later. Never applies to root.
    pub fn allow_dangerously_skip_permissions(mut self, allow: bool) -> Self {
        self.bypass = allow;
        self
    }

    /// A callback that sees every message before it is delivered. It runs on the session's task and must return quickly.
    pub fn on_message(mut self, callback: impl Fn(&Message) + Send + Sync + 'static) -> Self {
        self.on_message = Some(Arc::new(callback));
        self
    }

    /// Requires the answer to match a JSON Schema: the value is in the result's `structured_output`; otherwise the
    /// result is an error.
    pub fn output(mut self, format: OutputFormat) -> Self {
        self.spec.prompt.output = Some(format);
        self
    }

    /// Writes a journal of every session, which [`Journal`](windlass_core::journal::Journal) can replay. The closure
    /// is called when a session starts and returns a sink for its lines (without line ends). The journal holds the
    /// whole conversation, but no key. The sink runs on the session's task and must return quickly.
    pub fn record<S: FnMut(&str) + Send + 'static>(
        mut self,
        open: impl Fn(SessionId) -> S + Send + Sync + 'static,
    ) -> Self {
        self.record = Some(Arc::new(move |id| Box::new(open(id))));
        self
    }

    /// The maximum number of tool rounds for one prompt. Default: no limit.
    pub fn max_turns(mut self, rounds: u32) -> Self {
        self.spec.policy.limits.max_turns = Some(rounds);
        self
    }

    /// The maximum cost of a session, in dollars. Default: no limit. Requires a known price for the model.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.budget = Some(dollars);
        self
    }

    /// Like [`max_budget_usd`](Self::max_budget_usd), as an exact amount.
    pub fn max_budget(mut self, amount: Usd) -> Self {
        self.budget = None;
        self.spec.policy.limits.max_budget = Some(amount);
        self
    }

    /// A file of model prices. They are added to the built-in ones and take precedence over them.
    pub fn prices_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.price_files.push(path.into());
        self
    }

    /// The seed for the ids in messages and the jitter of retries. With a fixed seed, every session of the agent has
    /// the same ids, including its own: for tests. Default: the system's randomness.
    pub fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The id of the agent's session, for an agent that runs only one. Default: a new random id for each session.
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }
}
