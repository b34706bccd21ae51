//! Compaction: the request for the summary, and its outcome.

use alloc::{borrow::ToOwned, format, string::String, vec};

use super::{Event, Outcome, Phase, Shared, Thread};
use crate::{
    content::Block,
    context::compaction,
    effect::Stage,
    history::Role,
    hook::{CompactionTrigger, HookEvent, Occurrence, input::PreCompact},
    message::StatusKind,
    model::ErrorClass,
    provider::ApiError,
};

impl Thread {
    /// The index at which the conversation can be cut.
    pub(super) fn cut(&self) -> Option<usize> {
        let policy = &self.spec.prompt.context.compaction;
        policy.cut(self.context.history())
    }

    /// Whether the context is so large that it has to be compacted before the next request.
    pub(super) fn must_compact(&self) -> bool {
        let policy = &self.spec.prompt.context.compaction;
        let window =
            (self.spec.model.catalogue.get(self.model())).map_or(0, |model| model.context_window);
        let Some(threshold) = policy.threshold(window) else {
            return false;
        };
        let tokens = self.context.tokens();
        let grown = (self.context.compacted_to()).saturating_add(threshold / 10);
        self.run.may_compact() && tokens >= threshold.max(grown) && self.cut().is_some()
    }

    /// Prepares a compaction and returns the event that starts it.
    pub(super) fn compact(
        &mut self,
        shared: &mut Shared,
        trigger: CompactionTrigger,
        instructions: String,
        because: Option<(ErrorClass, String)>,
    ) -> Event {
        let said = instructions.clone();
        let tokens = self.context.tokens();
        let now = shared.now.mono;
        (self.run).begin_compaction(trigger, instructions, because, tokens, now);
        if self.number() == 0 {
            shared.emit_status(Some(StatusKind::Compacting), None);
        }
        let occurrence = Occurrence::PreCompact(PreCompact {
            trigger,
            custom_instructions: Some(said).filter(|words| !words.is_empty()),
        });
        self.fire_anew(shared, occurrence);
        Event::Compact
    }

    /// A prompt that only asks for compaction (`/compact`).
    pub(super) fn start_compaction(&mut self, shared: &mut Shared, instructions: String) -> Event {
        match self.stop_at_budget(shared) {
            Some(stop) => stop,
            None if self.cut().is_none() => {
                self.run.text = "There is nothing to compact yet.".to_owned();
                self.run.outcome = Some(Outcome::Success);
                Event::Stop
            }
            None => self.compact(shared, CompactionTrigger::Manual, instructions, None),
        }
    }

    /// If a request that is too long can be shortened, prepares that and returns the event that starts it.
    pub(super) fn compact_because(
        &mut self,
        shared: &mut Shared,
        error: &ApiError,
    ) -> Option<Event> {
        let possible = error.too_long
            && self.spec.prompt.context.compaction.automatic
            && self.run.may_compact_because()
            && self.cut().is_some();
        possible.then(|| {
            let because = Some((error.class, error.message.clone()));
            self.compact(shared, CompactionTrigger::Auto, String::new(), because)
        })
    }

    /// The hooks for the compaction have run; one of them may have refused it (HOOK-15).
    pub(super) fn compaction_hooks_settled(
        &mut self,
        shared: &mut Shared,
        block: Option<String>,
    ) -> Option<Event> {
        if self.phase() != Phase::Compacting {
            return None;
        }
        match block.or_else(|| self.run.hook_stop.clone()) {
            Some(reason) => {
                let text = format!("a hook refused the compaction: {reason}");
                self.compaction_failed(shared, None, &text)
            }
            None => self.ask_for_summary(shared),
        }
    }

    /// Asks the model for the summary, unless hooks are still running.
    pub(super) fn begin_summary(&mut self, shared: &mut Shared) -> Option<Event> {
        if self.hooks.look_at(&[HookEvent::PreCompact]) {
            return None;
        }
        self.ask_for_summary(shared)
    }

    /// Asks the model for the summary: the conversation as last requested, with a question at its end.
    pub(super) fn ask_for_summary(&mut self, shared: &mut Shared) -> Option<Event> {
        if let Some(message) = self.unpriced() {
            return self.compaction_failed(shared, None, &message);
        }
        let number = self.run.ask_for_summary(shared.now.mono)?;
        let mut asked = self.context.copy(self.spec.clearing_by_core());
        let compacting = self.run.compacting()?;
        for _ in 0..compacting.shortened() {
            asked = compaction::shorter(&asked).unwrap_or(asked);
        }
        let own = self
            .spec
            .prompt
            .context
            .compaction
            .instructions
            .as_deref()
            .unwrap_or("");
        let question = compaction::question(&[own, compacting.instructions()]);
        let without_tools = compacting.without_tools();
        asked.push(Role::User, vec![Block::text(&question).to_raw()]);
        // No cache breakpoint at its end: nothing will follow this question.
        asked.seal();
        let mut request = self.request_with(&mut asked);
        if without_tools {
            request = self.spec.model.provider.forbid_tools(request);
        }
        let id = self.effect_id(shared, 0, Stage::Summary, number);
        self.send(shared, id, request);
        None
    }

    /// The request for a summary failed for good when it was built.
    pub(super) fn summary_failed(
        &mut self,
        shared: &mut Shared,
        error: &ApiError,
    ) -> Option<Event> {
        if error.too_long && self.run.shorten() {
            return Some(Event::Compact);
        }
        self.compaction_failed(shared, Some(error.class), &error.message)
    }

    /// The compaction failed: the conversation stays unchanged.
    pub(super) fn compaction_failed(
        &mut self,
        shared: &mut Shared,
        class: Option<ErrorClass>,
        message: &str,
    ) -> Option<Event> {
        let compacting = self.run.fail_compaction()?;
        self.emit_compaction_over(shared, Some(message));
        let (class, message) = match (compacting.trigger(), compacting.into_cause()) {
            // There was still room: the run continues as long as the context fits.
            (CompactionTrigger::Auto, None) => return Some(Event::Proceed),
            (CompactionTrigger::Auto, Some((class, message))) => {
                self.take_back_prompt();
                (Some(class), message)
            }
            (CompactionTrigger::Manual, _) => (
                class,
                format!("the conversation could not be compacted: {message}"),
            ),
        };
        self.run.outcome = Some(Outcome::Failed { class, message });
        Some(Event::GiveUp)
    }

    /// Reports the end of a compaction, with the reason if it failed.
    pub(super) fn emit_compaction_over(&self, shared: &mut Shared, failure: Option<&str>) {
        if self.number() == 0 {
            shared.emit_compacted(failure);
        }
    }
}
