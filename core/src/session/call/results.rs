//! What came of the calls: to the application one by one, to the model all at once.

use alloc::vec::Vec;

use super::super::{Event, Outcome, Shared, Thread, entry, run::CallState};
use crate::{
    content::tool_result,
    history::Role,
    id::Stage,
    json::RawJson,
    message::{Message, UserContent, UserMessage},
    tool::ToolResult,
};

impl Thread {
    /// Takes a call's result: observations into the session, the result into the message stream.
    /// What may start now is the caller's matter.
    pub(in crate::session) fn finish_call(
        &mut self,
        shared: &mut Shared,
        index: usize,
        mut result: ToolResult,
    ) {
        for seen in core::mem::take(&mut result.observed) {
            shared.observed.insert(seen.path.clone(), seen);
        }
        let call = &mut self.run.calls[index];
        let block = tool_result(&call.id, &result.content, result.is_error);
        call.state = CallState::Done;
        call.answer = Some(block.clone());
        let uuid = shared.ids.uuid();
        shared.say(Message::User(UserMessage {
            message: UserContent::new(alloc::vec![block]),
            parent_tool_use_id: self.parent_tool_use_id.clone(),
            tool_use_result: result.structured,
            is_synthetic: false,
            is_replay: false,
            uuid,
            session_id: shared.id,
        }));
    }

    /// Puts the results into the history, in the order of the calls, as one message.
    pub(in crate::session) fn collect_results(&mut self) -> Vec<RawJson> {
        let blocks: Vec<RawJson> = core::mem::take(&mut self.run.calls)
            .into_iter()
            .filter_map(|call| call.answer)
            .collect();
        self.history.push(Role::User, blocks.clone());
        blocks
    }

    pub(in crate::session) fn save_results(&mut self, shared: &mut Shared) {
        self.run.tool_rounds += 1;
        let blocks = self.collect_results();
        self.save(shared, Stage::SaveResults, entry(Role::User, blocks));
    }

    /// What written results lead to: the next request, unless a limit forbids it.
    pub(in crate::session) fn after_results(&mut self, shared: &mut Shared) -> Event {
        match self.spec.limits.max_turns {
            Some(max) if self.run.tool_rounds >= max => {
                self.run.outcome = Some(Outcome::MaxTurns(max));
                Event::Stop
            }
            _ => self.may_ask(shared),
        }
    }
}
