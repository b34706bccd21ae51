//! Tool results: delivered to the application one by one, to the model all at once.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use super::{
    super::{Event, Line, Outcome, Shared, Thread},
    record::CallState,
};
use crate::{
    content::{Block, tool_result},
    effect::Stage,
    history::Role,
    message::{Message, ToolUseSummary, UserContent, UserMessage},
    tool::ToolResult,
};

impl Thread {
    /// Takes a call's result: observations into the session, the result into the message stream. The caller has to start the
    /// calls that may follow.
    pub(in crate::session) fn finish_call(
        &mut self,
        shared: &mut Shared,
        index: usize,
        mut result: ToolResult,
    ) {
        let seen = core::mem::take(&mut result.observed);
        self.keep_observed(shared, &self.run.calls[index], seen);
        shared.book_side_calls(core::mem::take(&mut result.model_usage));
        let call = &mut self.run.calls[index];
        let block = tool_result(&call.id, &result.content, result.is_error);
        call.state = CallState::Done;
        call.failed = result.is_error;
        call.answer = Some(block.clone());
        let uuid = shared.ids.uuid();
        call.answer_uuid = Some(uuid);
        if self.spec.policy.persist {
            call.structured.clone_from(&result.structured);
        }
        shared.say(Message::User(UserMessage {
            message: UserContent::new(alloc::vec![block]),
            parent_tool_use_id: self.parent_tool_use_id(),
            tool_use_result: result.structured,
            is_synthetic: false,
            is_replay: false,
            uuid,
            session_id: shared.id,
        }));
    }

    /// Adds the results to the history as one message, in the order of the calls. Returns the lines for the transcript: each
    /// result under the id it was delivered with, then the text of hooks.
    pub(in crate::session) fn collect_results(&mut self) -> Vec<Line> {
        let calls = core::mem::take(&mut self.run.calls);
        let mut context = Vec::new();
        let mut blocks = Vec::with_capacity(calls.len());
        let mut lines = Vec::with_capacity(calls.len() + 1);
        for call in calls {
            if let Some(answer) = call.answer {
                let line = Line::new(Role::User, vec![answer.clone()]);
                let line = line.with_output(call.structured);
                lines.push(match call.answer_uuid {
                    Some(uuid) => line.under(uuid),
                    None => line,
                });
                blocks.push(answer);
            }
            context.extend(call.hooks.context);
        }
        // Results come first: the API requires them at the beginning of the message that answers the calls.
        context.append(&mut self.hooks.take_context());
        blocks.extend_from_slice(&context);
        self.context.push(Role::User, blocks);
        if !context.is_empty() {
            lines.push(Line::synthetic(context));
        }
        lines
    }

    pub(in crate::session) fn save_results(&mut self, shared: &mut Shared) -> Option<Event> {
        self.run.tool_rounds += 1;
        self.run.before_results = Some(self.place());
        self.run.mended = None;
        if self.spec.stream.tool_use_summaries {
            self.emit_summary(shared);
        }
        self.count_output_round();
        let mut lines = self.collect_results();
        let warning = self.warn_of_clearing();
        lines.extend(warning.map(|warning| Line::synthetic(vec![warning])));
        if self.is_within_limits(shared) {
            lines.extend(self.take_news(shared));
            lines.extend(self.take_steering(shared));
        }
        self.save(shared, Stage::SaveResults, lines)
    }

    /// Adds prompts that waited for a round of results to the history after it (LOOP-16, LOOP-23).
    fn take_steering(&mut self, shared: &mut Shared) -> Vec<Line> {
        let mut lines = Vec::new();
        for prompt in core::mem::take(&mut self.steering) {
            let mut content = prompt.content;
            content.retain(|block| Block::from_raw(block.clone()).belongs_in_history());
            if content.is_empty() {
                continue;
            }
            let uuid = prompt.uuid.unwrap_or_else(|| shared.ids.uuid());
            self.emit_prompt(shared, uuid, content.clone());
            self.context.push(Role::User, content.clone());
            lines.push(Line::new(Role::User, content).under(uuid));
        }
        lines
    }

    /// A summary of the round, made from its calls without asking a model (LOOP-33).
    fn emit_summary(&self, shared: &mut Shared) {
        let mut counts: Vec<(&str, u32, u32)> = Vec::new();
        for call in &self.run.calls {
            let failed = u32::from(call.failed);
            match counts.iter_mut().find(|(name, ..)| *name == call.name) {
                Some((_, times, failures)) => {
                    *times += 1;
                    *failures += failed;
                }
                None => counts.push((&call.name, 1, failed)),
            }
        }
        let parts: Vec<String> = counts
            .into_iter()
            .map(|(name, times, failed)| match (times, failed) {
                (1, 0) => name.to_owned(),
                (1, _) => format!("{name} (failed)"),
                (_, 0) => format!("{name} {times} times"),
                (..) => format!("{name} {times} times ({failed} failed)"),
            })
            .collect();
        let uuid = shared.ids.uuid();
        shared.say(Message::ToolUseSummary(ToolUseSummary {
            summary: parts.join(", "),
            preceding_tool_use_ids: self.run.calls.iter().map(|c| c.id.clone()).collect(),
            uuid,
            session_id: shared.id,
        }));
    }

    /// Whether the limits permit another request after the round that has just ended.
    fn is_within_limits(&self, shared: &Shared) -> bool {
        let limits = &self.spec.policy.limits;
        let goes_on = self.run.output.answer.is_none()
            && self.run.hook_stop.is_none()
            && self.run.deferred.is_none();
        goes_on
            && limits
                .max_turns
                .is_none_or(|max| self.run.tool_rounds < max)
            && limits.max_budget.is_none_or(|max| shared.cost < max)
    }

    /// The event that follows once the results are written: the next request, unless a limit forbids it.
    pub(in crate::session) fn after_results(&mut self, shared: &mut Shared) -> Event {
        if let Some(end) = self.after_output_round(shared) {
            return end;
        }
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(Outcome::StoppedByHook(reason));
            return Event::Stop;
        }
        if self.run.deferred.is_some() {
            self.run.outcome = Some(Outcome::Success);
            return Event::Stop;
        }
        match self.spec.policy.limits.max_turns {
            Some(max) if self.run.tool_rounds >= max => {
                self.run.outcome = Some(Outcome::MaxTurns(max));
                Event::Stop
            }
            _ => self.may_ask(shared),
        }
    }
}
