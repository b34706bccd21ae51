//! Compaction: asking for the summary, and what comes of it.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{
    Event, Line, Outcome, Phase, Shared, Thread,
    hook::{HookRound, stopped_by_hook},
    model_call::text_of,
};
use crate::{
    content::Block,
    context::{CompactionTrigger, compaction, size},
    effect::EntryCompaction,
    history::{History, Role},
    hook::{
        HookEvent, Occurrence,
        input::{PostCompact, PreCompact, SessionStart, StartSource},
    },
    id::{Millis, Stage},
    json::RawJson,
    message::{CompactBoundary, CompactMetadata, ErrorClass, Message, StatusKind, SystemMessage},
    provider::{ApiError, Response},
    tools::tool_search,
};

/// So many times at most the request for a summary is cut to about half.
const MOST_SHORTENINGS: u32 = 6;

/// A compaction under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Compacting {
    trigger: CompactionTrigger,
    /// What the summary should keep, besides the usual.
    instructions: String,
    pre_tokens: u64,
    began: Millis,
    /// Attempts of the request as it stands, for the retry policy.
    pub(super) attempt: u32,
    /// How often the conversation was cut to about half because the request was too long itself.
    shortened: u32,
    /// The model called tools in place of writing: it is asked again without any.
    without_tools: bool,
    /// The error that made it necessary, and which holds if it fails.
    because: Option<(ErrorClass, String)>,
    /// What the model wrote, while the hooks of the beginning it makes are looking.
    #[serde(default)]
    summary: Option<String>,
    /// What those hooks add to that beginning.
    #[serde(default)]
    context: Vec<RawJson>,
}

/// A conversation that begins with a summary.
struct Begun {
    history: History,
    /// Of its first message: the summary, and what hooks add.
    content: Vec<RawJson>,
    /// Messages behind that one.
    kept: usize,
}

/// What a thread knows of the size of its context.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ContextSize {
    pub(super) counted: Option<size::Counted>,
    /// Length of what stood before the history in the last request. Noted, because that part itself is let go of
    /// when a session rests or is put away.
    pub(super) prefix_bytes: u64,
    /// What the last compaction left. Another one soon after would gain nothing.
    compacted_to: u64,
    /// So many results from the beginning are cleared, but for those of excluded tools.
    pub(super) cleared: u32,
    /// Tokens that clearing set free since the provider counted.
    pub(super) freed: u64,
    /// The context when clearing was last thought of.
    pub(super) settled_at: u64,
    /// The model was warned that results will be cleared, after this turn.
    pub(super) warned: Option<u32>,
}

impl Thread {
    /// Tokens of the context as far as they are known, else estimated.
    pub(super) fn context_tokens(&self) -> u64 {
        let known = &self.context_size;
        let estimate = self.history.estimated_tokens();
        size::context(known.counted, known.prefix_bytes, estimate).saturating_sub(known.freed)
    }

    /// Whether the next request would come too close to the limit.
    pub(super) fn must_compact(&self) -> bool {
        let policy = &self.spec.context.compaction;
        let window =
            (self.spec.catalogue.get(self.model())).map_or(0, |model| model.context_window);
        let Some(threshold) = policy.threshold(window) else {
            return false;
        };
        let tokens = self.context_tokens();
        let grown = self
            .context_size
            .compacted_to
            .saturating_add(threshold / 10);
        !self.run.compaction_failed
            && tokens >= threshold.max(grown)
            && policy.cut(&self.history).is_some()
    }

    /// Makes ready for a compaction; the event leads to it.
    pub(super) fn compact(
        &mut self,
        shared: &mut Shared,
        trigger: CompactionTrigger,
        instructions: String,
        because: Option<(ErrorClass, String)>,
    ) -> Event {
        self.run.compacting = Some(Compacting {
            trigger,
            instructions,
            pre_tokens: self.context_tokens(),
            began: shared.now.mono,
            attempt: 0,
            shortened: 0,
            without_tools: false,
            because,
            summary: None,
            context: Vec::new(),
        });
        if self.number == 0 {
            shared.say_status(Some(StatusKind::Compacting), None);
        }
        let said = self.run.compacting.as_ref().map(|c| c.instructions.clone());
        let occurrence = Occurrence::PreCompact(PreCompact {
            trigger,
            custom_instructions: said.filter(|words| !words.is_empty()),
        });
        self.fire_anew(shared, occurrence);
        Event::Compact
    }

    /// A prompt that asks for compaction and nothing else (`/compact`).
    pub(super) fn start_compaction(&mut self, shared: &mut Shared, instructions: String) {
        let event = match self.stop_at_budget(shared) {
            Some(stop) => stop,
            None if self.spec.context.compaction.cut(&self.history).is_none() => {
                self.run.text = "There is nothing to compact yet.".to_owned();
                self.run.outcome = Some(Outcome::Success);
                Event::Stop
            }
            None => self.compact(shared, CompactionTrigger::Manual, instructions, None),
        };
        self.transit(shared, event);
    }

