//! Changes to existing messages: rollback, restarting from a summary, and edited copies.
//!
//! These are rare (a refused prompt, a compaction, a clearing), so they may parse messages again; operations of every turn must
//! not.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{History, OpenMessage, Role};
use crate::json::RawJson;

/// The length of a history, in messages and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    messages: u64,
    /// The number of blocks in the last message.
    blocks: u64,
}

/// The history is shorter than the checkpoint: it was replaced since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the history has been shortened since the checkpoint: there is nothing to go back to")]
pub struct RollbackError;

impl History {
    /// A point that [`rollback`](Self::rollback) can return to.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let blocks = self.open.as_ref().map_or(0, |open| open.blocks.len());
        Checkpoint {
            messages: self.message_count() as u64,
            blocks: blocks as u64,
        }
    }

    /// Removes everything that was pushed since the checkpoint.
    ///
    /// # Errors
    /// [`RollbackError`] if the history now has fewer messages or blocks than the checkpoint; nothing changes.
    pub fn rollback(&mut self, to: Checkpoint) -> Result<(), RollbackError> {
        let messages = usize::try_from(to.messages).map_err(|_| RollbackError)?;
        let blocks = usize::try_from(to.blocks).map_err(|_| RollbackError)?;
        let Some(last) = messages.checked_sub(1) else {
            self.drop_sealed(0);
            self.open = None;
            return Ok(());
        };
        if last >= self.message_count() {
            return Err(RollbackError);
        }
        let mut kept = self.blocks(last);
        if kept.len() < blocks {
            return Err(RollbackError);
        }
        let was_sealed = last < self.marks.len();
        let shrinks = kept.len() > blocks;
        let role = self.role(last);
        kept.truncate(blocks);
        self.drop_sealed(if shrinks { last } else { messages });
        self.open = Some(OpenMessage {
            role,
            blocks: kept,
            sealed: was_sealed && !shrinks,
        });
        Ok(())
    }

    /// The corresponding checkpoint in another history that ends with the same blocks.
    #[must_use]
    pub(crate) fn checkpoint_in(&self, other: &Self, at: Checkpoint) -> Checkpoint {
        let end = self.checkpoint();
        let before = if at.messages == end.messages {
            at.blocks
        } else {
            0
        };
        let since = end.blocks.saturating_sub(before);
        let there = other.checkpoint();
        match there.blocks.checked_sub(since) {
            Some(blocks) if blocks > 0 => Checkpoint { blocks, ..there },
            _ => Checkpoint {
                messages: there.messages.saturating_sub(1),
                blocks: (other.message_count().checked_sub(2))
                    .map_or(0, |at| other.blocks(at).len()) as u64,
            },
        }
    }

    /// Whether a history may begin with the message at `index`, after everything before it was replaced by one user message: no
    /// call is then separated from its result.
    #[must_use]
    pub fn may_begin_at(&self, index: usize) -> bool {
        match self.marks.get(index) {
            // The results before a response belong to the calls they answer.
            Some(mark) => mark.role == Role::Assistant || !mark.has_results,
            None => self.open.as_ref().is_some_and(|open| {
                index + 1 == self.message_count()
                    && (open.role == Role::Assistant
                        || !open.blocks.iter().any(super::may_be_result))
            }),
        }
    }

    /// Estimated tokens of one message; none if there is no such message.
    #[must_use]
    pub fn tokens_of(&self, index: usize) -> Option<u32> {
        match self.marks.get(index) {
            Some(mark) => Some(mark.tokens),
            None if index < self.message_count() => {
                let open = self.open.as_ref()?;
                Some(super::size::message(&open.blocks))
            }
            None => None,
        }
    }

    /// The history with its first messages replaced by one user message. `from` is the index of the first message that is kept;
    /// the number of messages if none is.
    ///
    /// None if a history cannot begin there ([`may_begin_at`](Self::may_begin_at)) or `beginning` is empty.
    #[must_use]
    pub fn with_beginning(&self, from: usize, beginning: Vec<RawJson>) -> Option<Self> {
        let count = self.message_count();
        if beginning.is_empty() || from > count || (from < count && !self.may_begin_at(from)) {
            return None;
        }
        let mut begun = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
        begun.push(Role::User, beginning);
        for index in from..count {
            begun.push(self.role(index), self.blocks(index));
        }
        if self.open.as_ref().is_none_or(|open| open.sealed) {
            begun.seal();
        }
        Some(begun)
    }

    /// A copy of the conversation with some blocks changed, which a provider is shown instead. `edit` gets each block with its
    /// role; the number of blocks, the roles and the order stay.
    #[must_use]
    pub fn edited(&self, mut edit: impl FnMut(Role, RawJson) -> RawJson) -> Self {
        let mut edited = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
        for index in 0..self.message_count() {
            let role = self.role(index);
            let blocks = self.blocks(index).into_iter();
            edited.push(role, blocks.map(|block| edit(role, block)).collect());
        }
        if self.open.as_ref().is_none_or(|open| open.sealed) {
            edited.seal();
        }
        edited.requested = self.requested;
        edited
    }

    /// Copies the record of requests from another version of the conversation.
    pub(crate) fn requested_like(&mut self, other: &Self) {
        self.seal();
        self.requested = other.requested;
    }

    /// The role of the message at `index`; the user's if there is no such message.
    #[must_use]
    pub fn role(&self, index: usize) -> Role {
        let open = self.open.as_ref().map(|open| open.role);
        let sealed = self.marks.get(index).map(|mark| mark.role);
        sealed.or(open).unwrap_or(Role::User)
    }

    /// The blocks of the message at `index`; empty if there is no such message.
    #[must_use]
    pub fn blocks(&self, index: usize) -> Vec<RawJson> {
        #[derive(Deserialize)]
        struct Line {
            content: Vec<RawJson>,
        }
        if index + 1 == self.message_count()
            && let Some(open) = &self.open
        {
            return open.blocks.clone();
        }
        if index >= self.marks.len() {
            return Vec::new();
        }
        // It was encoded from blocks, so it can be parsed.
        crate::json::read::from_slice(&self.sealed_line(index))
            .map_or(Vec::new(), |line: Line| line.content)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String, vec, vec::Vec};

    use super::*;
    use crate::content::{Block, tool_result};

    fn text(words: &str) -> Vec<RawJson> {
        vec![Block::text(words).to_raw()]
    }

    fn call(id: &str) -> Vec<RawJson> {
        let raw = format!(r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}"#);
        vec![RawJson::parse(raw).unwrap()]
    }

    fn result(id: &str) -> Vec<RawJson> {
        vec![tool_result(id, &[], false)]
    }

    /// Prompt, call, result, call, result, answer, prompt.
    fn conversation() -> History {
        let mut history = History::default();
        let said = [
            text("first"),
            call("a"),
            result("a"),
            call("b"),
            result("b"),
            text("done"),
            text("second"),
        ];
        for (index, blocks) in said.into_iter().enumerate() {
            let role = if index % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            history.push(role, blocks);
            history.seal_for_request();
        }
        history
    }

    fn all(history: &History) -> Vec<String> {
        let utf8 = |line: bytes::Bytes| String::from_utf8(line.to_vec()).unwrap();
        history.lines().map(utf8).collect()
    }

    #[test]
    fn a_history_begins_only_where_no_result_is_orphaned() {
        let history = conversation();
        let may: Vec<bool> = (0..8).map(|at| history.may_begin_at(at)).collect();
        assert_eq!(may, [true, true, false, true, false, true, true, false]);
        assert!(history.with_beginning(2, text("summary")).is_none());
        assert!(history.with_beginning(8, text("summary")).is_none());
        assert!(history.with_beginning(3, Vec::new()).is_none());
    }

    #[test]
    fn a_new_beginning_keeps_the_rest_byte_for_byte() {
        let history = conversation();
        let begun = history.with_beginning(3, text("summary")).unwrap();
        let (old, new) = (all(&history), all(&begun));
        assert_eq!(new[1..], old[3..]);
        assert!(new[0].contains("summary"));
        assert_ne!(begun.generation(), history.generation());
        // Followed by a prompt, both become one message, since roles alternate.
        let begun = history.with_beginning(6, text("summary")).unwrap();
        assert_eq!(begun.message_count(), 1);
        assert_eq!(begun.blocks(0).len(), 2);
        let begun = history.with_beginning(7, text("summary")).unwrap();
        assert_eq!(all(&begun).len(), 1);
    }

    #[test]
    fn tokens_are_those_of_the_messages_whatever_was_done() {
        let sum = |h: &History| {
            (0..h.message_count())
                .map(|i| u64::from(h.tokens_of(i).unwrap()))
                .sum::<u64>()
        };
        let mut history = conversation();
        assert_eq!(history.estimated_tokens(), sum(&history));
        let at = history.checkpoint();
        history.push(Role::User, text("more words than before"));
        assert_eq!(history.estimated_tokens(), sum(&history));
        history.rollback(at).unwrap();
        assert_eq!(history.estimated_tokens(), sum(&history));
        let begun = history.with_beginning(3, text("summary")).unwrap();
        assert_eq!(begun.estimated_tokens(), sum(&begun));
    }

    #[test]
    fn a_rollback_takes_back_messages_and_blocks_sealed_or_not() {
        for sealed in [true, false] {
            for keep in 0..=7 {
                let mut short = History::default();
                let full = conversation();
                for index in 0..keep {
                    short.push(full.role(index), full.blocks(index));
                }
                short.push(full.role(keep), text("a last word"));
                short.seal();
                let (at, before) = (short.checkpoint(), all(&short));
                let generation = short.generation();
                for index in keep..7 {
                    short.push(full.role(index), full.blocks(index));
                    if sealed {
                        short.seal_for_request();
                    }
                }
                short.rollback(at).unwrap();
                assert_eq!(all(&short), before, "{keep} {sealed}");
                assert!(generation <= short.generation());
                // What follows is appended as if the removed messages had never existed.
                short.push(Role::User, text("again"));
                short.seal_for_request();
                assert_eq!(short.message_count(), all(&short).len());
                let joined: Vec<u8> = short.segments.pieces().iter().flatten().copied().collect();
                let json = format!("[{}]", String::from_utf8(joined).unwrap());
                let read: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
                assert_eq!(read.len(), short.message_count());
            }
        }
    }

    #[test]
    fn a_rollback_to_nothing_empties_and_one_beyond_the_end_fails() {
        let mut history = History::default();
        let empty = history.checkpoint();
        history.push(Role::User, text("words"));
        history.seal_for_request();
        let later = history.checkpoint();
        history.rollback(empty).unwrap();
        assert_eq!(history.message_count(), 0);
        assert_eq!(history.encoded_len(), 0);
        assert_eq!(history.rollback(later), Err(RollbackError));
        history.push(Role::User, text("other"));
        assert_eq!(all(&history).len(), 1);
    }

    #[test]
    fn an_edited_history_keeps_its_shape_and_its_breakpoints() {
        let history = conversation();
        let edited = history.edited(|role, block| match role {
            Role::User if super::super::may_be_result(&block) => text("cleared").remove(0),
            _ => block,
        });
        assert_eq!(edited.message_count(), history.message_count());
        let (mut there, mut here) = (Vec::new(), Vec::new());
        assert_eq!(
            edited.view(&mut there).breakpoints.len(),
            history.view(&mut here).breakpoints.len()
        );
        assert!(all(&edited)[2].contains("cleared"));
        assert!(!all(&history)[2].contains("cleared"));
    }
}
