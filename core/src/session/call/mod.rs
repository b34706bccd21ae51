//! The tool calls of a response: scheduling, permission decisions, and results.
//!
//! The path of a call: [`check`] its input and resolve the paths it names, [`judge`] it, [`perform`] it, and deliver its
//! [`results`] to the model and the application.

mod batch;
mod check;
mod core_tool;
mod hook_state;
mod hooked;
mod ids;
mod judge;
mod perform;
mod record;
mod results;
mod shell;
mod spelled;
mod subject;
mod workplace;
mod worktree;

pub(super) use self::{ids::CallIds, record::Call, workplace::Workplace};

use self::record::CallState;
use super::{Event, Phase, Shared, Thread};
use crate::{
    effect::{Answer, EffectId, Probed, Stage},
    tool::ToolResult,
};

impl Thread {
    /// Starts every call whose turn it is. Read-only calls run concurrently, all others alone and in the order of the response
    /// (LOOP-15). Agents run concurrently; calls that concern the same agent run in the order of the response.
    pub(in crate::session) fn schedule_calls(&mut self, shared: &mut Shared) -> Option<Event> {
        // Of the calls before: whether all are done, and whether the unfinished ones are all read-only.
        let (mut all_done, mut only_reading) = (true, true);
        for index in 0..self.run.calls.len() {
            let reads = self.only_reads(index);
            if self.run.calls[index].state == CallState::Waiting {
                if !(all_done || reads && only_reading) {
                    break;
                }
                if self.run.hook_stop.is_some() {
                    self.refuse_after_stop(shared, index);
                } else {
                    self.begin(shared, index);
                }
            }
            if self.run.calls[index].state != CallState::Done {
                all_done = false;
                only_reading &= reads;
            }
        }
        let settled = self.run.calls.iter().all(|c| c.state == CallState::Done);
        (settled && !self.show_batch_to_hooks(shared)).then_some(Event::Settled)
    }

    pub(super) fn only_reads(&self, index: usize) -> bool {
        !self.spec.tools.sequential
            && !self.run.calls[index].shares_agent
            && self
                .spec
                .tool(&self.run.calls[index].name)
                .is_some_and(|tool| tool.annotations.read_only)
    }

    /// A call has ended: starts the calls that waited for it.
    pub(in crate::session) fn go_on_with_calls(&mut self, shared: &mut Shared) {
        if self.phase() == Phase::Tooling {
            let event = self.schedule_calls(shared);
            self.go_on(shared, event);
        }
    }

    pub(in crate::session) fn call_effect(
        &self,
        shared: &Shared,
        index: usize,
        stage: Stage,
    ) -> EffectId {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        self.effect_id(shared, number, stage, self.run.calls[index].attempt)
    }

    /// Why the call that an effect runs was allowed to run.
    pub(in crate::session) fn decision(&self, id: EffectId) -> Option<&str> {
        if id.stage != Stage::Run || id.turn != self.turns.current() {
            return None;
        }
        let index = id.call.checked_sub(1)? as usize;
        self.run.calls.get(index)?.decision.as_deref()
    }

    pub(in crate::session) fn call_answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) {
        let index = id.call.saturating_sub(1) as usize;
        if id.turn != self.turns.current() || index >= self.run.calls.len() {
            return; // of a round that is over
        }
        if self.run.calls[index].state == CallState::Done {
            return;
        }
        let last = answer.is_last();
        match answer {
            // Progress of the permission tool is not progress of the call.
            Answer::Progress(_) if matches!(id.stage, Stage::Ask | Stage::Provision) => {}
            Answer::Progress(_) => self.emit_progress(shared, index),
            // The run is ending: neither a permission answer nor an agent's tools may start anything now.
            Answer::Tool(_)
                if was_cancelled && matches!(id.stage, Stage::Ask | Stage::Provision) => {}
            Answer::Tool(result) if id.stage == Stage::Ask => {
                self.prompt_answered(shared, index, &result);
            }
            // Only the result is used while the call is waited for.
            Answer::Output(_) => {}
            Answer::Tool(result) if id.stage == Stage::Provision => {
                self.provisioned(shared, index, &result);
            }
            Answer::Tool(result) => self.ran(shared, index, result),
            // The result is used even during an interrupt: the call did complete.
            Answer::Probed(Probed::Done(result)) => self.ran(shared, index, result),
            // The run is ending: nothing new is started or judged.
            _ if was_cancelled => self.tell_hooks_of_interrupt(shared, index),
            Answer::Resolved(paths) => self.resolved(shared, index, paths),
            Answer::Permission(response) => self.permitted(shared, index, response),
            Answer::Probed(Probed::NotDone) => self.run_under_its_name(shared, index),
            _ if id.stage == Stage::Probe => self.outcome_unknown(shared, index),
            _ => {
                let text = "The host dropped the call without a result.";
                self.finish_call(shared, index, ToolResult::error(text));
            }
        }
        if last {
            self.go_on_with_calls(shared);
        }
    }
}
