//! Time and size limits of a response.

use alloc::{format, string::String};

use super::{
    super::{Event, Shared, Thread},
    Incoming,
};
use crate::{
    effect::{HttpFailure, HttpFailureKind},
    id::Millis,
    spec::ResponseLimits,
};

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

    /// Records received bytes; returns whether they exceed the limit.
    pub(super) fn receives(&mut self, bytes: usize, limit: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        limit > 0 && self.bytes > limit
    }

    /// The earliest time limit, and which one it is.
    fn due(&self, limits: &ResponseLimits) -> Option<(Millis, Overdue)> {
        let at = |since: Millis, ms: u64, what| (ms > 0).then(|| (since.after(ms), what));
        let idle = at(self.heard_at, limits.idle_ms, Overdue::Idle);
        let total = at(self.asked_at, limits.total_ms, Overdue::Whole);
        idle.into_iter().chain(total).min_by_key(|(at, _)| *at)
    }
}

/// The time limit that was exceeded.
#[derive(Debug, Clone, Copy)]
enum Overdue {
    /// Time without content.
    Idle,
    /// Time of the whole response.
    Whole,
}

impl Incoming {
    fn due(&self, limits: &ResponseLimits) -> Option<(Millis, Overdue)> {
        // A complete response only waits for the connection to be closed.
        let waits = self.complete_since.is_none();
        waits.then(|| self.wait.due(limits)).flatten()
    }
}

impl Thread {
    /// When the current response exceeds a time limit.
    pub(in crate::session) fn response_due(&self) -> Option<Millis> {
        let due = self
            .model_call
            .incoming
            .as_ref()?
            .due(&self.spec.model.response)?;
        Some(due.0)
    }

    /// Records data that was received, even if only a head.
    pub(super) fn note_progress(&mut self, shared: &Shared) {
        if let Some(incoming) = &mut self.model_call.incoming {
            incoming.wait.heard_at = shared.now.mono;
        }
    }

    /// Abandons a response that has exceeded a time limit.
    pub(in crate::session) fn stop_waiting_if_due(&mut self, shared: &mut Shared) -> Option<Event> {
        let incoming = self.model_call.incoming.as_ref()?;
        let due = incoming.due(&self.spec.model.response);
        let (_, overdue) = due.filter(|(at, _)| *at <= shared.now.mono)?;
        let message = too_late(overdue, &self.spec.model.response);
        shared.cancel(incoming.id);
        let failure = HttpFailure::new(HttpFailureKind::Interrupted, &message);
        self.broken_off(shared, failure)
    }
}

fn too_late(overdue: Overdue, limits: &ResponseLimits) -> String {
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
