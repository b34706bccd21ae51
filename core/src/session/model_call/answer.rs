//! A complete response: accounting, history and message stream.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use super::super::{Event, Line, Shared, Thread, call::Call};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    json::RawJson,
    message::{ApiMessage, AssistantMessage, Message},
    model::StopReason,
    provider::Response,
    tools::background,
};
impl Thread {
    /// Handles a complete response: accounting, history and message stream.
    pub(super) fn answered(
        &mut self,
        shared: &mut Shared,
        mut response: Response,
        asked: &str,
    ) -> Option<Event> {
        self.count_api_time(shared);
        if self.run.is_compacting() {
            return self.summed_up(shared, &response, asked);
        }
        self.run.has_answer();
        self.run.num_turns += 1;
        // The server has accepted the last results: a later refusal does not concern them.
        self.run.before_results = None;
        self.run.mended = None;
        self.turns.answered();
        self.run.usage.add(&response.usage);
        if !self.is_main() {
            shared.unreported.usage.add(&response.usage);
        }
        self.book(shared, &response, asked);
        self.run.stop_reason = response.stop_reason.clone();
        self.run.text = text_of(&response.content);
        for block in &mut response.content {
            if let Block::ToolUse(call) = block {
                self.call_ids.name_apart(&mut shared.ids, call);
            }
        }
        let whole: Vec<RawJson> = response.content.iter().map(Block::to_raw).collect();
        let kept: Vec<RawJson> = (response.content.iter().zip(&whole))
            .filter(|(block, _)| block.belongs_in_history())
            .map(|(_, raw)| raw.clone())
            .collect();
        // Continuing after an empty paused response would send the same request again, without end.
        self.run.paused = response.stop_reason == Some(StopReason::PauseTurn) && !kept.is_empty();
        let is_kept = !kept.is_empty();
        self.context.push_response(kept, &response.usage);
        let uuid = shared.ids.uuid();
        let message = AssistantMessage {
            message: ApiMessage {
                id: response.id,
                kind: "message".to_owned(),
                role: "assistant".to_owned(),
                model: response.model,
                content: self.heard(&response.content),
                stop_reason: response.stop_reason,
                stop_sequence: response.stop_sequence,
                usage: response.usage,
            },
            parent_tool_use_id: self.parent_tool_use_id(),
            error: None,
            aborted: false,
            uuid,
            session_id: shared.id,
        };
        if is_kept && self.spec.policy.persist {
            let content = whole;
            let unsaved = ApiMessage {
                content,
                ..message.message.clone()
            };
            self.run.unsaved_response = Some((uuid, unsaved));
        }
        if !message.message.content.is_empty() || !self.is_muted() {
            shared.say(Message::Assistant(message));
        }
        let cut = self.run.stop_reason == Some(StopReason::MaxTokens);
        let last = response.content.len().saturating_sub(1);
        let spec = self.spec.clone();
        self.run.calls = response
            .content
            .into_iter()
            .enumerate()
            .filter_map(|(index, block)| match block {
                Block::ToolUse(mut tool_use) => {
                    // The output limit was reached right after the name: this is not a call without arguments.
                    if cut && index == last && tool_use.input == Ok(RawJson::empty_object()) {
                        tool_use.input = Err(String::new());
                    }
                    // The conversation keeps the name that the model used.
                    if let Some(meant) = spec.tools.aliases.get(&tool_use.name) {
                        tool_use.name.clone_from(meant);
                    }
                    let core = spec.tool(&tool_use.name).and_then(|tool| tool.core);
                    if let Some(core) = core {
                        let said = &self.run.text;
                        let name = &tool_use.name;
                        tool_use.input = tool_use.input.map(|input| {
                            core.prepare(background::present_input(name, &input), said)
                        });
                    }
                    Some(Call::new(tool_use))
                }
                _ => None,
            })
            .collect();
        self.number_agents(shared);
        Some(Event::Answered)
    }

    /// Whether only the tool calls of this thread, not its text, are sent to the application.
    pub(in crate::session) fn is_muted(&self) -> bool {
        !self.is_main() && self.spec.tools.tasks.tool_calls_only
    }

    /// The blocks of a response that the application receives.
    fn heard(&self, content: &[Block]) -> Vec<RawJson> {
        let heard = |block: &&Block| !self.is_muted() || matches!(block, Block::ToolUse(_));
        content.iter().filter(heard).map(Block::to_raw).collect()
    }

    /// Adds the usage and cost of a response to the totals.
    pub(in crate::session) fn book(&self, shared: &mut Shared, response: &Response, asked: &str) {
        let catalogue = &self.spec.model.catalogue;
        // Servers may answer with a more specific model name. Where that has no price of its own, or the request carried another
        // name than the model has here, it counts as the requested one.
        let names = |model: &str| {
            catalogue
                .get(model)
                .is_some_and(|facts| !facts.prefix.is_empty())
        };
        let is_renamed = catalogue
            .get(asked)
            .is_some_and(|facts| facts.sent_as.is_some());
        let priced = match names(&response.model) && !is_renamed {
            true => response.model.as_str(),
            false => asked,
        };
        let facts = catalogue.get(priced);
        let cost = catalogue.cost(priced, &response.usage).unwrap_or_default();
        shared.cost += cost;
        let entry = shared.model_usage.or_default(priced.to_owned());
        entry.add(&response.usage);
        entry.cost_usd += cost;
        if let Some(facts) = facts {
            entry.context_window = facts.context_window;
            entry.max_output_tokens = facts.output_limit(self.spec.model.max_tokens);
        }
    }

    pub(in crate::session) fn save_response(&mut self, shared: &mut Shared) -> Option<Event> {
        let content = core::mem::take(&mut self.run.unsaved);
        let line = match self.run.unsaved_response.take() {
            Some((uuid, message)) => Line::response(message).under(uuid),
            None if content.is_empty() => return self.after_save(shared),
            None => Line::new(Role::Assistant, content),
        };
        self.save(shared, Stage::SaveResponse, alloc::vec![line])
    }

    /// The event that follows once a response is written.
    pub(in crate::session) fn after_response(&mut self, shared: &mut Shared) -> Event {
        if let Some(stop) = self.stop_at_budget(shared) {
            return stop;
        }
        if self.run.calls.is_empty() && !self.run.paused {
            if let Some(event) = self.without_output(shared) {
                return event;
            }
            return self.conclude(shared);
        }
        if self.run.calls.is_empty() {
            Event::Proceed
        } else {
            Event::RunTools
        }
    }
}

pub(in crate::session) fn text_of(content: &[Block]) -> String {
    let mut out = String::new();
    for block in content {
        if let Block::Text { text, .. } = block {
            out.push_str(text);
        }
    }
    out
}
