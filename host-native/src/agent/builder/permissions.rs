//! What may run, and when to stop.

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

/// What may run, and when to stop.
impl AgentBuilder {
    /// What happens to calls that no rule decides. Default: [`Mode::Default`], which asks.
    pub fn permission_mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Calls that run unasked, by rules such as `Read`, `Edit(src/**)` or `Bash(npm test:*)`. This approves; it
    /// does not choose which tools are offered.
    pub fn allowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.allow.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Calls that never run, whatever else is said. A tool that is named without parentheses is not even offered.
    pub fn disallowed_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.deny.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Calls that are asked about in every mode.
    pub fn ask_tools<S: Into<String>>(mut self, rules: impl IntoIterator<Item = S>) -> Self {
        self.ask.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Permissions of settings files, the strongest first ([`SettingsPlaces`](crate::settings::SettingsPlaces) reads them). Rules
    /// of all of them count beside those that are said here, the mode only where
    /// [`permission_mode`](Self::permission_mode) says none. What a folder's own files widen counts once a person has trusted the folder
    /// ([`Layer::trusted`]).
    pub fn permission_layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        self.layers.extend(layers);
        self
    }

    /// Who is asked about calls that nothing else decides. Without it they are denied.
    pub fn on_permission<F, Fut>(mut self, callback: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PermissionResponse> + Send + 'static,
    {
        self.permission = Some(Arc::new(move |request| Box::pin(callback(request))));
        self
    }

    /// A closure that runs at an event, for some tools or for all:
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
    /// It is asked to stop when its time is over ([`HookContext::cancelled`](crate::HookContext::cancelled)). A
    /// panic or an error means what the matcher's failure policy says: by default, a call is asked about and everything
    /// else goes on.
    pub fn hook<F, Fut>(self, matcher: impl Into<HookMatcher>, handler: F) -> Self
    where
        F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookAnswer,
    {
        self.registered(matcher.into(), Arc::new(HookClosure::new(handler)))
    }

    /// A program that runs at an event, as settings files name them: it reads what happened as JSON from its standard input and
    /// answers by its exit code and what it writes ([`HookCommand`](crate::hooks::HookCommand)).
    #[cfg(unix)]
    pub fn hook_command(
        mut self,
        matcher: impl Into<HookMatcher>,
        command: crate::hooks::HookCommand,
    ) -> Self {
        self.started.push(command.command().to_owned());
        self.registered(matcher.into(), Arc::new(command))
    }

    /// With a hook, under a name of its own.
    fn registered(mut self, mut matcher: HookMatcher, hook: Arc<dyn RunHook>) -> Self {
        let name = format!("hook_{}", self.hooks.len());
        self.hooks.insert(name.clone(), hook);
        matcher.hooks = vec![name];
        self.spec.policy.hooks.push(matcher);
        self
    }

    /// How commands of Bash are confined by the operating system (Agent SDK reference, option `sandbox`). Default: they are not.
    ///
    /// [`build`](Self::build) tries out what the kernel gives. Where something is missing that the settings ask for, commands are
    /// judged and run as if there were no sandbox, which [`Agent::sandbox_lacks`](crate::Agent::sandbox_lacks) tells; with
    /// `fail_if_unavailable` no agent is built.
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// Whether reading tools run unasked inside the workspace. Default: no.
    pub fn free_workspace_reads(mut self, free: bool) -> Self {
        self.spec.policy.permissions.free_workspace_reads = free;
        self
    }

    /// Opens [`Mode::BypassPermissions`], now or for a later switch. Never for root.
    pub fn allow_dangerously_skip_permissions(mut self, allow: bool) -> Self {
        self.bypass = allow;
        self
    }

    /// Looks at every message before it is handed on. Called on the session's task: be quick.
    pub fn on_message(mut self, callback: impl Fn(&Message) + Send + Sync + 'static) -> Self {
        self.on_message = Some(Arc::new(callback));
        self
    }

    /// The answer as a value of a JSON Schema: it is in the result's `structured_output`, or the result is an error.
    pub fn output(mut self, format: OutputFormat) -> Self {
        self.spec.prompt.output = Some(format);
        self
    }

    /// Writes a journal of every session, to be replayed by [`Journal`](windlass_core::journal::Journal): gives, for a
    /// session that begins, what takes its lines (without their line ends). It holds the whole conversation, and no key.
    /// Called on the session's task: be quick.
    pub fn record<S: FnMut(&str) + Send + 'static>(
        mut self,
        open: impl Fn(SessionId) -> S + Send + Sync + 'static,
    ) -> Self {
        self.record = Some(Arc::new(move |id| Box::new(open(id))));
        self
    }

    /// Tool rounds for one prompt. Default: no limit.
    pub fn max_turns(mut self, rounds: u32) -> Self {
        self.spec.policy.limits.max_turns = Some(rounds);
        self
    }

    /// What a session may cost, in dollars. Default: no limit. The price of the model must be known.
    pub fn max_budget_usd(mut self, dollars: f64) -> Self {
        self.budget = Some(dollars);
        self
    }

    /// The same as an exact amount.
    pub fn max_budget(mut self, amount: Usd) -> Self {
        self.budget = None;
        self.spec.policy.limits.max_budget = Some(amount);
        self
    }

    /// A file of model prices, added to the built-in ones and stronger than they.
    pub fn prices_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.price_files.push(path.into());
        self
    }

    /// Where the ids in messages and the jitter of retries come from. With a fixed seed every session of the agent has
    /// the same ones, its own id included: for tests. Default: the system's randomness.
    pub fn seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The id of the agent's sessions: for an agent that has one. Default: drawn anew for each.
    pub fn session_id(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }
}
