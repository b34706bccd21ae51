//! After a restore: effects that the host no longer runs are lost, and each kind of effect is recovered in its own way.

use alloc::vec::Vec;

use super::{Phase, Session, Shared, Thread};
use crate::{
    effect::{EffectId, Output, Stage},
    tool::{RetryClass, ToolResult},
};

impl Session {
    /// Takes the list of effects that are still running, and recovers the others.
    pub(super) fn resume(&mut self, live: &[EffectId]) {
        let shared = &mut self.shared;
        let lost: Vec<EffectId> = shared
            .running
            .keys()
            // A partly received response cannot be continued: the decoder's state is gone.
            .filter(|id| {
                let is_exchange =
                    matches!(id.stage, Stage::Model | Stage::Summary | Stage::Suggestion);
                is_exchange || !live.contains(id)
            })
            .copied()
            .collect();
        for id in &lost {
            if live.contains(id) {
                shared.out.push_back(Output::Abandon(*id));
            }
            let Some(running) = shared.running.remove(id) else {
                continue;
            };
            let thread = match id.agent {
                0 => Some(&mut self.main),
                number => (self.children.get_mut(&number)).map(|child| &mut child.thread),
            };
            let Some(thread) = thread else {
                continue;
            };
            let was_cancelled = running.cancelled_at.is_some();
            match id.stage {
                Stage::Hook(..) if was_cancelled => thread.hook_given_up(shared, *id),
                // Background calls end with the process; `settle` reports that.
                _ if was_cancelled || running.detached => {}
                _ => thread.recover(shared, *id),
            }
        }
        let children = self.children.values_mut().map(|child| &mut child.thread);
        for thread in core::iter::once(&mut self.main).chain(children) {
            thread.go_on_with_calls(shared);
            thread.drained_if_quiet(shared);
        }
    }
}

impl Thread {
    /// Recovers a lost effect: asks for it again, or goes on without it.
    fn recover(&mut self, shared: &mut Shared, id: EffectId) {
        match id.stage {
            Stage::Model if self.phase() == Phase::Calling => {
                let event = self.ask_model(shared);
                self.go_on(shared, event);
            }
            Stage::Summary if self.phase() == Phase::Compacting => {
                let event = self.ask_for_summary(shared);
                self.go_on(shared, event);
            }
            // Nothing waits for a suggestion.
            Stage::Model | Stage::Summary | Stage::Suggestion => {}
            Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults | Stage::SaveSummary => {
                // Sent again under the same id.
                if let Some(effect) = self.writing.again() {
                    self.perform(shared, id, effect);
                }
            }
            Stage::Hook(..) => self.hook_lost(shared, id),
            Stage::Resolve | Stage::Ask | Stage::Run | Stage::Probe | Stage::Provision => {
                let index = id.call.saturating_sub(1) as usize;
                let known = id.turn == self.turns.current() && index < self.run.calls.len();
                if known && !self.run.calls[index].is_done() {
                    self.recover_call(shared, id, index);
                }
            }
        }
    }

    fn recover_call(&mut self, shared: &mut Shared, id: EffectId, index: usize) {
        if !matches!(id.stage, Stage::Run | Stage::Probe) {
            self.run.calls[index].try_again();
            // A call that was allowed and waited for its tools is not judged again.
            return match id.stage {
                Stage::Provision => self.run_under_its_name(shared, index),
                _ => self.begin(shared, index),
            };
        }
        let name = self.run.calls[index].tool_name();
        match self.spec.tool(name).map(|tool| tool.retry) {
            Some(RetryClass::RunAgain) => {
                self.run.calls[index].try_again();
                self.run_under_its_name(shared, index);
            }
            Some(RetryClass::RunAgainWithKey) => self.run_under_its_name(shared, index),
            Some(RetryClass::Probe) => self.probe_call(shared, index),
            Some(RetryClass::Never) | None => self.outcome_unknown(shared, index),
        }
    }

    /// Runs a call that was already allowed; without a new attempt, under its previous effect id.
    pub(super) fn run_under_its_name(&mut self, shared: &mut Shared, index: usize) {
        let decision = self.run.calls[index]
            .decision()
            .cloned()
            .unwrap_or_default();
        self.run_call(shared, index, decision);
    }

    /// The outcome of the lost call cannot be determined.
    pub(super) fn outcome_unknown(&mut self, shared: &mut Shared, index: usize) {
        let text = "The program stopped while this call ran; its outcome is unknown. Check before doing it again.";
        self.finish_call(shared, index, ToolResult::error(text));
    }
}
