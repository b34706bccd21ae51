//! Components that trap again and again are not run any more.

use std::sync::atomic::{AtomicU32, Ordering};

use super::outcome::{CallError, MAX_TRAPS};

/// Counts the runs of a component that trapped, or computed without an end, since the last one that did not.
#[derive(Debug, Default)]
pub(super) struct Bench {
    traps: AtomicU32,
}

impl Bench {
    /// Whether the component is not run any more.
    pub(super) fn is_benched(&self) -> bool {
        self.traps.load(Ordering::Relaxed) >= MAX_TRAPS
    }

    /// Counts how a run of the component ended. A run that ended well after the component was benched changes nothing.
    pub(super) fn ended<T>(&self, end: &Result<T, CallError>) {
        let next = |traps: u32| match end {
            _ if traps >= MAX_TRAPS => None,
            Ok(_) => Some(0),
            Err(
                CallError::Trap(_)
                | CallError::Endless(_)
                | CallError::OutOfMemory(_)
                | CallError::Handles
                | CallError::HostCalls(_),
            ) => Some(traps + 1),
            // Not the component's fault, or not known to be: what it waited for was slow.
            Err(_) => None,
        };
        // `None` leaves the number as it is.
        let _ = self
            .traps
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }
}
