//! Compaction: the beginning of a conversation is replaced by a summary that the model writes.
//!
//! This module decides when to compact, where to cut, what to ask the model, and how the conversation begins afterwards. The
//! session carries it out.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    content::Block,
    history::{History, Role},
    json::RawJson,
};

/// When and how a conversation is compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    /// Whether it is triggered automatically. If not, only by `/compact`.
    pub automatic: bool,
    /// The size of the context in tokens beyond which it is triggered. None: the model's window minus the reserve; if the window
    /// is unknown, only when the server rejects a request as too long.
    pub threshold_tokens: Option<u64>,
    /// Tokens of the window that are reserved for a response and the summary; at most a quarter of it.
    pub reserve_tokens: u64,
    /// The newest exchanges are kept unchanged, up to this many tokens and a third of the conversation.
    pub keep_tokens: u64,
    /// Instructions for summaries, in addition to those in memory files.
    pub instructions: Option<String>,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            automatic: true,
            threshold_tokens: None,
            reserve_tokens: 33_000,
            keep_tokens: 20_000,
            instructions: None,
        }
    }
}

impl Compaction {
    /// The size in tokens beyond which a conversation with a model of this window (0: unknown) is compacted automatically; none
    /// is never.
    #[must_use]
    pub fn threshold(&self, window: u64) -> Option<u64> {
        if !self.automatic {
            return None;
        }
        let room = || window - self.reserve_tokens.min(window / 4);
        self.threshold_tokens.or_else(|| (window > 0).then(room))
    }

    /// The index of the first message that is kept; the number of messages if none can be kept. None if there is nothing to
    /// summarise.
    ///
    /// A prompt that is not answered yet is always kept.
    #[must_use]
    pub fn cut(&self, history: &History) -> Option<usize> {
        let count = history.message_count();
        let limit = self.keep_tokens.min(history.estimated_tokens() / 3);
        let mut kept = 0;
        // Keeping whole exchanges is preferred to keeping the end of one, which is preferred to keeping nothing.
        let (mut at_prompt, mut anywhere) = (None, count);
        for index in (1..count).rev() {
            kept += u64::from(history.tokens_of(index).unwrap_or(0));
            let of_user = history.role(index) == Role::User;
            let unanswered = of_user && index + 1 == count;
            if history.may_begin_at(index) && (kept <= limit || unanswered) {
                anywhere = index;
                at_prompt = of_user.then_some(index).or(at_prompt);
            }
            if kept > limit {
                break;
            }
        }
        let only_a_prompt = count == 1 && history.role(0) == Role::User && history.may_begin_at(0);
        (count > 0 && !only_a_prompt).then_some(at_prompt.unwrap_or(anywhere))
    }
}

/// The instructions of a prompt that asks for compaction (`/compact`, `/compact keep the names`), trimmed and possibly empty;
/// none for any other prompt.
#[must_use]
pub fn command(prompt: &[RawJson]) -> Option<String> {
    let [only] = prompt else { return None };
    let Block::Text { text, .. } = Block::from_raw(only.clone()) else {
        return None;
    };
    let rest = text.trim().strip_prefix("/compact")?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim().to_owned())
}

/// The question to the model, appended to the unchanged conversation. Everything before it, tools included, is the same as in the
/// last request, so that it is read from the cache.
#[must_use]
pub fn question(instructions: &[&str]) -> String {
    let mut out = QUESTION.to_owned();
    for wish in instructions
        .iter()
        .map(|wish| wish.trim())
        .filter(|wish| !wish.is_empty())
    {
        out.push_str("\n\nFor this summary in particular:\n");
        out.push_str(wish);
    }
    out
}

/// The beginning of the conversation after a compaction. `goes_on`: a run is in progress and no new prompt follows.
#[must_use]
pub fn beginning(summary: &str, goes_on: bool) -> String {
    let more = if goes_on {
        "\n\nGo on with the work where it was, without telling the user about this summary and without asking whether to."
    } else {
        ""
    };
    format!(
        "The earlier part of this conversation was replaced by a summary to make room. It is all that is left of that part:\n\n{}{more}",
        summary.trim()
    )
}

/// Replaces the oldest messages if the request for a summary is itself too long.
pub(crate) const LEFT_OUT: &str = "[The oldest part of this conversation had to be left out here. Say in the summary that it begins in the middle.]";

/// The next shorter conversation to summarise: about half of it, cut where a history may begin.
#[must_use]
pub fn shorter(history: &History) -> Option<History> {
    let count = history.message_count();
    let half = history.estimated_tokens() / 2;
    let mut dropped = 0;
    let from = (0..count).find(|index| {
        let here = dropped >= half.max(1) && history.may_begin_at(*index);
        dropped += u64::from(history.tokens_of(*index).unwrap_or(0));
        here
    })?;
    let left_out = Vec::from([Block::text(LEFT_OUT).to_raw()]);
    // Replacing a single message by another is no progress.
    (from > 1 || count > 2)
        .then(|| history.with_beginning(from, left_out))
        .flatten()
        .filter(|shorter| shorter.estimated_tokens() < history.estimated_tokens())
}

