//! How often the model was asked for a response: when it is asked again, and when another model takes over.

use super::Run;
use crate::id::Millis;

impl Run {
    /// The model is asked for the response that is awaited; the number of the attempt.
    pub(in crate::session) fn ask(&mut self, now: Millis) -> u32 {
        self.attempt += 1;
        self.asked_at = now;
        self.attempt
    }

    /// The model is asked for a summary; the number of the request in this run. None where no compaction is under way.
    pub(in crate::session) fn ask_for_summary(&mut self, now: Millis) -> Option<u32> {
        self.compacting.as_mut()?.attempt += 1;
        self.summary_requests += 1;
        self.asked_at = now;
        Some(self.summary_requests)
    }

    /// How long the current attempt has taken by now.
    pub(in crate::session) fn waited(&self, now: Millis) -> u64 {
        now.since(self.asked_at)
    }

    /// How often the model in use has been asked for the response that is awaited.
    pub(in crate::session) fn attempts(&self) -> u32 {
        match &self.compacting {
            Some(compacting) => compacting.attempt,
            None => self.attempt.saturating_sub(self.attempts_before),
        }
    }

    /// The response has come: the next one is asked for anew.
    pub(in crate::session) fn has_answer(&mut self) {
        self.attempt = 0;
        self.attempts_before = 0;
    }

    /// Another model takes over until the run ends, with attempts of its own.
    pub(in crate::session) fn fall_back(&mut self) {
        self.on_fallback = true;
        self.attempts_before = self.attempt;
    }

    /// Whether the fallback model has taken over.
    pub(in crate::session) fn is_on_fallback(&self) -> bool {
        self.on_fallback
    }

    /// A failed call is made again at this moment.
    pub(in crate::session) fn schedule_retry(&mut self, at: Millis) {
        self.retry_at = Some(at);
    }

    /// When a failed call is made again.
    pub(in crate::session) fn retry_due(&self) -> Option<Millis> {
        self.retry_at
    }

    /// Whether that moment has come; then it is over.
    pub(in crate::session) fn take_due_retry(&mut self, now: Millis) -> bool {
        let is_due = self.retry_at.is_some_and(|at| at <= now);
        if is_due {
            self.retry_at = None;
        }
        is_due
    }

    /// No failed call is made again.
    pub(in crate::session) fn forget_retry(&mut self) {
        self.retry_at = None;
    }
}
