//! One call, or one run of a hook: a store, an instance, a result.

use std::{
    borrow::Cow,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::mpsc, task::JoinError};
use wasmtime::{Store, UpdateDeadline};
use windlass_core::{
    host::CancelSignal,
    tool::{Access, FsGrant, ToolCall, ToolResult},
};

use super::{
    CallLimits,
    authority::Bound,
    bindings::windlass::plugin::types as wit,
    component::{Plugin, PluginHost},
    engine::Runtime,
    host::{CallState, MAX_NOTES},
    limits::Meter,
    linked::Linked,
    network::Exchanges,
    outcome::{CallError, Stopped, Watch, trap_text},
    progress::Reports,
    result::{output, output_size},
    usage::CallUsage,
    wasi::state::Wasi,
};
use crate::files::Reach;

impl Plugin {
    /// Runs a call to its end on the current thread. Any failure is an error result with the reason.
    ///
    /// Blocks during computation and file access. On an async runtime, use [`Plugin::call`].
    #[must_use]
    pub fn call_blocking(&self, call: &ToolCall, cancel: &CancelSignal) -> ToolResult {
        self.run(call, cancel, &Arc::default(), Reports::new(None))
            .unwrap_or_else(|error| ToolResult::error(error.to_string()))
    }

    /// Runs a call on a thread of tokio's blocking pool. Dropping the future stops the call.
    pub async fn call(&self, call: ToolCall, cancel: CancelSignal) -> ToolResult {
        self.started(call, cancel, Reports::new(None)).await
    }

    /// The same, with what the call reports meanwhile. It starts at once; dropping the future stops it.
    pub(crate) fn call_reporting(
        &self,
        call: ToolCall,
        cancel: CancelSignal,
        reports: mpsc::Sender<String>,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        self.started(call, cancel, Reports::new(Some(reports)))
    }

    /// The most access that calls of a tool have to the directories of roles: what says that it only reads, only reads there.
    fn most_access(&self, tool: &str) -> Access {
        let mut tools = self.1.tools.iter();
        match tools.find(|known| known.name == tool) {
            Some(known) if known.annotations.read_only => Access::Read,
            _ => Access::Write,
        }
    }

