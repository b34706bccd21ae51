//! The end of a run: interrupts, cleanup, and the result.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use super::{Event, Line, Outcome, Phase, Shared, Thread, output::given_up};
use crate::{
    content::Block,
    context::interruption::BUDGET_USED_UP,
    effect::{EffectId, Stage},
    hook::{Occurrence, input::StopFailure},
    id::Uuid,
    message::{ApiMessage, AssistantMessage, Message, ResultMessage, ResultSubtype},
    model::{ErrorClass, StopReason, Usage},
    tool::ToolResult,
};

/// The attempt number for entries that follow the results of a response. The results may have been written already, and written
/// again after a repair.
const BEHIND_RESULTS: u32 = 3;

impl Thread {
    /// Ends the run in any phase. Does nothing if idle.
    pub(super) fn interrupt(&mut self, shared: &mut Shared, outcome: Outcome) {
        let ending = matches!(
            self.phase(),
            Phase::Idle | Phase::Stopping | Phase::SavingEnd | Phase::Finishing
        );
        if ending {
            self.forget_suggestion(shared);
            if self.phase() != Phase::Idle {
                // The result waits only for hooks, which are cancelled here.
                self.cancel_hooks(shared);
            }
            return;
        }
        let by_somebody = outcome == Outcome::Interrupted;
        self.run.outcome = Some(outcome);
        self.run.forget_retry();
        if self.run.end_compaction().is_some() {
            self.emit_compaction_over(shared, Some("interrupted"));
        }
        if by_somebody {
            self.keep_words(shared);
        }
        self.model_call.give_up();
        let running: Vec<EffectId> = self
            .running(shared)
            .filter(|id| !id.stage.saves())
            .collect();
        for id in running {
            shared.cancel(id);
        }
        self.go_on(shared, Some(Event::Interrupt));
    }

    /// Continues after an interrupt once nothing is running any more.
    pub(super) fn drained_if_quiet(&mut self, shared: &mut Shared) {
        let event = self.drained(shared);
        self.go_on(shared, event);
    }

    /// The event to continue with if the run is being interrupted and nothing is running any more.
    pub(super) fn drained(&self, shared: &Shared) -> Option<Event> {
        let is_drained = self.phase() == Phase::Stopping
            && self.running(shared).next().is_none()
            && !self.waits_for_agent();
        is_drained.then_some(Event::Drained)
    }

    pub(super) fn transcript_failed(&mut self, shared: &mut Shared, reason: &str) -> Option<Event> {
        self.run.transcript_broken = true;
        self.writing.failed();
        let outcome = Outcome::Failed {
            class: None,
            message: format!("the transcript could not be written: {reason}"),
        };
        match self.phase() {
            Phase::SavingEnd => {
                self.run.outcome = Some(outcome);
                return Some(Event::Interrupt);
            }
            // The run is being stopped already; this is now the reason.
            Phase::Stopping => self.run.outcome = Some(outcome),
            _ => self.interrupt(shared, outcome),
        }
        None
    }

    /// Gives every unanswered call a result, so that the history stays valid, and writes them.
    pub(super) fn save_end(&mut self, shared: &mut Shared) -> Option<Event> {
        for index in 0..self.run.calls.len() {
            // The result that hooks were examining is used.
            if let Some(result) = self.run.calls[index].take_reviewed() {
                self.finish_call(shared, index, result);
            }
            let call = &self.run.calls[index];
            if call.is_done() {
                continue;
            }
            let text = match self.run.outcome {
                _ if call.is_running() => {
                    "The call was interrupted while it ran; what it did until then is unknown."
                }
                Some(Outcome::MaxBudget(_)) => BUDGET_USED_UP,
                _ => "The call was not run: the run was interrupted before it.",
            };
            self.finish_call(shared, index, ToolResult::error(text));
        }
        let in_calls = !self.run.calls.is_empty();
        let mut lines: Vec<Line> = self.kept_words().into_iter().collect();
        if in_calls {
            lines.extend(self.collect_results());
        }
        lines.extend(self.mark_interruption(shared, in_calls));
        if lines.is_empty() {
            return self.after_save(shared);
        }
        if in_calls {
            return self.save(shared, Stage::SaveResults, lines);
        }
        self.turns.write_end();
        self.save_under(shared, Stage::SaveResults, BEHIND_RESULTS, lines)
    }

    /// The result message, once nothing is running that could add a message after it.
    pub(super) fn report_if_quiet(&mut self, shared: &mut Shared) -> Option<Event> {
        self.tell_hooks_of_failure(shared);
        let is_due = self.phase() == Phase::Finishing && self.hooks.are_quiet();
        is_due.then(|| self.report(shared))
    }

