//! Acting on the merged outcome of a round of hooks.

use super::{
    super::{Event, Phase, Shared, Thread},
    context_block,
    rounds::HookRound,
};
use crate::{
    hook::{HookEvent, Merged, Occurrence},
    message::InformationLevel,
};

impl Thread {
    /// Called when the last hook of an event is done.
    ///
    /// An event with consequences of its own needs an arm here.
    pub(super) fn hooks_settled(
        &mut self,
        shared: &mut Shared,
        round: &HookRound,
        mut merged: Merged,
    ) -> Option<Event> {
        for content in core::mem::take(&mut merged.system_messages) {
            self.inform(shared, InformationLevel::Notice, content);
        }
        if let Some(reason) = merged.stop.take() {
            self.stop_run(shared, reason);
        }
        if self.phase() == Phase::Stopping {
            // The run is being interrupted: nothing is judged or started any more.
            return None;
        }
        match round.event() {
            // Worktrees that the host reports belong to no call.
            HookEvent::WorktreeCreate if round.call > 0 => {
                self.call_hooks_settled(shared, round, merged);
                None
            }
            HookEvent::PreToolUse
            | HookEvent::PermissionRequest
            | HookEvent::PostToolUse
            | HookEvent::PostToolUseFailure
            | HookEvent::PermissionDenied => {
                self.call_hooks_settled(shared, round, merged);
                None
            }
            HookEvent::PostToolBatch => {
                self.batch_hooks_settled(shared, merged);
                None
            }
            event if event.looks_at_prompts() => self.prompt_hooks_settled(shared, event, merged),
            HookEvent::Stop | HookEvent::SubagentStop => self.stop_hooks_settled(shared, merged),
            HookEvent::PreCompact => self.compaction_hooks_settled(shared, merged.block),
            HookEvent::SessionStart if self.run.is_restarting() => {
                let context = merged.context.iter();
                let context = context.filter_map(|text| context_block(round.event(), text));
                self.restart_hooks_settled(shared, context.collect())
            }
            event => {
                for text in &merged.context {
                    self.add_context(event, text);
                }
                self.go_on_after_hooks(shared)
            }
        }
    }

    /// Adds text for the model to the next user message.
    pub(in crate::session) fn add_context(&mut self, event: HookEvent, text: &str) {
        self.hooks.add_context(context_block(event, text));
    }

    /// A hook ends the run. Running calls are completed; nothing new starts.
    pub(in crate::session) fn stop_run(
        &mut self,
        shared: &mut Shared,
        reason: alloc::string::String,
    ) {
        self.inform(shared, InformationLevel::Notice, reason.clone());
        if self.phase() != Phase::Idle && self.run.hook_stop.is_none() {
            self.run.hook_stop = Some(reason);
        }
    }

    /// Handles an outside event that the host reports.
    pub(in crate::session) fn occurred(&mut self, shared: &mut Shared, occurrence: Occurrence) {
        if occurrence.event() == HookEvent::SessionStart {
            // The host reports how the session starts; that takes precedence.
            self.hooks.take_start();
        }
        self.fire_anew(shared, occurrence);
    }

    /// Continues what waited for hooks that have no other effect.
    fn go_on_after_hooks(&mut self, shared: &mut Shared) -> Option<Event> {
        match self.phase() {
            Phase::Submitting => self.submit_if_ready(),
            Phase::Finishing => self.report_if_quiet(shared),
            _ => None,
        }
    }
}
