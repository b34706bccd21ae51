//! Hooks of components: each run has a fresh instance, a deadline and limits, as a call of a tool has.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use serde::Deserialize;
use windlass_core::{
    effect::Answer,
    hook::{FailurePolicy, HookAnswer, HookCall, HookKind, HookMatcher},
    host::CancelSignal,
    json::RawJson,
    tool::{Access, DenyPattern, FsGrant, GrantRoot},
};

use super::{
    bindings::judge::windlass::plugin::hooks as wit,
    call::Terms,
    component::Plugin,
    declared_hook::{DeclaredHook, DeclaredHookKind},
    judgement::{MAX_REASON, translated},
    off_thread::off_thread,
    outcome::{CallError, MAX_TRAPS, size},
    progress::Reports,
};
use crate::session_shares::SessionShares;

/// The time limit of a hook that declares none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// What the core waits beyond a hook's own time limit, which begins when the component is compiled: that happens before its
/// first run, and takes seconds for a large one.
const COMPILING_MS: u64 = 60_000;

/// What hooks of components may reach, and what they may rely on.
#[derive(Debug, Clone)]
pub(crate) struct HookTerms {
    /// What stays closed in them.
    pub(crate) closed: Vec<DenyPattern>,
    /// The tools whose files this host resolves, so that a judge can narrow them.
    pub(crate) enforcing: Arc<BTreeSet<String>>,
}

/// A hook of a component.
#[derive(Clone)]
pub(crate) struct PluginHook {
    plugin: Plugin,
    hook: DeclaredHook,
    roots: Vec<GrantRoot>,
    closed: Vec<DenyPattern>,
    enforcing: Arc<BTreeSet<String>>,
}

impl Plugin {
    /// The declared hooks.
    #[must_use]
    pub fn hooks(&self) -> &[DeclaredHook] {
        &self.0.declaration.hooks
    }

    /// The hooks, ready to be run. They have the directories that were granted by their names or for a role, and not the workspace:
    /// rules decide about the workspace, and there is no call here that they could decide about.
    pub(crate) fn granted_hooks(&self, terms: &HookTerms) -> impl Iterator<Item = PluginHook> {
        let grant = &self.1.authority.directories;
        let named = grant.roots().iter().filter(|root| !root.path.is_empty());
        let roots: Vec<GrantRoot> = named.cloned().collect();
        self.hooks().iter().map(move |hook| PluginHook {
            plugin: self.clone(),
            hook: hook.clone(),
            roots: roots.clone(),
            closed: terms.closed.clone(),
            enforcing: Arc::clone(&terms.enforcing),
        })
    }
}

impl PluginHook {
    /// The registration, without a name under which the host knows it. It may only narrow; a judge that fails refuses, an
    /// observer that fails is reported.
    pub(crate) fn matcher(&self) -> HookMatcher {
        let own = u64::try_from(self.time().as_millis()).unwrap_or(u64::MAX);
        HookMatcher {
            matcher: self.hook.matcher.clone(),
            timeout_ms: own.saturating_add(COMPILING_MS),
            on_failure: Some(match self.hook.kind {
                DeclaredHookKind::Judge => FailurePolicy::Block,
                DeclaredHookKind::Observer => FailurePolicy::Continue,
            }),
            kind: HookKind::Narrowing,
            source: format!("plugin {}", self.plugin.name()),
            ..HookMatcher::of(self.hook.event)
        }
    }

    /// The same hook with what its plugin remembers of a session, if it remembers anything.
    pub(crate) fn of_session(&self, shares: &mut SessionShares) -> Option<Self> {
        Some(Self {
            plugin: self.plugin.of_session(shares)?,
            ..self.clone()
        })
    }

