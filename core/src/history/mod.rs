//! The conversation as the provider sees it: each message is encoded once and kept as bytes.
//!
//! Messages are appended, joined into larger segments now and then, and never encoded again. Only the last message may still
//! change: consecutive messages of one role become one, since roles must alternate.
//!
//! The canonical form is that of the Messages API. Another wire format has its own form, translated message by message and stored
//! next to it ([`History::view_for`]).

use alloc::{string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::{segments::Segments, translation::Translation};
use crate::json::{RawJson, RawObject};

mod edit;
mod segments;
pub mod size;
mod translation;
mod view;

pub use edit::{Checkpoint, RollbackError};
pub use view::{HistoryView, Translator};

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user; includes tool results.
    User,
    /// The model.
    Assistant,
}

/// The beginning of an encoded user message. Content in front of the first block is inserted right after it.
pub(crate) const USER_OPENING: &str = "{\"role\":\"user\",\"content\":[";

/// The messages of one conversation.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Encoded messages.
    segments: Segments,
    /// The sealed messages.
    marks: Vec<Mark>,
    /// Estimated tokens of the sealed messages.
    tokens: u64,
    /// The last message while it can still grow.
    open: Option<OpenMessage>,
    /// The number of messages in each of the last two requests: the provider has read them before.
    requested: [Option<usize>; 2],
    /// How often a sealed message was changed or removed.
    generation: u64,
    /// The messages in the provider's form, if that is another one.
    translation: Translation,
}

/// The position of a sealed message.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The offset of its first byte, including its comma.
    start: usize,
    role: Role,
    /// Its estimated tokens.
    tokens: u32,
    /// Whether a cache breakpoint may be put at its end.
    may_mark: bool,
    /// Whether it may contain tool results.
    has_results: bool,
}

#[derive(Debug, Clone)]
struct OpenMessage {
    role: Role,
    blocks: Vec<RawJson>,
    /// Whether the blocks are already encoded, as the last sealed message.
    sealed: bool,
}

impl History {
    /// The number of messages.
    #[must_use]
    pub fn message_count(&self) -> usize {
        let unsealed = self.open.as_ref().is_some_and(|open| !open.sealed);
        self.marks.len() + usize::from(unsealed)
    }

