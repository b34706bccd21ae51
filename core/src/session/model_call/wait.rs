//! Time and size limits of a response.

use alloc::{format, string::String};

use crate::{id::Millis, spec::ResponseLimits};

/// The time and size of a response that is being received.
#[derive(Debug)]
pub(super) struct Wait {
    asked_at: Millis,
    /// When content last arrived, or when the request was sent.
    heard_at: Millis,
    /// The decoder's count of content.
    progress: u64,
    bytes: u64,
}

impl Wait {
    /// Starts at the request.
    pub(super) fn from(now: Millis) -> Self {
        Self {
            asked_at: now,
            heard_at: now,
            progress: 0,
            bytes: 0,
        }
    }

    /// Records progress by the decoder's count; without a count, any data counts.
    pub(super) fn progress(&mut self, progress: Option<u64>, now: Millis) {
        let progress = progress.unwrap_or(self.progress.saturating_add(1));
        if progress != self.progress {
            self.progress = progress;
            self.heard_at = now;
        }
    }

    /// Records that data arrived, even if only a head.
    pub(super) fn heard(&mut self, now: Millis) {
        self.heard_at = now;
    }

    /// Records received bytes; returns whether they exceed the limit.
    pub(super) fn receives(&mut self, bytes: usize, limit: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        limit > 0 && self.bytes > limit
    }

    /// The earliest time limit, and which one it is.
    pub(super) fn due(&self, limits: &ResponseLimits) -> Option<(Millis, Overdue)> {
        let at = |since: Millis, ms: u64, what| (ms > 0).then(|| (since.after(ms), what));
        let idle = at(self.heard_at, limits.idle_ms, Overdue::Idle);
        let total = at(self.asked_at, limits.total_ms, Overdue::Whole);
        idle.into_iter().chain(total).min_by_key(|(at, _)| *at)
    }
}

/// The time limit that was exceeded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Overdue {
    /// Time without content.
    Idle,
    /// Time of the whole response.
    Whole,
}

/// The error message for a time limit that was exceeded.
pub(super) fn too_late(overdue: Overdue, limits: &ResponseLimits) -> String {
    match overdue {
        Overdue::Idle => format!(
            "the model server sent nothing of its response for {}, the limit of silence",
            duration(limits.idle_ms)
        ),
        Overdue::Whole => format!(
            "the model server did not complete its response within {}, the limit for the whole of it",
            duration(limits.total_ms)
        ),
    }
}

/// The error message for a response that exceeds the size limit.
pub(super) fn too_large(limit: u64) -> String {
    format!("the model server's response exceeds {limit} bytes, the limit for the whole of it")
}

fn duration(ms: u64) -> String {
    match ms {
        ms if ms % 60_000 == 0 => format!("{} minutes", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("{} seconds", ms / 1_000),
        ms => format!("{ms} milliseconds"),
    }
}