    /// The plugin and the hook, as messages name it.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.plugin.name(), self.hook.name)
    }

    fn time(&self) -> Duration {
        let own = self
            .hook
            .timeout_ms
            .map(|ms| Duration::from_millis(ms.into()));
        own.unwrap_or(DEFAULT_TIMEOUT)
            .min(self.plugin.0.limits.time)
    }

    /// Runs the hook on a thread of tokio's blocking pool. Dropping the future stops it.
    pub(crate) async fn answer(self, call: HookCall, cancel: CancelSignal) -> Answer {
        let done = off_thread(move |abandoned| self.run(&call, &cancel, &abandoned));
        let failed = |reason: String| Answer::Hook(HookAnswer::Failed(reason));
        match done.await {
            Ok(Ok(output)) => Answer::Hook(HookAnswer::Output(output)),
            Ok(Err(HookError::Run(CallError::Cancelled))) => Answer::Cancelled,
            Ok(Err(error)) => failed(error.to_string()),
            // The runtime is shutting down, or the host has a bug.
            Err(error) => failed(format!("it was not run to its end: {error}")),
        }
    }

    fn run(
        &self,
        call: &HookCall,
        cancel: &CancelSignal,
        abandoned: &Arc<AtomicBool>,
    ) -> Result<RawJson, HookError> {
        let grant = FsGrant {
            cwd: directory(call),
            roots: self.roots.clone(),
            deny: [&self.closed[..], &call.deny].concat(),
        };
        let grant = self.plugin.reachable(&grant, Access::Write);
        let terms = Terms {
            grant: &grant,
            time: self.time(),
            waited: Duration::ZERO,
            cancel,
            abandoned,
        };
        let event = wit::HookEvent {
            hook: self.hook.name.clone(),
            event: call.event.name().to_owned(),
            input: call.input.get().to_owned(),
            tool_use_id: call.tool_use_id.clone(),
        };
        match self.hook.kind {
            DeclaredHookKind::Judge => {
                let said =
                    self.plugin
                        .in_instance(&terms, Reports::new(None), |linked, store| {
                            let judge = linked.judge()?.instantiate(&mut *store)?;
                            judge.call_judge(store, &event)
                        })?;
                let judgement = said.map_err(HookError::of_guest)?;
                let judgement = translated(judgement, call, &self.enforcing)?;
                RawJson::encode(&judgement).map_err(|error| HookError::Guest(error.to_string()))
            }
            DeclaredHookKind::Observer => {
                let said =
                    self.plugin
                        .in_instance(&terms, Reports::new(None), |linked, store| {
                            let observer = linked.observer()?.instantiate(&mut *store)?;
                            observer.call_observe(store, &event)
                        })?;
                // Whatever it did, its answer is the one that says nothing.
                said.map(|()| RawJson::empty_object())
                    .map_err(HookError::of_guest)
            }
        }
    }
}

impl fmt::Debug for PluginHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginHook")
            .field("plugin", &self.plugin)
            .field("hook", &self.hook)
            .finish_non_exhaustive()
    }
}

/// The working directory of the session, from which the component's relative paths start.
fn directory(call: &HookCall) -> String {
    #[derive(Deserialize)]
    struct Common {
        cwd: String,
    }
    let common: Result<Common, _> = call.input.decode();
    common.map_or_else(|_| "/".to_owned(), |common| common.cwd)
}

/// Why a hook gave no answer, as the end of the sentence "the hook … failed: …".
#[derive(Debug)]
enum HookError {
    /// It was not run, not run to its end, or its answer cannot be used.
    Run(CallError),
    /// It says so itself.
    Guest(String),
}

impl HookError {
    fn of_guest(mut reason: String) -> Self {
        reason.truncate(reason.floor_char_boundary(MAX_REASON));
        Self::Guest(reason)
    }
}

impl From<CallError> for HookError {
    fn from(error: CallError) -> Self {
        Self::Run(error)
    }
}

impl fmt::Display for HookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Self::Guest(reason) => return f.write_str(reason),
            Self::Run(error) => error,
        };
        match error {
            CallError::Unavailable { reason, .. } => write!(f, "it cannot be run: {reason}"),
            CallError::Compiling { component, after } => write!(
                f,
                "it was not run: its component `{component}` is still being compiled after {} ms",
                after.as_millis()
            ),
            CallError::Benched { component } => write!(
                f,
                "it was not run: its component `{component}` trapped {MAX_TRAPS} times in a row, and runs again when it is loaded anew"
            ),
            // Hooks have instances of their own, and wait for none.
            CallError::Occupied { .. } | CallError::Crowded { .. } => {
                f.write_str("it waited for its component")
            }
            CallError::NoMemory { after, .. } => write!(
                f,
                "it waited {} ms for memory that other components have",
                after.as_millis()
            ),
            CallError::Grant(error) => write!(f, "it was not started: {error}"),
            CallError::OutOfTime(time) | CallError::Endless(time) => {
                write!(f, "it ran out of time after {} ms", time.as_millis())
            }
            CallError::Cancelled => f.write_str("it was cancelled"),
            CallError::OutOfMemory(limit) => {
                write!(f, "it ran out of memory (its limit is {})", size(*limit))
            }
            CallError::Handles => f.write_str("it took more handles than a run may"),
            CallError::HostCalls(limit) => {
                write!(
                    f,
                    "it called the host more than {limit} times (`host_calls`)"
                )
            }
            CallError::Trap(trap) => write!(f, "its component trapped ({trap})"),
            CallError::TooLarge {
                what,
                size,
                unit,
                limit,
            } => write!(f, "its {what} has {size} {unit}, the limit is {limit}"),
            CallError::Malformed { what, fault } => write!(f, "its {what} is {fault}"),
        }
    }
}
