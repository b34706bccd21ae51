//! One call, or one run of a hook: a store, an instance, a result. A component that keeps its instance has one for the calls of its
//! session.

use std::{
    borrow::Cow,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::Either;
use tokio::sync::mpsc;
use wasmtime::{Store, UpdateDeadline};
use windlass_core::{
    host::CancelSignal,
    tool::{Access, FsGrant, ToolCall, ToolResult},
};

use super::{
    CallLimits,
    bindings::windlass::plugin::types as wit,
    call_state::{CallPart, CallState, InstancePart},
    component::{Plugin, PluginHost},
    engine::Runtime,
    linked::Linked,
    off_thread::{off_thread, spawned},
    outcome::{CallError, Stopped, Watch, trap_text},
    progress::Reports,
    result::{output, output_size},
    session_instance::{NoTurn, Turn},
    tool_instance::ToolInstance,
    usage::CallUsage,
};

impl Plugin {
    /// Runs a call to its end on the current thread. Any failure is an error result with the reason.
    ///
    /// Blocks during computation and file access, and while another call has the instance of the session. On an async runtime, use
    /// [`Plugin::call`].
    #[must_use]
    pub fn call_blocking(&self, call: &ToolCall, cancel: &CancelSignal) -> ToolResult {
        let abandoned = Arc::default();
        let turn = self.session_instance().map(|instance| {
            self.ready(cancel, &abandoned)?;
            instance
                .turn_blocking(&self.watch(call, cancel, &abandoned))
                .map_err(|fault| self.without_turn(call, &fault))
        });
        turn.transpose()
            .and_then(|turn| self.run(call, cancel, &abandoned, Reports::new(None), turn))
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
        let done = match self.session_instance().cloned() {
            None => Either::Left(off_thread(move |abandoned| {
                plugin.run(&call, &cancel, &abandoned, reports, None)
            })),
            Some(instance) => Either::Right(spawned(|abandoned| async move {
                let (all, cancelled, gone) = (plugin.clone(), cancel.clone(), abandoned.clone());
                let ready = move || all.ready(&cancelled, &gone).map(drop);
                if let Err(fault) = tokio::task::spawn_blocking(ready).await? {
                    return Ok(Err(fault));
                }
                // No thread is blocked while it waits for the calls before it.
                let watch = plugin.watch(&call, &cancel, &abandoned);
                let turn = match instance.turn(&watch).await {
                    Ok(turn) => turn,
                    Err(fault) => return Ok(Err(plugin.without_turn(&call, &fault))),
                };
                let run = move || plugin.run(&call, &cancel, &abandoned, reports, Some(turn));
                tokio::task::spawn_blocking(run).await
            })),
        };
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

    /// The watch of a call that waits for its turn, which its time limit holds for, too.
    fn watch(&self, call: &ToolCall, cancel: &CancelSignal, abandoned: &Arc<AtomicBool>) -> Watch {
        Watch::new(self.time(call), cancel.clone(), Arc::clone(abandoned))
    }

    fn time(&self, call: &ToolCall) -> Duration {
        let own = call.timeout_ms;
        own.map_or(self.0.limits.time, |ms| Duration::from_millis(ms.into()))
    }

    fn without_turn(&self, call: &ToolCall, fault: &NoTurn) -> CallError {
        let component = self.name().to_owned();
        match fault {
            NoTurn::Crowded(waiting) => CallError::Crowded {
                component,
                waiting: *waiting,
            },
            NoTurn::Stopped(Stopped::OutOfTime) => CallError::Occupied {
                component,
                after: self.time(call),
            },
            NoTurn::Stopped(_) => CallError::Cancelled,
        }
    }

    fn run(
        &self,
        call: &ToolCall,
        cancel: &CancelSignal,
        abandoned: &Arc<AtomicBool>,
        reports: Reports,
        turn: Option<Turn>,
    ) -> Result<ToolResult, CallError> {
        let limits = &self.0.limits;
        let grant = self.reachable(&call.grant, self.most_access(&call.name));
        let terms = Terms {
            grant: &grant,
            time: self.time(call),
            waited: turn.as_ref().map_or(Duration::ZERO, |turn| turn.waited),
            cancel,
            abandoned,
        };
        let (result, instance) = self.unless_benched(|| {
            let mut begun = self.begin(&terms, reports)?;
            let (linked, runtime) = (begun.linked, begun.runtime);
            let kept = turn.as_ref().and_then(Turn::take);
            let (mut store, kept) = match kept.filter(|kept| kept.serves(&mut begun.call)) {
                Some(kept) => kept.given(begun.call),
                None => (self.store(begun.call, runtime), None),
            };
            let (result, tools) = self.in_store(&terms, runtime, &mut store, |store| {
                let tools = match kept {
                    Some(tools) => tools,
                    None => linked.tools()?.instantiate(&mut *store)?,
                };
                let mut result = tools.call_call(&mut *store, &input(call))?;
                let state = store.data_mut();
                state.call.output = output_size(&result);
                state.may_call()?;
                state.keep_written_files()?;
                state.keep_own_observations(&mut result.observed, limits.observations);
                Ok((result, tools))
            })?;
            // Without a turn, its memory is given back before the result is looked at.
            let instance = turn.as_ref().map(|_| ToolInstance { store, tools });
            Ok((result, instance))
        })?;
        let result = output(result, limits)?;
        if let Some((turn, instance)) = turn.zip(instance) {
            self.keep(turn, instance);
        }
        Ok(result)
    }

    /// Keeps the instance of a call that gave a result for the next call of its session, with nothing of this one. One that has been
    /// refused memory begins anew instead.
    fn keep(&self, turn: Turn, instance: ToolInstance) {
        let Ok(nothing) = self.0.host.config.files.reach(&FsGrant::default()) else {
            return;
        };
        let meter = &instance.store.data().instance.meter;
        if !meter.refused_memory {
            let memory = meter.memory(&self.0.limits);
            turn.bring_back(
                instance.with(CallPart::none(nothing, &self.0.limits)),
                memory,
            );
        }
    }

    /// Runs work in a fresh instance, unless the component has trapped too often.
    pub(super) fn in_instance<T>(
        &self,
        terms: &Terms<'_>,
        reports: Reports,
        work: impl FnOnce(&Linked, &mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        self.unless_benched(|| {
            let begun = self.begin(terms, reports)?;
            let (linked, runtime) = (begun.linked, begun.runtime);
            let mut store = self.store(begun.call, runtime);
            self.in_store(terms, runtime, &mut store, |store| work(linked, store))
        })
    }

    fn unless_benched<T>(
        &self,
        run: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let bench = &self.0.bench;
        if bench.is_benched() {
            return Err(CallError::Benched {
                component: self.name().to_owned(),
            });
        }
        let end = run();
        bench.ended(&end);
        end
    }

    /// What a call has when it begins. Its time begins with the component being ready.
    fn begin(&self, terms: &Terms<'_>, reports: Reports) -> Result<Begun<'_>, CallError> {
        let linked = self.ready(terms.cancel, terms.abandoned)?;
        let runtime = self.0.host.runtime();
        let runtime = runtime.map_err(|reason| self.unavailable(reason))?;
        let watch = Watch::new(
            terms.time.saturating_sub(terms.waited),
            terms.cancel.clone(),
            Arc::clone(terms.abandoned),
        );
        let reach = self.0.host.config.files.reach(terms.grant)?;
        let memory = self.take_memory(terms.time, &watch)?;
        let mut call = CallPart::new(watch, reach, self.1.clone(), reports, &self.0.limits);
        call.memory = memory;
        Ok(Begun {
            linked,
            runtime,
            call,
        })
    }

    /// The component, compiled. Waiting for that is no part of the time of a call.
    fn ready(&self, cancel: &CancelSignal, abandoned: &AtomicBool) -> Result<&Linked, CallError> {
        let is_stopped = || cancel.is_cancelled() || abandoned.load(Ordering::Acquire);
        let linked = self.0.ready(is_stopped);
        linked.map_err(|fault| self.unprepared(fault))
    }

    fn store(&self, call: CallPart, runtime: &Runtime) -> Store<CallState> {
        let loaded = &self.0;
        store(call, &loaded.name, &loaded.host, runtime, &loaded.limits)
    }

    fn unavailable(&self, reason: &str) -> CallError {
        CallError::Unavailable {
            component: self.name().to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// Runs work in the store of a call, up to what the call leaves behind.
    fn in_store<T>(
        &self,
        terms: &Terms<'_>,
        runtime: &Runtime,
        store: &mut Store<CallState>,
        work: impl FnOnce(&mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let (config, limits) = (&self.0.host.config, &self.0.limits);
        begin_counting(store, limits);
        if config.usage.is_some() {
            // Counted, not limited: deadlines end calls.
            let full = store.set_fuel(u64::MAX);
            full.map_err(|error| self.unavailable(&error.to_string()))?;
        }
        let ticking = runtime.ticker.ticking();
        let done = work(store).and_then(|result| {
            // What called too often and ended before anybody looked has called too often, too.
            store.data().may_call()?;
            store.data_mut().keep_written_files()?;
            Ok(result)
        });
        drop(ticking);
        store.data().report_refusals();
        if let Some(sink) = &config.usage {
            sink.take(CallUsage::of(store, limits));
        }
        done.map_err(|error| failure(&error, store.data(), terms.time, limits))
    }
}

/// A call that can begin.
struct Begun<'a> {
    linked: &'a Linked,
    runtime: &'a Runtime,
    call: CallPart,
}

/// A store of its own for a call.
pub(super) fn store(
    call: CallPart,
    component: &Arc<str>,
    host: &PluginHost,
    runtime: &Runtime,
    limits: &CallLimits,
) -> Store<CallState> {
    let instance = InstancePart::new(
        Arc::clone(component),
        host.config.log.clone(),
        Arc::clone(&host.network),
        host.config.secrets.clone(),
        host.config.variables.clone(),
        limits,
    );
    let mut store = Store::new(&runtime.engine, CallState { call, instance });
    store.limiter(|state| &mut state.instance.meter);
    store.epoch_deadline_callback(|store| {
        store.data().may_go_on().map_err(Stopped::of_computing)?;
        Ok(UpdateDeadline::Continue(1))
    });
    begin_counting(&mut store, limits);
    store
}

/// Begins what wasmtime itself counts for a call.
fn begin_counting(store: &mut Store<CallState>, limits: &CallLimits) {
    store.set_hostcall_fuel(limits.transfer);
    store.set_epoch_deadline(1);
}

/// What a run of a component is given.
pub(super) struct Terms<'a> {
    /// The files that it may reach.
    pub(super) grant: &'a FsGrant,
    /// The time from its start to its result.
    pub(super) time: Duration,
    /// What has passed of it.
    pub(super) waited: Duration,
    pub(super) cancel: &'a CancelSignal,
    /// Set when nobody waits for the result any more.
    pub(super) abandoned: &'a Arc<AtomicBool>,
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
        Some(stopped) => stopped.error(time, limits.host_calls),
        // A component that is refused memory usually aborts with `unreachable`.
        None if state.instance.meter.refused_memory => CallError::OutOfMemory(limits.memory),
        None => CallError::Trap(trap_text(error)),
    }
}