    /// What a run was granted, and the directories of the plugin's roles as well.
    pub(super) fn reachable<'a>(&self, grant: &'a FsGrant, most: Access) -> Cow<'a, FsGrant> {
        self.1.authority.roles.added(grant, most, &self.1.closed)
    }

    fn started(
        &self,
        call: ToolCall,
        cancel: CancelSignal,
        reports: Reports,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let plugin = self.clone();
        let done = off_thread(move |abandoned| plugin.run(&call, &cancel, &abandoned, reports));
        async move {
            match done.await {
                Ok(Ok(result)) => result,
                Ok(Err(error)) => ToolResult::error(error.to_string()),
                // The runtime is shutting down, or the host has a bug.
                Err(error) => {
                    ToolResult::error(format!("The tool was not run to its end: {error}."))
                }
            }
        }
    }

    fn run(
        &self,
        call: &ToolCall,
        cancel: &CancelSignal,
        abandoned: &Arc<AtomicBool>,
        reports: Reports,
    ) -> Result<ToolResult, CallError> {
        let limits = &self.0.limits;
        let time = call
            .timeout_ms
            .map_or(limits.time, |ms| Duration::from_millis(ms.into()));
        let grant = self.reachable(&call.grant, self.most_access(&call.name));
        let terms = Terms {
            grant: &grant,
            time,
            cancel,
            abandoned,
        };
        let result = self.in_instance(&terms, reports, |linked, store| {
            let tools = linked.tools()?.instantiate(&mut *store)?;
            let mut result = tools.call_call(&mut *store, &input(call))?;
            let state = store.data_mut();
            state.output = output_size(&result);
            state.may_call()?;
            state.keep_written_files()?;
            state.keep_own_observations(&mut result.observed, limits.observations);
            Ok(result)
        })?;
        output(result, limits)
    }

    /// Runs work in a fresh instance, unless the component has trapped too often.
    pub(super) fn in_instance<T>(
        &self,
        terms: &Terms<'_>,
        reports: Reports,
        work: impl FnOnce(&Linked, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let bench = &self.0.bench;
        if bench.is_benched() {
            return Err(CallError::Benched {
                component: self.name().to_owned(),
            });
        }
        let end = self.in_store(terms, reports, work);
        bench.ended(&end);
        end
    }

    fn in_store<T>(
        &self,
        terms: &Terms<'_>,
        reports: Reports,
        work: impl FnOnce(&Linked, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let unavailable = |reason: &str| CallError::Unavailable {
            component: self.name().to_owned(),
            reason: reason.to_owned(),
        };
        let is_stopped = || terms.cancel.is_cancelled() || terms.abandoned.load(Ordering::Acquire);
        let linked = self.0.ready(is_stopped);
        let linked = linked.map_err(|fault| self.unprepared(fault))?;
        let runtime = self.0.host.runtime().map_err(unavailable)?;
        let config = &self.0.host.config;
        let limits = &self.0.limits;
        let call = Call {
            component: Arc::clone(&self.0.name),
            watch: Watch::new(
                terms.time,
                terms.cancel.clone(),
                Arc::clone(terms.abandoned),
            ),
            reach: config.files.reach(terms.grant)?,
            bound: self.1.clone(),
            reports,
        };
        let mut store = call.begin(&self.0.host, runtime, limits);
        if config.usage.is_some() {
            // Counted, not limited: deadlines end calls.
            store
                .set_fuel(u64::MAX)
                .map_err(|error| unavailable(&error.to_string()))?;
        }
        let ticking = runtime.ticker.ticking();
        let done = work(linked, &mut store).and_then(|result| {
            // What called too often and ended before anybody looked has called too often, too.
            store.data().may_call()?;
            store.data_mut().keep_written_files()?;
            Ok(result)
        });
        drop(ticking);
        store.data().report_refusals();
        if let Some(sink) = &config.usage {
            sink.take(usage(&store, limits));
        }
        done.map_err(|error| failure(&error, store.data(), terms.time, limits))
    }
}

/// What is a call's own, among what it needs.
pub(super) struct Call {
    pub(super) component: Arc<str>,
    pub(super) watch: Watch,
    pub(super) reach: Reach,
    pub(super) bound: Bound,
    pub(super) reports: Reports,
}

impl Call {
    /// A store in which the call can begin, with its limits and its deadline.
    pub(super) fn begin(
        self,
        host: &PluginHost,
        runtime: &Runtime,
        limits: &CallLimits,
    ) -> Store<CallState> {
        let state = CallState {
            meter: Meter::new(limits),
            watch: self.watch,
            reach: self.reach,
            component: self.component,
            log: host.config.log.clone(),
            log_left: limits.log,
            output: 0,
            handles: 0,
            wasi: Wasi::default(),
            calls: 0,
            most_calls: limits.host_calls,
            notes_left: MAX_NOTES,
            bound: self.bound,
            network: Arc::clone(&host.network),
            exchanges: Exchanges::new(limits.http),
            secrets: host.config.secrets.clone(),
            reports: self.reports,
        };
        let mut store = Store::new(&runtime.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.transfer);
        store.epoch_deadline_callback(|store| {
            store.data().may_go_on()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store.set_epoch_deadline(1);
        store
    }
}

/// What a run of a component is given.
pub(super) struct Terms<'a> {
    /// The files that it may reach.
    pub(super) grant: &'a FsGrant,
    /// The time from its start to its result.
    pub(super) time: Duration,
    pub(super) cancel: &'a CancelSignal,
    /// Set when nobody waits for the result any more.
    pub(super) abandoned: &'a Arc<AtomicBool>,
}

/// Starts work on a thread of tokio's blocking pool. When the future is dropped, the flag that the work is given is set.
pub(super) fn off_thread<T: Send + 'static>(
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let abandon = AbandonOnDrop::default();
    let abandoned = Arc::clone(&abandon.0);
    let done = tokio::task::spawn_blocking(move || work(abandoned));
    async move {
        let _abandon = abandon;
        done.await
    }
}

/// Stops a call whose future was dropped.
#[derive(Default)]
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What a call used.
fn usage(store: &Store<CallState>, limits: &CallLimits) -> CallUsage {
    let state = store.data();
    CallUsage {
        // Where nothing counts, nothing is left over.
        fuel: u64::MAX - store.get_fuel().unwrap_or(u64::MAX),
        memory: state.meter.memory(limits),
        host_calls: state.calls,
        output: state.output,
        log: limits.log - state.log_left,
    }
}

fn input(call: &ToolCall) -> wit::ToolCall {
    wit::ToolCall {
        name: call.name.clone(),
        input: call.input.get().to_owned(),
        observed: call
            .observed
            .iter()
            .map(|seen| wit::Observation {
                path: seen.path.clone(),
                digest: seen.digest.clone(),
                whole: seen.whole,
            })
            .collect(),
    }
}

/// Describes why a call did not complete.
fn failure(
    error: &wasmtime::Error,
    state: &CallState,
    time: Duration,
    limits: &CallLimits,
) -> CallError {
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::OutOfTime) => CallError::OutOfTime(time),
        Some(Stopped::Cancelled) => CallError::Cancelled,
        Some(Stopped::Handles) => CallError::Handles,
        Some(Stopped::HostCalls) => CallError::HostCalls(limits.host_calls),
        // A component that is refused memory usually aborts with `unreachable`.
        None if state.meter.refused_memory => CallError::OutOfMemory(limits.memory),
        None => CallError::Trap(trap_text(error)),
    }
}