const QUESTION: &str = "\
<system-reminder>
The conversation is about to exceed what fits into the context. Your next response will take the place of its earlier part: whoever goes on, goes on from your words alone and from the last few messages. Answer with the summary itself, as text. Call no tool now; a call would be dropped.

Write down what is needed to go on without loss, under these headings, each as long as it must be:

1. Wishes: everything the user asked for, in the user's own words where they matter, with later corrections and what is forbidden. Where a wish was changed, the last version holds.
2. State: what is done and verified, what is done and not verified, what is in the middle.
3. Files and places: each one that matters, with its full path, what is in it and what was changed; signatures, names and short pieces of code where the next step depends on them.
4. Findings: decisions and their reasons, facts learned from tools, commands that work here, errors that occurred and what cured them.
5. Open: what remains, in order, and the very next step. If the last message asks for something that was not begun, quote it.

Keep paths, identifiers, numbers and error texts exactly. Leave out what is settled and will not matter again. Add nothing that was not said or seen. If the instructions given at the beginning (in memory files such as CLAUDE.md) say what a summary or compaction has to preserve, under whatever heading, do as they say.
</system-reminder>";

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;
    use crate::content::tool_result;

    fn text(words: &str) -> Vec<RawJson> {
        vec![Block::text(words).to_raw()]
    }

    /// Exchanges of a prompt, a call, its result and an answer, of about this many tokens each.
    fn conversation(exchanges: usize, tokens: usize) -> History {
        let mut history = History::default();
        for n in 0..exchanges {
            let id = n.to_string();
            history.push(Role::User, text(&"p".repeat(tokens)));
            let call = format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
            history.push(Role::Assistant, vec![RawJson::parse(call).unwrap()]);
            let output = crate::content::ResultBlock::Text {
                text: "r".repeat(tokens * 3),
            };
            history.push(Role::User, vec![tool_result(&id, &[output], false)]);
            history.push(Role::Assistant, text("done"));
        }
        history.seal_for_request();
        history
    }

    #[test]
    fn the_threshold_is_set_or_follows_the_window() {
        let policy = Compaction::default();
        assert_eq!(policy.threshold(200_000), Some(167_000));
        assert_eq!(policy.threshold(8_000), Some(6_000));
        assert_eq!(policy.threshold(0), None);
        let set = Compaction {
            threshold_tokens: Some(50_000),
            ..Compaction::default()
        };
        assert_eq!(set.threshold(0), Some(50_000));
        let off = Compaction {
            automatic: false,
            ..set
        };
        assert_eq!(off.threshold(200_000), None);
    }

    #[test]
    fn the_newest_exchanges_stay_and_no_call_loses_its_result() {
        let history = conversation(10, 1_000);
        let policy = Compaction {
            keep_tokens: 2_500,
            ..Compaction::default()
        };
        let cut = policy.cut(&history).unwrap();
        assert!(history.may_begin_at(cut));
        assert_eq!(cut, 32, "two exchanges of 1,000 tokens");
        // A third at most, so that every compaction frees something.
        let wide = Compaction {
            keep_tokens: 1_000_000,
            ..policy
        };
        assert_eq!(wide.cut(&history), Some(28));
    }

    #[test]
    fn a_prompt_without_an_answer_stays_however_long_it_is() {
        let mut history = conversation(2, 100);
        history.push(Role::User, text(&"long ".repeat(10_000)));
        assert_eq!(Compaction::default().cut(&history), Some(8));
    }

    #[test]
    fn an_exchange_too_big_to_keep_is_summed_up_with_the_rest() {
        let mut history = conversation(1, 10);
        history.push(Role::User, text("go"));
        let call = r#"{"type":"tool_use","id":"x","name":"Read","input":{}}"#;
        history.push(Role::Assistant, vec![RawJson::parse(call).unwrap()]);
        let output = crate::content::ResultBlock::Text {
            text: "r".repeat(400_000),
        };
        history.push(Role::User, vec![tool_result("x", &[output], false)]);
        assert_eq!(Compaction::default().cut(&history), Some(7));
    }

    #[test]
    fn nothing_or_a_first_prompt_cannot_be_summed_up() {
        let mut history = History::default();
        assert_eq!(Compaction::default().cut(&history), None);
        history.push(Role::User, text("hello"));
        assert_eq!(Compaction::default().cut(&history), None);
        history.push(Role::Assistant, text("hello"));
        assert_eq!(Compaction::default().cut(&history), Some(2));
    }

    #[test]
    fn the_command_is_a_prompt_of_one_text() {
        let of = |t: &str| command(&text(t));
        assert_eq!(of("/compact").as_deref(), Some(""));
        assert_eq!(of(" /compact  keep names\n").as_deref(), Some("keep names"));
        assert_eq!(of("/compactor"), None);
        assert_eq!(of("please /compact"), None);
        assert_eq!(command(&[text("/compact"), text("more")].concat()), None);
    }

    #[test]
    fn a_conversation_grows_shorter_until_nothing_is_left_to_drop() {
        let mut history = conversation(20, 1_000);
        let mut steps = 0;
        while let Some(next) = shorter(&history) {
            assert!(next.estimated_tokens() < history.estimated_tokens());
            assert_eq!(next.role(0), Role::User);
            history = next;
            steps += 1;
            assert!(steps < 20);
        }
        assert!(steps > 2, "{steps}");
    }
}
