//! What an interrupted answer leaves in the conversation, if the spec asks to keep it
//! ([`InterruptedAnswer`](crate::context::InterruptedAnswer)).

use alloc::{borrow::ToOwned, vec};

use super::{Line, Outcome, Phase, Shared, Thread};
use crate::{
    content::Block,
    context::interruption::{INTERRUPTED, INTERRUPTED_IN_CALLS, words_of},
    history::Role,
    message::{ApiMessage, AssistantMessage, Message, UserContent, UserMessage},
};

impl Thread {
    /// An interrupt during a response: the part received so far becomes part of the conversation.
    pub(super) fn keep_words(&mut self, shared: &mut Shared) {
        if self.phase() != Phase::Calling || !self.keeps_interrupted() {
            return;
        }
        let Some(response) = self.take_incoming() else {
            return;
        };
        let content = words_of(&response.content);
        if content.is_empty() {
            return;
        }
        self.context.push(Role::Assistant, content.clone());
        let uuid = shared.ids.uuid();
        let message = ApiMessage {
            id: response.id,
            kind: "message".to_owned(),
            role: "assistant".to_owned(),
            model: response.model,
            content,
            stop_reason: None,
            stop_sequence: None,
            usage: response.usage,
        };
        if self.spec.policy.persist {
            self.run.unsaved_response = Some((uuid, message.clone()));
        }
        shared.say(Message::Assistant(AssistantMessage {
            message,
            parent_tool_use_id: self.parent_tool_use_id(),
            error: None,
            aborted: true,
            uuid,
            session_id: shared.id,
        }));
    }

    /// The kept part of the response, for the transcript.
    pub(super) fn kept_words(&mut self) -> Option<Line> {
        let (uuid, message) = self.run.unsaved_response.take()?;
        Some(Line::response(message).under(uuid))
    }

    /// The note that the run was interrupted: for the model, the application and the transcript.
    pub(super) fn mark_interruption(
        &mut self,
        shared: &mut Shared,
        in_calls: bool,
    ) -> Option<Line> {
        if self.run.outcome != Some(Outcome::Interrupted) || !self.keeps_interrupted() {
            return None;
        }
        let word = if in_calls {
            INTERRUPTED_IN_CALLS
        } else {
            INTERRUPTED
        };
        let content = vec![Block::text(word).to_raw()];
        self.context.push(Role::User, content.clone());
        let uuid = shared.ids.uuid();
        shared.say(Message::User(UserMessage {
            message: UserContent::new(content.clone()),
            parent_tool_use_id: self.parent_tool_use_id(),
            tool_use_result: None,
            is_synthetic: false,
            is_replay: false,
            uuid,
            session_id: shared.id,
        }));
        Some(Line::interruption(content).under(uuid))
    }

    /// For a subagent, whoever waits for it reports the interruption.
    fn keeps_interrupted(&self) -> bool {
        self.is_main() && self.spec.prompt.interrupted_answer.is_kept()
    }
}
