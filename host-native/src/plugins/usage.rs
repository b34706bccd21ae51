//! What a call used of its limits, for the authors of plugins.

use std::{fmt, sync::Arc};

use wasmtime::Store;

use super::{CallLimits, call_state::CallState};

/// What one call used, whether it succeeded or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallUsage {
    /// Instructions, as wasmtime counts them. The same component needs the same for the same answers of the host.
    pub fuel: u64,
    /// Bytes of linear memory at the end of the call. Memory does not shrink.
    pub memory: usize,
    /// Calls of functions of the host.
    pub host_calls: u32,
    /// Bytes of text and images in the result, and of its structured output.
    pub output: usize,
    /// Bytes of log messages.
    pub log: usize,
}

impl CallUsage {
    /// What the call in a store has used.
    pub(super) fn of(store: &Store<CallState>, limits: &CallLimits) -> Self {
        let state = store.data();
        Self {
            // Where nothing counts, nothing is left over.
            fuel: u64::MAX - store.get_fuel().unwrap_or(u64::MAX),
            memory: state.instance.meter.memory(limits),
            host_calls: state.call.calls,
            output: state.call.output,
            log: limits.log - state.call.log_left,
        }
    }
}

/// Receives what calls used; called on the thread of the call, before its result is returned.
///
/// A host with one counts instructions, which costs every call about a third of its speed.
#[derive(Clone)]
pub struct UsageSink(Arc<dyn Fn(CallUsage) + Send + Sync>);

impl UsageSink {
    /// A sink that calls a function with what each call used.
    pub fn new(take: impl Fn(CallUsage) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub(super) fn take(&self, usage: CallUsage) {
        (self.0)(usage);
    }
}

impl fmt::Debug for UsageSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UsageSink")
    }
}
