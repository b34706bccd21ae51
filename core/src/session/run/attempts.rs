//! Attempts of model calls: retries and the switch to the fallback model.

use super::Run;
use crate::id::Millis;

impl Run {
    /// Starts an attempt for the next response; returns its number.
    pub(in crate::session) fn ask(&mut self, now: Millis) -> u32 {
        self.attempt += 1;
        self.asked_at = now;
        self.attempt
    }

    /// Starts a request for a summary; returns its number in this run. None if no compaction is in progress.
    pub(in crate::session) fn ask_for_summary(&mut self, now: Millis) -> Option<u32> {
        self.compacting.as_mut()?.attempt += 1;
        self.summary_requests += 1;
        self.asked_at = now;
        Some(self.summary_requests)
    }

    /// Milliseconds since the current attempt was sent.
    pub(in crate::session) fn waited(&self, now: Millis) -> u64 {
        now.since(self.asked_at)
    }

    /// How many attempts the current model has had for the next response.
    pub(in crate::session) fn attempts(&self) -> u32 {
        match &self.compacting {
            Some(compacting) => compacting.attempt,
            None => self.attempt.saturating_sub(self.attempts_before),
        }
    }

    /// The response has arrived: the count starts again.
    pub(in crate::session) fn has_answer(&mut self) {
        self.attempt = 0;
        self.attempts_before = 0;
    }

    /// The fallback model takes over until the run ends, with its own count of attempts.
    pub(in crate::session) fn fall_back(&mut self) {
        self.on_fallback = true;
        self.attempts_before = self.attempt;
    }

    /// Whether the fallback model has taken over.
    pub(in crate::session) fn is_on_fallback(&self) -> bool {
        self.on_fallback
    }

    /// Schedules the retry of a failed call.
    pub(in crate::session) fn schedule_retry(&mut self, at: Millis) {
        self.retry_at = Some(at);
    }

    /// When the retry of a failed call is due.
    pub(in crate::session) fn retry_due(&self) -> Option<Millis> {
        self.retry_at
    }

    /// Whether the retry is due; if so, it is taken off the schedule.
    pub(in crate::session) fn take_due_retry(&mut self, now: Millis) -> bool {
        let is_due = self.retry_at.is_some_and(|at| at <= now);
        if is_due {
            self.retry_at = None;
        }
        is_due
    }

    /// Cancels the scheduled retry.
    pub(in crate::session) fn forget_retry(&mut self) {
        self.retry_at = None;
    }
}