    /// A model call failure ends the run: runs the hooks for it, once, before the result.
    fn tell_hooks_of_failure(&mut self, shared: &mut Shared) {
        let Some(Outcome::Failed {
            class: Some(error),
            message,
        }) = &self.run.outcome
        else {
            return;
        };
        if self.phase() != Phase::Finishing || !self.is_main() || self.run.failure_told {
            return;
        }
        let occurrence = Occurrence::StopFailure(StopFailure {
            error: *error,
            error_details: Some(message.clone()),
            last_assistant_message: (!self.run.text.is_empty()).then(|| self.run.text.clone()),
        });
        self.run.failure_told = true;
        self.tell_hooks(shared, occurrence);
    }

    /// Emits the result, the last message of the run.
    fn report(&mut self, shared: &mut Shared) -> Event {
        if let Some(Outcome::Failed {
            class: Some(class),
            message,
        }) = self.run.outcome.clone()
        {
            self.emit_failed_response(shared, class, &message);
        }
        let outcome = self.run.outcome.take().unwrap_or(Outcome::Success);
        self.turns.run_ended();
        let mut run = core::mem::take(&mut self.run);
        if !self.is_main() {
            self.end_subagent(shared, outcome, run);
            return Event::Reported;
        }
        self.may_suggest(&run, &outcome);
        // Usage and denials of subagents are part of the answer.
        let unreported = core::mem::take(&mut shared.unreported);
        run.usage.add(&unreported.usage);
        run.api_ms = run.api_ms.saturating_add(unreported.api_ms);
        run.denials.extend(unreported.denials);
        let (subtype, errors) = match outcome {
            Outcome::Success => (ResultSubtype::Success, None),
            Outcome::StoppedByHook(reason) => {
                // If the model wrote nothing, the reason of whoever ended the run is used.
                if run.text.is_empty() {
                    run.text = reason;
                }
                (ResultSubtype::Success, None)
            }
            Outcome::MaxTurns(max) => (
                ResultSubtype::ErrorMaxTurns,
                Some(format!(
                    "reached the limit of {max} tool rounds (max_turns)"
                )),
            ),
            Outcome::MaxBudget(budget) => (
                ResultSubtype::ErrorMaxBudgetUsd,
                Some(format!("used up the budget of ${budget} (max_budget_usd)")),
            ),
            Outcome::Interrupted => (
                ResultSubtype::ErrorDuringExecution,
                Some("interrupted".to_owned()),
            ),
            Outcome::NoOutput { tries, fault } => (
                ResultSubtype::ErrorMaxStructuredOutputRetries,
                Some(given_up(tries, &fault)),
            ),
            Outcome::Failed { message, .. } => (ResultSubtype::ErrorDuringExecution, Some(message)),
        };
        let result = ResultMessage {
            subtype,
            is_error: errors.is_some(),
            duration_ms: shared.now.mono.since(run.started),
            duration_api_ms: run.api_ms,
            num_turns: run.num_turns,
            structured_output: run.output.answer.filter(|_| errors.is_none()),
            result: errors.is_none().then_some(run.text),
            errors: errors.map(|error| vec![error]),
            stop_reason: match run.deferred {
                Some(_) => Some(StopReason::Other("tool_deferred".to_owned())),
                None => run.stop_reason,
            },
            deferred_tool_use: run.deferred,
            total_cost_usd: shared.cost,
            usage: run.usage,
            model_usage: shared.model_usage.clone(),
            permission_denials: run.denials,
            uuid: shared.ids.uuid(),
            session_id: shared.id,
        };
        shared.say(Message::Result(result));
        Event::Reported
    }

    /// Emits an assistant message that stands for the failed response. It is not part of the history.
    fn emit_failed_response(&mut self, shared: &mut Shared, class: ErrorClass, message: &str) {
        if self.is_muted() {
            return; // its call is answered with the error
        }
        let (id, uuid): (Uuid, Uuid) = (shared.ids.uuid(), shared.ids.uuid());
        shared.say(Message::Assistant(AssistantMessage {
            message: ApiMessage {
                id: format!("{id}"),
                kind: "message".to_owned(),
                role: "assistant".to_owned(),
                model: String::from("<synthetic>"),
                content: vec![Block::text(message).to_raw()],
                stop_reason: Some(StopReason::StopSequence),
                stop_sequence: None,
                usage: Usage::default(),
            },
            parent_tool_use_id: self.parent_tool_use_id(),
            error: Some(class),
            aborted: false,
            uuid,
            session_id: shared.id,
        }));
    }
}
