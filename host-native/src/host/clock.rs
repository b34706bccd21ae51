//! The clock for the core.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use windlass_core::{Millis, Now, UnixMillis};

/// A monotonic clock that starts at zero, and the wall clock. Follows tokio's paused time in tests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Now {
        // A clock set before 1970 counts as 1970.
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            mono: Millis(millis(self.origin.elapsed())),
            wall: UnixMillis(millis(wall)),
        }
    }

    /// Completes when the monotonic clock reaches `until`; never, if that time cannot be represented.
    pub(crate) async fn sleep(&self, until: Millis) {
        match self.origin.checked_add(Duration::from_millis(until.0)) {
            Some(moment) => tokio::time::sleep_until(moment).await,
            None => std::future::pending().await,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