    /// Whether a request that is too long can be made shorter; then the event leads to it.
    pub(super) fn compact_because(
        &mut self,
        shared: &mut Shared,
        error: &ApiError,
    ) -> Option<Event> {
        let possible = error.too_long
            && self.spec.context.compaction.automatic
            && !self.run.compacted_because
            && !self.run.compaction_failed
            && self.spec.context.compaction.cut(&self.history).is_some();
        possible.then(|| {
            self.run.compacted_because = true;
            let because = Some((error.class, error.message.clone()));
            self.compact(shared, CompactionTrigger::Auto, String::new(), because)
        })
    }

    /// Hooks have seen the compaction that begins; one may have refused it (HOOK-15).
    pub(super) fn compaction_hooks_settled(&mut self, shared: &mut Shared, block: Option<String>) {
        if self.phase != Phase::Compacting {
            return;
        }
        match block.or_else(|| self.run.hook_stop.clone()) {
            Some(reason) => {
                let text = format!("a hook refused the compaction: {reason}");
                self.compaction_failed(shared, None, &text);
            }
            None => self.ask_for_summary(shared),
        }
    }

    /// Asks the model for the summary, unless hooks are still looking.
    pub(super) fn begin_summary(&mut self, shared: &mut Shared) {
        let looks = |round: &HookRound| round.event() == HookEvent::PreCompact;
        if !self.hook_rounds.iter().any(looks) {
            self.ask_for_summary(shared);
        }
    }

    /// Asks the model for the summary: the conversation as it was asked last, with a question behind it.
    pub(super) fn ask_for_summary(&mut self, shared: &mut Shared) {
        if let Some(message) = self.unpriced() {
            return self.compaction_failed(shared, None, &message);
        }
        let Some(compacting) = &mut self.run.compacting else {
            return;
        };
        compacting.attempt += 1;
        self.run.summary_requests += 1;
        self.run.asked_at = shared.now.mono;
        let mut asked = match self.shown() {
            Some(shown) => shown.clone(),
            None => self.history.clone(),
        };
        let Some(compacting) = &self.run.compacting else {
            return;
        };
        for _ in 0..compacting.shortened {
            asked = compaction::shorter(&asked).unwrap_or(asked);
        }
        let own = self
            .spec
            .context
            .compaction
            .instructions
            .as_deref()
            .unwrap_or("");
        let question = compaction::question(&[own, &compacting.instructions]);
        let without_tools = compacting.without_tools;
        asked.push(Role::User, vec![Block::text(&question).to_raw()]);
        // Its end is no place for a breakpoint: this question will not be the beginning of anything.
        asked.seal();
        let mut request = self.request_with(&mut asked);
        if without_tools {
            request = self.spec.provider.forbid_tools(request);
        }
        let id = self.effect_id(shared, 0, Stage::Summary, self.run.summary_requests);
        self.send(shared, id, request);
    }

    /// The request for a summary failed for good as it was made.
    pub(super) fn summary_failed(&mut self, shared: &mut Shared, error: &ApiError) {
        if let Some(compacting) = &mut self.run.compacting
            && error.too_long
            && compacting.shortened < MOST_SHORTENINGS
        {
            compacting.shortened += 1;
            compacting.attempt = 0;
            return self.transit(shared, Event::Compact);
        }
        self.compaction_failed(shared, Some(error.class), &error.message);
    }

