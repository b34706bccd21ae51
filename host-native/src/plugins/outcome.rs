//! How a call ends: the reasons for stopping one, and the error text for the model.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use windlass_core::host::CancelSignal;

use crate::files::GrantError;

/// The number of runs that trapped or did not end, one after another, after which a component is not run any more.
pub(super) const MAX_TRAPS: u32 = 3;

/// Why the host stopped a call. wasmtime carries it as the cause of a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stopped {
    #[error("out of time")]
    OutOfTime,
    #[error("out of time while it computed")]
    Endless,
    #[error("cancelled")]
    Cancelled,
    #[error("too many handles")]
    Handles,
    #[error("too many calls of the host")]
    HostCalls,
}

impl Stopped {
    /// Why a component is stopped whose own code runs, and no function of the host that waits for something.
    pub(super) fn of_computing(self) -> Self {
        match self {
            Self::OutOfTime => Self::Endless,
            other => other,
        }
    }

    /// The error of a call that had this time and might call the host this often.
    pub(super) fn error(self, time: Duration, host_calls: u32) -> CallError {
        match self {
            Self::OutOfTime => CallError::OutOfTime(time),
            Self::Endless => CallError::Endless(time),
            Self::Cancelled => CallError::Cancelled,
            Self::Handles => CallError::Handles,
            Self::HostCalls => CallError::HostCalls(host_calls),
        }
    }
}

/// Checks whether a call has to end.
#[derive(Debug)]
pub(super) struct Watch {
    deadline: Option<Instant>,
    cancel: CancelSignal,
    abandoned: Arc<AtomicBool>,
}

impl Watch {
    pub(super) fn new(time: Duration, cancel: CancelSignal, abandoned: Arc<AtomicBool>) -> Self {
        Self {
            // A timeout too long to be represented means no deadline.
            deadline: Instant::now().checked_add(time),
            cancel,
            abandoned,
        }
    }

    /// The one of a call that has ended: nothing goes on.
    pub(super) fn ended() -> Self {
        let cancel = CancelSignal::new();
        cancel.cancel();
        Self::new(Duration::ZERO, cancel, Arc::default())
    }

    pub(super) fn check(&self) -> Result<(), Stopped> {
        if self.cancel.is_cancelled() || self.abandoned.load(Ordering::Acquire) {
            return Err(Stopped::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stopped::OutOfTime),
            _ => Ok(()),
        }
    }
}

/// Why a call has no result of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallError {
    #[error("The tool's component `{component}` cannot be run: {reason}")]
    Unavailable { component: String, reason: String },
    #[error(
        "The tool was not run: its component `{component}` is still being compiled after {} ms. Compiling goes on: call it again later.", .after.as_millis()
    )]
    Compiling { component: String, after: Duration },
    #[error(
        "The tool was not run: its component `{component}` trapped {MAX_TRAPS} times in a row, and runs again when it is loaded anew."
    )]
    Benched { component: String },
    #[error(
        "The tool was not run: another call of its component `{component}` was still running after {} ms, and it runs one at a time.", .after.as_millis()
    )]
    Occupied { component: String, after: Duration },
    #[error(
        "The tool was not run: {waiting} calls wait for its component `{component}` already, and it runs one at a time. Call it again later."
    )]
    Crowded { component: String, waiting: usize },
    #[error(
        "The tool was not run: the components that run already have the memory that was left of {} for all, also after {} ms. Call it again later.", size(*.most), .after.as_millis()
    )]
    NoMemory { most: usize, after: Duration },
    #[error("The call was not started: {0}")]
    Grant(#[from] GrantError),
    #[error("The tool was stopped: it ran out of time after {} ms.", .0.as_millis())]
    OutOfTime(Duration),
    /// The same, while its own code ran and it waited for nothing.
    #[error("The tool was stopped: it ran out of time after {} ms.", .0.as_millis())]
    Endless(Duration),
    #[error("The tool was stopped: the call was cancelled.")]
    Cancelled,
    #[error("The tool failed: out of memory (its limit is {}).", size(*.0))]
    OutOfMemory(usize),
    #[error("The tool failed: it took more handles than a call may.")]
    Handles,
    #[error("The tool was stopped: it called the host more than {0} times (`host_calls`).")]
    HostCalls(u32),
    #[error("The tool failed: its component trapped ({0}).")]
    Trap(String),
    #[error("The tool failed: its {what} has {size} {unit}, the limit is {limit}.")]
    TooLarge {
        what: &'static str,
        size: usize,
        unit: &'static str,
        limit: usize,
    },
    #[error("The tool failed: its {what} is {fault}.")]
    Malformed { what: &'static str, fault: String },
}

/// A number of bytes of memory in a unit of which there is at least one.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// wasmtime's description of a trap, without the list of addresses.
pub(super) fn trap_text(error: &wasmtime::Error) -> String {
    match error.downcast_ref::<wasmtime::Trap>() {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn card_5_no_limit_is_said_to_be_0() {
        for (bytes, said) in [
            (0, "0 bytes"),
            (1000, "1000 bytes"),
            (1024, "1 KiB"),
            (131_072, "128 KiB"),
            ((1 << 20) - 1, "1023 KiB"),
            (64 << 20, "64 MiB"),
        ] {
            assert_eq!(size(bytes), said);
        }
    }
}