    /// Length of the encoded messages in bytes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.segments.len()
    }

    /// Estimated tokens of all messages (see [`size`]).
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        let open = self.open.as_ref().filter(|open| !open.sealed);
        self.tokens + open.map_or(0, |open| u64::from(size::message(&open.blocks)))
    }

    /// A counter that increases whenever an encoded message is changed or removed, but not on appending. A second encoding of the
    /// history can compare it: if it is equal, all messages that were sealed then are unchanged.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Appends blocks to the conversation. Without blocks it does nothing.
    pub fn push(&mut self, role: Role, blocks: Vec<RawJson>) {
        if blocks.is_empty() {
            return;
        }
        match &mut self.open {
            Some(open) if open.role == role => {
                open.blocks.extend(blocks);
                if core::mem::take(&mut open.sealed) {
                    self.unseal();
                }
            }
            _ => {
                self.seal();
                self.open = Some(OpenMessage {
                    role,
                    blocks,
                    sealed: false,
                });
            }
        }
    }

    /// Frees unused capacity.
    pub(crate) fn rest(&mut self) {
        self.segments.rest();
        self.marks.shrink_to_fit();
    }

    /// Encodes pending blocks, and records that a request with this history is made.
    pub fn seal_for_request(&mut self) {
        self.seal();
        let count = self.marks.len();
        if self.requested[1] != Some(count) {
            self.requested = [self.requested[1].or(self.requested[0]), Some(count)];
        }
    }

    /// The encoded history with its cache breakpoints: the end of the previous request, which the provider can read from its
    /// cache, and the end of this one, which it should store (LOOP-17).
    #[must_use]
    pub fn view<'a>(&'a self, breakpoints: &'a mut Vec<(usize, usize)>) -> HistoryView<'a> {
        breakpoints.clear();
        for count in self.requested.into_iter().flatten() {
            let last = count.checked_sub(1).filter(|at| *at < self.marks.len());
            if let Some(last) = last.filter(|at| self.marks[*at].may_mark) {
                // The text ends with the brackets of the last block and the message: `}]}`.
                breakpoints.extend(self.segments.locate(self.end_of(last) - 3));
            }
        }
        breakpoints.dedup();
        HistoryView {
            segments: self.segments.pieces(),
            breakpoints,
        }
    }

    /// The history in the form of a provider with this translator: [`view`](Self::view), or its translation, in which only
    /// messages added since the last time are encoded. Call [`seal_for_request`](Self::seal_for_request) first.
    ///
    /// A history keeps one translation: it is always sent to the same provider.
    #[must_use]
    pub fn view_for<'a>(
        &'a mut self,
        translator: Option<&dyn Translator>,
        breakpoints: &'a mut Vec<(usize, usize)>,
    ) -> HistoryView<'a> {
        let Some(translator) = translator else {
            return self.view(breakpoints);
        };
        for index in self.translation.known()..self.marks.len() {
            let line = self.sealed_line(index);
            self.translation.push(&translator.translate(&line));
        }
        breakpoints.clear();
        HistoryView {
            segments: self.translation.pieces(),
            breakpoints,
        }
    }

    /// Every message as its JSON text, in order.
    pub fn lines(&self) -> impl Iterator<Item = Bytes> + '_ {
        let open = self.open.as_ref().filter(|open| !open.sealed);
        (0..self.marks.len())
            .map(|index| self.sealed_line(index))
            .chain(open.map(|open| Bytes::from(encode(open.role, &open.blocks))))
    }

    /// The state that is not in the lines.
    pub(crate) fn state(&self) -> HistoryState {
        HistoryState {
            requested: self.requested.map(|count| {
                let last = count.and_then(|count| count.checked_sub(1));
                last.map(|at| self.end_of(at) as u64)
            }),
            last_is_sealed: self.open.as_ref().is_none_or(|open| open.sealed),
        }
    }

    /// Restores a history from its lines and its state; none if they do not match.
    pub(crate) fn restore(
        messages: Vec<(Role, Vec<RawJson>)>,
        state: HistoryState,
    ) -> Option<Self> {
        let mut history = Self::default();
        for (role, blocks) in messages {
            if history.last_role() == Some(role) || blocks.is_empty() {
                return None;
            }
            history.push(role, blocks);
        }
        if state.last_is_sealed {
            history.seal();
        }
        let ends: Vec<u64> = (0..history.marks.len())
            .map(|index| history.end_of(index) as u64)
            .collect();
        for (slot, end) in history.requested.iter_mut().zip(state.requested) {
            *slot = match end {
                Some(end) => Some(ends.iter().position(|known| *known == end)? + 1),
                None => None,
            };
        }
        Some(history)
    }

    /// Encodes pending blocks.
    pub(crate) fn seal(&mut self) {
        let Some(open) = self.open.as_mut().filter(|open| !open.sealed) else {
            return;
        };
        open.sealed = true;
        let role = open.role;
        let mark = Mark {
            start: self.segments.len(),
            role,
            tokens: size::message(&open.blocks),
            may_mark: (open.blocks.last()).is_some_and(|block| may_carry_breakpoint(block.get())),
            has_results: role == Role::User && open.blocks.iter().any(may_be_result),
        };
        let encoded = encode(role, &open.blocks);
        self.append(mark, &encoded);
    }

    fn append(&mut self, mark: Mark, encoded: &[u8]) {
        self.segments.push(encoded);
        self.tokens += u64::from(mark.tokens);
        self.marks.push(mark);
    }

    /// Reopens the last sealed message, because it grew after a request that failed.
    fn unseal(&mut self) {
        self.drop_sealed(self.marks.len().saturating_sub(1));
    }

    /// Keeps only this many sealed messages.
    fn drop_sealed(&mut self, keep: usize) {
        let Some(cut) = self.marks.get(keep).map(|mark| mark.start) else {
            return;
        };
        self.generation += 1;
        for mark in self.marks.drain(keep..) {
            self.tokens -= u64::from(mark.tokens);
        }
        self.segments.truncate(cut);
        self.translation.truncate(keep);
        for requested in &mut self.requested {
            *requested = requested.filter(|count| *count <= keep);
        }
    }

    /// The offset of the end of a sealed message.
    fn end_of(&self, index: usize) -> usize {
        self.marks
            .get(index + 1)
            .map_or(self.segments.len(), |next| next.start)
    }

    /// A sealed message as its JSON text.
    fn sealed_line(&self, index: usize) -> Bytes {
        let start = self.marks[index].start;
        self.segments
            .range(start + usize::from(start > 0), self.end_of(index))
    }

    /// The role of the last message.
    #[must_use]
    pub fn last_role(&self) -> Option<Role> {
        self.open
            .as_ref()
            .map(|open| open.role)
            .or_else(|| self.marks.last().map(|mark| mark.role))
    }
}