    /// The conversation stays as it is.
    fn compaction_failed(&mut self, shared: &mut Shared, class: Option<ErrorClass>, message: &str) {
        let Some(compacting) = self.run.compacting.take() else {
            return;
        };
        self.run.compaction_failed = true;
        self.say_compaction_over(shared, Some(message));
        let (class, message) = match (compacting.trigger, compacting.because) {
            // There was still room: the conversation goes on as long as it can.
            (CompactionTrigger::Auto, None) => return self.transit(shared, Event::Proceed),
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
        self.transit(shared, Event::GiveUp);
    }

    /// The summary has come. Where it makes the conversation shorter it takes the place of the beginning, once hooks have seen
    /// how the session starts again: what they add is there before the model is asked (HOOK-15).
    pub(super) fn summed_up(&mut self, shared: &mut Shared, response: &Response, asked: &str) {
        // Into the books, but not among the responses to the prompt.
        self.book(shared, response, asked);
        let summary = text_of(&response.content);
        let Some(compacting) = &mut self.run.compacting else {
            return;
        };
        if summary.trim().is_empty() && !compacting.without_tools {
            compacting.without_tools = true;
            compacting.attempt = 0;
            return self.transit(shared, Event::Compact);
        }
        if summary.trim().is_empty() {
            return self.compaction_failed(shared, None, "the model wrote no summary");
        }
        let trigger = compacting.trigger;
        let begun = self.begun_with(&summary, Vec::new());
        let shorter = begun.is_some_and(|begun| {
            trigger == CompactionTrigger::Manual
                || begun.history.estimated_tokens() < self.history.estimated_tokens()
        });
        if !shorter {
            return self.compaction_failed(
                shared,
                None,
                "the summary is no shorter than what it sums up",
            );
        }
        if let Some(compacting) = &mut self.run.compacting {
            compacting.summary = Some(summary);
        }
        let model = Some(self.model().to_owned());
        let start = SessionStart {
            source: StartSource::Compact,
            agent_type: None,
            model,
        };
        self.fire_anew(shared, Occurrence::SessionStart(start));
        self.begin_anew_if_ready(shared);
    }

    /// Hooks have seen that the session starts again from a summary: what they add stands behind it.
    pub(super) fn restart_hooks_settled(&mut self, shared: &mut Shared, context: Vec<RawJson>) {
        if let Some(compacting) = &mut self.run.compacting {
            compacting.context.extend(context);
        }
        self.begin_anew_if_ready(shared);
    }

    /// Whether hooks are looking at the start from a summary that is under way.
    pub(super) fn is_restarting(&self) -> bool {
        let compacting = self.run.compacting.as_ref();
        compacting.is_some_and(|compacting| compacting.summary.is_some())
    }

    fn begin_anew_if_ready(&mut self, shared: &mut Shared) {
        let looks = |round: &HookRound| round.event() == HookEvent::SessionStart;
        if self.phase == Phase::Compacting && !self.hook_rounds.iter().any(looks) {
            self.begin_anew(shared);
        }
    }

    /// The conversation with a summary in the place of its beginning; none where nothing can be cut.
    fn begun_with(&self, summary: &str, context: Vec<RawJson>) -> Option<Begun> {
        let compacting = self.run.compacting.as_ref()?;
        let count = self.history.message_count();
        let cut = self.spec.context.compaction.cut(&self.history);
        let cut = cut.unwrap_or(count);
        let goes_on = compacting.trigger == CompactionTrigger::Auto && self.run.num_turns > 0;
        let mut content = vec![Block::text(&compaction::beginning(summary, goes_on)).to_raw()];
        content.extend(context);
        let history = self.history.with_beginning(cut, content.clone())?;
        Some(Begun {
            history,
            content,
            kept: count - cut,
        })
    }

    fn begin_anew(&mut self, shared: &mut Shared) {
        let said = self.run.compacting.as_mut().and_then(|compacting| {
            let context = core::mem::take(&mut compacting.context);
            Some((compacting.summary.clone()?, context))
        });
        let Some((written, context)) = said else {
            return;
        };
        let Some(begun) = self.begun_with(&written, context) else {
            return self.compaction_failed(shared, None, "there is nothing left to sum up");
        };
        let Some(compacting) = self.run.compacting.take() else {
            return;
        };
        if self.run.num_turns > 0 {
            self.run.before_prompt = None; // it was answered: nobody refuses it any more
        }
        if let Some(before) = &mut self.run.before_prompt {
            before.history = self.history.checkpoint_in(&begun.history, before.history);
        }
        self.run.before_results = None;
        let (spec, model) = (self.spec.clone(), self.model().to_owned());
        tool_search::forget_unreferenced(&spec, &model, &mut self.notes, &begun.history);
        self.history = begun.history;
        self.context_size = ContextSize {
            prefix_bytes: self.context_size.prefix_bytes,
            ..ContextSize::default()
        };
        self.shown = None;
        let post_tokens = self.context_tokens();
        self.context_size.compacted_to = post_tokens;
        self.say_compaction_over(shared, None);
        let metadata = CompactMetadata {
            trigger: compacting.trigger,
            pre_tokens: compacting.pre_tokens,
            post_tokens: Some(post_tokens),
            duration_ms: Some(shared.now.mono.since(compacting.began)),
        };
        let (boundary, uuid) = (shared.ids.uuid(), shared.ids.uuid());
        if self.number == 0 {
            shared.say(Message::System(SystemMessage::CompactBoundary(
                CompactBoundary {
                    compact_metadata: metadata.clone(),
                    uuid: boundary,
                    session_id: shared.id,
                },
            )));
            self.say_synthetic(shared, begun.content.clone(), uuid);
        }
        let compacted = PostCompact {
            trigger: compacting.trigger,
            compact_summary: written,
        };
        self.tell_hooks(shared, Occurrence::PostCompact(compacted));
        self.run.summaries += 1;
        self.run.manual_compaction = compacting.trigger == CompactionTrigger::Manual;
        self.transit(shared, Event::Answered);
        let line = Line::new(Role::User, begun.content)
            .under(uuid)
            .beginning_anew(EntryCompaction {
                boundary,
                metadata,
                kept_messages: begun.kept as u64,
            });
        self.save(shared, Stage::SaveSummary, vec![line]);
    }

    /// What a written summary leads to.
    pub(super) fn after_summary(&mut self, shared: &mut Shared) -> Event {
        if let Some(before) = &mut self.run.before_prompt {
            before.last_entry = self.last_entry;
        }
        if self.run.manual_compaction {
            self.run.outcome = Some(Outcome::Success);
            return Event::Stop;
        }
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(stopped_by_hook(reason));
            return Event::Stop;
        }
        self.stop_at_budget(shared).unwrap_or(Event::Proceed)
    }

    /// Says that no compaction is under way any more, and why it came to nothing if it did.
    pub(super) fn say_compaction_over(&self, shared: &mut Shared, failure: Option<&str>) {
        if self.number == 0 {
            shared.say_compacted(failure);
        }
    }
}
