//! Suggestions for the next prompt: requested from the model after a result, if enabled (LOOP-35).
//!
//! The request is the conversation with a question at its end, so all of it is read from the cache. It is not part of a run: the
//! result has been emitted, nothing waits for the suggestion, and the next prompt cancels it. A failure is not reported; its cost
//! is counted.

mod due;

pub(super) use self::due::SuggestionDue;

use alloc::{borrow::ToOwned, string::String, vec};

use super::{Outcome, Phase, Shared, Thread, model_call::text_of, run::Run};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    message::{Message, PromptSuggestion},
    provider::Response,
};

/// The question appended to the conversation.
const QUESTION: &str = "(This is a question of the program, not of the user, and nobody but the program reads the answer. Guess the message that the user would \
most likely send next: one line of at most fifteen words, in the user's own language and manner, as an instruction or a question to you. Answer \
with that line alone, without quotation marks, and call no tools. If nothing in particular suggests itself, answer with the word NONE.)";
/// The model's answer if it has no suggestion.
const NO_IDEA: &str = "NONE";
/// The longest suggestion in characters; a longer answer is discarded.
const LONGEST: usize = 300;

impl Thread {
    /// Decides after a run whether a suggestion is wanted.
    pub(super) fn may_suggest(&mut self, run: &Run, outcome: &Outcome) {
        let due = self.is_main()
            && self.spec.stream.prompt_suggestions
            // With structured output there is no next prompt to suggest.
            && self.spec.prompt.output.is_none()
            && *outcome == Outcome::Success
            && run.num_turns > 0;
        self.suggestion.set(due);
    }

    /// Requests a suggestion if one is due and the session is idle.
    pub(super) fn suggest(&mut self, shared: &mut Shared) {
        if !self.suggestion.take() || self.phase() != Phase::Idle {
            return;
        }
        let spent =
            (self.spec.policy.limits.max_budget).is_some_and(|budget| shared.cost >= budget);
        if spent || self.unpriced().is_some() {
            return;
        }
        let mut asked = self.context.copy(self.spec.clearing_by_core());
        asked.push(Role::User, vec![Block::text(QUESTION).to_raw()]);
        // No cache breakpoint at its end: nothing will follow it.
        asked.seal();
        let request = self.request_with(&mut asked);
        let id = self.effect_id(shared, 0, Stage::Suggestion, 1);
        self.send(shared, id, request);
    }

    /// Cancels the suggestion, because something else begins.
    pub(super) fn forget_suggestion(&mut self, shared: &mut Shared) {
        self.suggestion.set(false);
        if let Some(id) = self.model_call.give_up_suggestion() {
            shared.cancel(id);
        }
    }

    /// Handles the model's answer to the question.
    pub(super) fn suggested(&mut self, shared: &mut Shared, response: &Response, asked: &str) {
        self.book(shared, response, asked);
        let calls = |block: &Block| matches!(block, Block::ToolUse(_));
        if response.content.iter().any(calls) {
            return;
        }
        let Some(suggestion) = suggestion_in(&text_of(&response.content)) else {
            return;
        };
        let uuid = shared.ids.uuid();
        shared.say(Message::PromptSuggestion(PromptSuggestion {
            suggestion,
            uuid,
            session_id: shared.id,
        }));
    }
}

/// The suggestion, if the text is a line that can be sent as a prompt.
fn suggestion_in(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let line = quoted.unwrap_or(text).trim();
    let fits = !line.is_empty() && line.len() <= LONGEST && !line.contains('\n');
    (fits && line.trim_end_matches('.') != NO_IDEA).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn only_a_line_that_could_be_sent_is_a_suggestion() {
        let some = |text: &str| suggestion_in(text);
        assert_eq!(some(" run the tests\n"), Some("run the tests".to_string()));
        assert_eq!(some("\"commit it\""), Some("commit it".to_string()));
        for text in ["", "NONE", "NONE.", "a\nb", &"x".repeat(301)] {
            assert_eq!(some(text), None);
        }
    }
}
