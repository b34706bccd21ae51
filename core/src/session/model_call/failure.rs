//! Failed model calls: retry, fallback model, or error.

use alloc::{borrow::ToOwned, string::String};

use super::super::{Event, Outcome, Shared, Thread};
use crate::{
    effect::{HttpFailure, HttpFailureKind},
    message::{ApiRetry, Message, ModelFallback, SystemMessage},
    model::ErrorClass,
    provider::ApiError,
};
/// The longest `retry-after` that is honoured.
const LONGEST_RETRY_AFTER_MS: u64 = 300_000;

impl Thread {
    pub(super) fn count_api_time(&mut self, shared: &mut Shared) {
        let waited = self.run.waited(shared.now.mono);
        let api_ms = match self.is_main() {
            true => &mut self.run.api_ms,
            false => &mut shared.unreported.api_ms,
        };
        *api_ms = api_ms.saturating_add(waited);
    }

    pub(super) fn call_failed(
        &mut self,
        shared: &mut Shared,
        error: ApiError,
        retry_after_ms: Option<u64>,
    ) -> Option<Event> {
        if self.model_call.give_up_suggestion().is_some() {
            return None;
        }
        self.model_call.give_up();
        self.count_api_time(shared);
        let policy = &self.spec.model.retry;
        let fallback = match self.run.compacting() {
            Some(_) => None,
            None => self.fallback_for(&error),
        };
        let max_retries = match fallback {
            Some(_) => policy.max_retries.min(policy.retries_before_fallback),
            None => policy.max_retries,
        };
        let worth_it = error.retryable
            && self.run.attempts() <= max_retries
            && (!policy.only_rate_limits || error.class == ErrorClass::RateLimit);
        if !worth_it && let Some(fallback) = fallback {
            return Some(self.fall_back(shared, fallback, error));
        }
        if !worth_it && self.run.is_compacting() {
            return self.summary_failed(shared, &error);
        }
        if !worth_it && let Some(event) = self.compact_because(shared, &error) {
            return Some(event);
        }
        if !worth_it && let Some(event) = self.mend_results(shared, &error) {
            return Some(event);
        }
        if !worth_it {
            if matches!(error.status, Some(400 | 413 | 422)) {
                self.take_back_prompt();
            }
            self.run.outcome = Some(Outcome::Failed {
                class: Some(error.class),
                message: error.message,
            });
            return Some(Event::GiveUp);
        }
        let delay = self.retry_delay(shared, retry_after_ms);
        self.run.schedule_retry(shared.now.mono.after(delay));
        let uuid = shared.ids.uuid();
        shared.say(Message::System(SystemMessage::ApiRetry(ApiRetry {
            attempt: self.run.attempts(),
            max_retries,
            retry_delay_ms: delay,
            error_status: error.status,
            error: error.class,
            message: error.message,
            uuid,
            session_id: shared.id,
        })));
        Some(Event::Retry)
    }

    /// The model that takes over after this error; none if another model would not help.
    fn fallback_for(&self, error: &ApiError) -> Option<String> {
        let missing = error.status == Some(404);
        let fallback = self.spec.model.fallback.as_ref()?;
        let helps = error.retryable || missing;
        (helps && self.model() != fallback).then(|| fallback.clone())
    }

    /// The fallback model takes over until the run ends (LOOP-12).
    fn fall_back(&mut self, shared: &mut Shared, to: String, error: ApiError) -> Event {
        let from = self.model().to_owned();
        self.run.fall_back();
        let uuid = shared.ids.uuid();
        shared.say(Message::System(SystemMessage::ModelFallback(
            ModelFallback {
                from,
                to,
                error: error.class,
                message: error.message,
                uuid,
                session_id: shared.id,
            },
        )));
        Event::FallBack
    }

    fn retry_delay(&mut self, shared: &mut Shared, retry_after_ms: Option<u64>) -> u64 {
        let policy = &self.spec.model.retry;
        let doublings = self.run.attempts().saturating_sub(1).min(32);
        let backoff = policy
            .base_ms
            .saturating_mul(1 << doublings)
            .min(policy.max_ms);
        // A `retry-after` of 0 is ignored: the backoff applies.
        let asked_for = retry_after_ms
            .filter(|ms| policy.honour_retry_after && *ms > 0)
            .map(|ms| ms.min(LONGEST_RETRY_AFTER_MS));
        let delay = asked_for.unwrap_or(backoff);
        let jitter = delay.saturating_mul(u64::from(policy.jitter_percent)) / 100;
        delay.saturating_add(shared.ids.below(jitter + 1))
    }
}

pub(super) fn transport_error(failure: HttpFailure) -> ApiError {
    ApiError {
        class: match failure.kind {
            HttpFailureKind::Refused => ErrorClass::InvalidRequest,
            HttpFailureKind::TooLarge => ErrorClass::Unknown,
            HttpFailureKind::Connect | HttpFailureKind::Interrupted => ErrorClass::ServerError,
        },
        status: None,
        retryable: matches!(
            failure.kind,
            HttpFailureKind::Connect | HttpFailureKind::Interrupted
        ),
        too_long: false,
        message: failure.message,
    }
}
