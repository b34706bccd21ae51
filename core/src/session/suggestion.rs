//! What the person might say next: asked of the model after a result, where somebody wants to know (LOOP-35).
//!
//! The request is the conversation with a question behind it, so all of it is read from the cache. It is no part of any
//! run: the result is out already, nothing waits for it, and the next prompt puts an end to it. When it fails nobody is
//! told, for nobody is the worse for it; what it costs is in the books.

use alloc::{borrow::ToOwned, string::String, vec};

use super::{Outcome, Phase, Shared, Thread, model_call::text_of, run::Run};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    message::{Message, PromptSuggestion},
    provider::Response,
};

/// What the model is asked behind the conversation.
const QUESTION: &str = "(This is a question of the program, not of the user, and nobody but the program reads the answer. Guess the message that the user would \
most likely send next: one line of at most fifteen words, in the user's own language and manner, as an instruction or a question to you. Answer \
with that line alone, without quotation marks, and call no tools. If nothing in particular suggests itself, answer with the word NONE.)";
/// What the model answers when it has no idea.
const NO_IDEA: &str = "NONE";
/// Nobody types more than that; a longer answer is no suggestion.
const LONGEST: usize = 300;

/// Whether somebody wants to know what the person might say next.
#[derive(Debug, Default)]
pub(super) struct Suggestion {
    /// It is to be asked for; never between inputs.
    due: bool,
}

impl Thread {
    /// Notes after a run whether somebody will want to know how it might go on.
    pub(super) fn may_suggest(&mut self, run: &Run, outcome: &Outcome) {
        self.suggestion.due = self.is_main()
            && self.spec.stream.prompt_suggestions
            // A program that wants a value says nothing next.
            && self.spec.prompt.output.is_none()
            && *outcome == Outcome::Success
            && run.num_turns > 0;
    }

    /// Asks for a suggestion if one is due and nothing else goes on.
    pub(super) fn suggest(&mut self, shared: &mut Shared) {
        if !core::mem::take(&mut self.suggestion.due) || self.phase() != Phase::Idle {
            return;
        }
        let spent =
            (self.spec.policy.limits.max_budget).is_some_and(|budget| shared.cost >= budget);
        if spent || self.unpriced().is_some() {
            return;
        }
        let mut asked = self.context.copy(self.spec.clearing_by_core());
        asked.push(Role::User, vec![Block::text(QUESTION).to_raw()]);
        // Its end is no place for a breakpoint: nothing will follow it.
        asked.seal();
        let request = self.request_with(&mut asked);
        let id = self.effect_id(shared, 0, Stage::Suggestion, 1);
        self.send(shared, id, request);
    }

    /// Something else begins: nobody wants the suggestion any more.
    pub(super) fn forget_suggestion(&mut self, shared: &mut Shared) {
        self.suggestion.due = false;
        if let Some(id) = self.model_call.give_up_suggestion() {
            shared.cancel(id);
        }
    }

    /// The suggestion has come, or whatever the model had to say in its place.
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

/// A line that somebody could send as it is.
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
