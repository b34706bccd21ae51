//! Restarting the conversation from a summary: the hooks on it, and the new conversation.

use alloc::{borrow::ToOwned, vec, vec::Vec};

use super::{
    Event, Line, Outcome, Phase, Shared, Thread, hook::stopped_by_hook, model_call::text_of,
    run::Restart,
};
use crate::{
    content::Block,
    context::compaction,
    effect::{EntryCompaction, Stage},
    history::{History, Role},
    hook::{
        CompactionTrigger, HookEvent, Occurrence,
        input::{PostCompact, SessionStart, StartSource},
    },
    json::RawJson,
    message::{CompactBoundary, Message, SystemMessage},
    provider::Response,
    tools::tool_search,
};

/// A new conversation that begins with a summary.
struct Begun {
    history: History,
    /// The content of its first message: the summary, and the text of hooks.
    content: Vec<RawJson>,
    /// The number of messages after that one.
    kept: usize,
}

impl Thread {
    /// Handles the summary. If it makes the conversation shorter, it replaces the beginning once the hooks for the restart have
    /// run; their text is added before the model is asked again (HOOK-15).
    pub(super) fn summed_up(
        &mut self,
        shared: &mut Shared,
        response: &Response,
        asked: &str,
    ) -> Option<Event> {
        // Counted in usage and cost, but not among the responses to the prompt.
        self.book(shared, response, asked);
        let summary = text_of(&response.content);
        let trigger = self.run.compacting()?.trigger();
        if summary.trim().is_empty() && self.run.do_without_tools() {
            return Some(Event::Compact);
        }
        if summary.trim().is_empty() {
            return self.compaction_failed(shared, None, "the model wrote no summary");
        }
        let begun = self.begun_with(&summary, Vec::new());
        let shorter = begun.is_some_and(|begun| {
            trigger == CompactionTrigger::Manual
                || begun.history.estimated_tokens() < self.context.history().estimated_tokens()
        });
        if !shorter {
            return self.compaction_failed(
                shared,
                None,
                "the summary is no shorter than what it sums up",
            );
        }
        self.run.restart_with(summary);
        let model = Some(self.model().to_owned());
        let start = SessionStart {
            source: StartSource::Compact,
            agent_type: None,
            model,
        };
        self.fire_anew(shared, Occurrence::SessionStart(start));
        self.begin_anew_if_ready(shared)
    }

    /// The hooks for the restart have run: their text is appended after the summary.
    pub(super) fn restart_hooks_settled(
        &mut self,
        shared: &mut Shared,
        context: Vec<RawJson>,
    ) -> Option<Event> {
        if let Some(restart) = self.run.restart() {
            restart.context.extend(context);
        }
        self.begin_anew_if_ready(shared)
    }

    fn begin_anew_if_ready(&mut self, shared: &mut Shared) -> Option<Event> {
        let are_looking = self.hooks.look_at(&[HookEvent::SessionStart]);
        if self.phase() != Phase::Compacting || are_looking {
            return None;
        }
        self.begin_anew(shared)
    }

    /// The conversation with its beginning replaced by a summary; none if nothing can be cut.
    fn begun_with(&self, summary: &str, context: Vec<RawJson>) -> Option<Begun> {
        let compacting = self.run.compacting()?;
        let count = self.context.history().message_count();
        let cut = self.cut().unwrap_or(count);
        let goes_on = compacting.trigger() == CompactionTrigger::Auto && self.run.num_turns > 0;
        let mut content = vec![Block::text(&compaction::beginning(summary, goes_on)).to_raw()];
        content.extend(context);
        let history = self
            .context
            .history()
            .with_beginning(cut, content.clone())?;
        Some(Begun {
            history,
            content,
            kept: count - cut,
        })
    }

    fn begin_anew(&mut self, shared: &mut Shared) -> Option<Event> {
        let Restart { summary, context } = self.run.take_restart()?;
        let Some(begun) = self.begun_with(&summary, context) else {
            return self.compaction_failed(shared, None, "there is nothing left to sum up");
        };
        let compacting = self.run.end_compaction()?;
        if self.run.num_turns > 0 {
            self.run.before_prompt = None; // it was answered: nobody refuses it any more
        }
        if let Some(before) = &mut self.run.before_prompt {
            before.history = self
                .context
                .history()
                .checkpoint_in(&begun.history, before.history);
        }
        self.run.before_results = None;
        let (spec, model) = (self.spec.clone(), self.model().to_owned());
        tool_search::forget_unreferenced(&spec, &model, &mut self.tool_state, &begun.history);
        let post_tokens = self.context.begin_anew(begun.history);
        self.emit_compaction_over(shared, None);
        let metadata = compacting.metadata(post_tokens, shared.now.mono);
        let (boundary, uuid) = (shared.ids.uuid(), shared.ids.uuid());
        if self.number() == 0 {
            shared.say(Message::System(SystemMessage::CompactBoundary(
                CompactBoundary {
                    compact_metadata: metadata.clone(),
                    uuid: boundary,
                    session_id: shared.id,
                },
            )));
            self.emit_synthetic(shared, begun.content.clone(), uuid);
        }
        let compacted = PostCompact {
            trigger: compacting.trigger(),
            compact_summary: summary,
        };
        self.tell_hooks(shared, Occurrence::PostCompact(compacted));
        self.run.compacted(compacting.trigger());
        // The entry is written and named in the phase that this event leads to.
        self.go_on(shared, Some(Event::Answered));
        let line = Line::new(Role::User, begun.content)
            .under(uuid)
            .beginning_anew(EntryCompaction {
                boundary,
                metadata,
                kept_messages: begun.kept as u64,
            });
        self.save(shared, Stage::SaveSummary, vec![line])
    }

    /// The event that follows once the summary is written.
    pub(super) fn after_summary(&mut self, shared: &mut Shared) -> Event {
        if let Some(before) = &mut self.run.before_prompt {
            before.last_entry = self.writing.last_entry();
        }
        if self.run.asked_for_compaction() {
            self.run.outcome = Some(Outcome::Success);
            return Event::Stop;
        }
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(stopped_by_hook(reason));
            return Event::Stop;
        }
        self.stop_at_budget(shared).unwrap_or(Event::Proceed)
    }
}