/// The state that a snapshot contains besides the lines of a history.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct HistoryState {
    requested: [Option<u64>; 2],
    last_is_sealed: bool,
}

/// Thinking must not carry a breakpoint, and a block with its own breakpoint needs no second one.
fn may_carry_breakpoint(block: &str) -> bool {
    block.ends_with('}')
        && !block.contains("\"cache_control\"")
        && !(block.contains("thinking\"") && is_thinking(block))
}

/// Whether a block is thinking, plain or redacted; the order of fields differs between servers.
fn is_thinking(block: &str) -> bool {
    let kind = RawObject::parse(block)
        .ok()
        .and_then(|block| block.get_string("type"));
    matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
}

/// Whether a block may be a tool result. False positives are acceptable: other writers of transcripts may order the fields
/// differently.
fn may_be_result(block: &RawJson) -> bool {
    block.get().contains("tool_result")
}

fn encode(role: Role, blocks: &[RawJson]) -> Vec<u8> {
    let mut out =
        String::with_capacity(32 + blocks.iter().map(|b| b.get().len() + 1).sum::<usize>());
    match role {
        Role::User => out.push_str(USER_OPENING),
        Role::Assistant => out.push_str("{\"role\":\"assistant\",\"content\":["),
    }
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(block.get());
    }
    out.push_str("]}");
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    fn text(t: &str) -> Vec<RawJson> {
        alloc::vec![crate::content::Block::text(t).to_raw()]
    }

    fn joined(history: &History) -> String {
        let bytes: Vec<u8> = history
            .segments
            .pieces()
            .iter()
            .flatten()
            .copied()
            .collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn segments_stay_few_and_lose_nothing() {
        let mut history = History::default();
        let mut expected = String::new();
        for i in 0..500 {
            let (role, name) = if i % 2 == 0 {
                (Role::User, "user")
            } else {
                (Role::Assistant, "assistant")
            };
            history.push(role, text(&i.to_string()));
            history.seal_for_request();
            if i > 0 {
                expected.push(',');
            }
            expected.push_str(&format!(
                "{{\"role\":\"{name}\",\"content\":[{{\"type\":\"text\",\"text\":\"{i}\"}}]}}",
            ));
        }
        assert_eq!(joined(&history), expected);
        assert!(history.segments.pieces().len() < 20);
        assert_eq!(history.lines().count(), 500);
    }

    #[test]
    fn a_message_that_grows_after_a_failed_request_is_encoded_anew() {
        let mut history = History::default();
        history.push(Role::User, text("a"));
        history.push(Role::Assistant, text("b"));
        history.push(Role::User, text("c"));
        history.seal_for_request();
        history.push(Role::User, text("d"));
        history.seal_for_request();
        let lines: Vec<_> = history.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[2],
            r#"{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}"#
        );
        let all: Vec<serde_json::Value> =
            serde_json::from_str(&format!("[{}]", joined(&history))).unwrap();
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn thinking_takes_no_breakpoint_in_whatever_order_its_fields_are() {
        for block in [
            r#"{"type":"thinking","thinking":"a","signature":"b"}"#,
            r#"{"data":"a","type":"redacted_thinking"}"#,
        ] {
            assert!(!may_carry_breakpoint(block), "{block}");
        }
        assert!(may_carry_breakpoint(
            r#"{"type":"tool_use","id":"a","name":"b","input":{"thinking":"c"}}"#
        ));
    }

    #[test]
    fn breakpoints_stand_at_the_end_of_this_request_and_the_one_before() {
        let mut history = History::default();
        let mut places = Vec::new();
        for i in 0..10 {
            history.push(Role::User, text("question"));
            history.seal_for_request();
            let view = history.view(&mut places);
            assert_eq!(view.breakpoints.len(), 1 + usize::from(i > 0));
            for (segment, at) in view.breakpoints {
                assert!(view.segments[*segment][*at..].starts_with(b"}]}"));
            }
            history.push(Role::Assistant, text("answer"));
        }
    }

    /// Another wire format, in which a message is its text in angle brackets.
    #[derive(Debug)]
    struct Angles(core::sync::atomic::AtomicUsize);

    impl Translator for Angles {
        fn translate(&self, message: &[u8]) -> Vec<u8> {
            self.0.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            let message: serde_json::Value = serde_json::from_slice(message).unwrap();
            let texts = message["content"].as_array().unwrap().iter();
            let words: Vec<&str> = texts.map(|b| b["text"].as_str().unwrap()).collect();
            match words.as_slice() {
                ["unspeakable"] => Vec::new(),
                _ => format!("<{}>", words.join("+")).into_bytes(),
            }
        }
    }

    fn translated(history: &mut History, provider: &Angles) -> (String, usize) {
        history.seal_for_request();
        let before = provider.0.load(core::sync::atomic::Ordering::Relaxed);
        let mut places = Vec::new();
        let view = history.view_for(Some(provider), &mut places);
        assert!(view.breakpoints.is_empty());
        let bytes: Vec<u8> = view.segments.iter().flatten().copied().collect();
        let now = provider.0.load(core::sync::atomic::Ordering::Relaxed);
        (String::from_utf8(bytes).unwrap(), now - before)
    }

    #[test]
    fn only_what_is_new_is_translated() {
        let angles = Angles(0.into());
        let mut history = History::default();
        history.push(Role::User, text("unspeakable"));
        assert_eq!(translated(&mut history, &angles), (String::new(), 1));
        history.push(Role::Assistant, text("a"));
        history.push(Role::User, text("b"));
        assert_eq!(translated(&mut history, &angles), ("<a>,<b>".into(), 2));
        assert_eq!(translated(&mut history, &angles), ("<a>,<b>".into(), 0));
        // The last message grows after a request that failed.
        history.push(Role::User, text("c"));
        assert_eq!(translated(&mut history, &angles), ("<a>,<b+c>".into(), 1));
        for i in 0..100 {
            let role = if i % 2 == 0 {
                Role::Assistant
            } else {
                Role::User
            };
            history.push(role, text("x"));
            assert_eq!(translated(&mut history, &angles).1, 1);
        }
        // A rollback also shortens the translation; an edited copy has a translation of its own.
        let at = history.checkpoint();
        history.push(Role::Assistant, text("no"));
        translated(&mut history, &angles);
        history.rollback(at).unwrap();
        history.push(Role::Assistant, text("yes"));
        let (all, new) = translated(&mut history, &angles);
        assert!(all.ends_with("<x>,<yes>"), "{all}");
        assert_eq!(new, 1);
        let mut edited = history.edited(|_, _| text("-").remove(0));
        assert_eq!(translated(&mut edited, &angles).1, 104);
        // The canonical form is unchanged.
        assert_eq!(history.lines().count(), 104);
        assert!(joined(&history).starts_with("{\"role\":\"user\""));
    }
}
