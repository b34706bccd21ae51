//! The conversation as the provider will see it: each message encoded once, kept as bytes.
//!
//! Messages are appended, joined into larger segments now and then, and never encoded again. The
//! one message that may still change is the last: consecutive messages of one role become one, since
//! roles must alternate.

use alloc::{string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{json::RawJson, provider::HistoryView};

/// Larger segments are left alone; smaller ones are joined, so that a request has few pieces.
const SEGMENT_CAP: usize = 256 << 10;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, or tool results.
    User,
    /// The model.
    Assistant,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// The messages of one conversation.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Encoded messages, each but the first with a comma before it; in order, joined without gaps.
    segments: Vec<Bytes>,
    /// Length of all segments.
    len: usize,
    /// Sealed messages.
    marks: Vec<Mark>,
    /// The last message while it can still grow.
    open: Option<OpenMessage>,
    /// Ends of the histories of the last two requests: the provider has read that far before.
    requested: [Option<usize>; 2],
}

/// Where a sealed message lies.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Offset of its first byte, its comma included.
    start: usize,
    role: Role,
    /// Offset of the brace that closes its last block; none where no breakpoint may stand.
    breakpoint: Option<usize>,
}

#[derive(Debug, Clone)]
struct OpenMessage {
    role: Role,
    blocks: Vec<RawJson>,
    /// Whether the blocks are encoded already, as the last sealed message.
    sealed: bool,
}

impl History {
    /// Number of messages.
    #[must_use]
    pub fn message_count(&self) -> usize {
        let unsealed = self.open.as_ref().is_some_and(|open| !open.sealed);
        self.marks.len() + usize::from(unsealed)
    }

    /// Length of the encoded messages in bytes.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.len
    }

    /// Appends blocks to the conversation. No blocks, no message.
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

    /// Encodes what is not yet encoded and notes that a request with this history is made.
    pub fn seal_for_request(&mut self) {
        self.seal();
        if self.requested[1] != Some(self.len) {
            self.requested = [self.requested[1].or(self.requested[0]), Some(self.len)];
        }
    }

    /// The encoded history with its cache breakpoints: the end of the request before, which the
    /// provider can read from its cache, and the end of this one, which it shall keep (LOOP-17).
    #[must_use]
    pub fn view<'a>(&'a self, breakpoints: &'a mut Vec<(usize, usize)>) -> HistoryView<'a> {
        breakpoints.clear();
        for end in self.requested.into_iter().flatten() {
            let mark = self.marks.iter().rev().find(|mark| mark.start < end);
            if let Some(at) = mark.and_then(|mark| mark.breakpoint) {
                breakpoints.extend(self.locate(at));
            }
        }
        breakpoints.dedup();
        HistoryView {
            segments: &self.segments,
            breakpoints,
        }
    }

    /// Every message as its JSON text, in order.
    pub fn lines(&self) -> impl Iterator<Item = Bytes> + '_ {
        let open = self.open.as_ref().filter(|open| !open.sealed);
        self.marks
            .iter()
            .enumerate()
            .map(|(i, mark)| {
                let end = self.marks.get(i + 1).map_or(self.len, |next| next.start);
                let comma = usize::from(mark.start > 0);
                self.copy_range(mark.start + comma, end)
            })
            .chain(open.map(|open| Bytes::from(encode(open.role, &open.blocks))))
    }

    /// What the lines do not say.
    pub(crate) fn state(&self) -> HistoryState {
        HistoryState {
            requested: self.requested.map(|end| end.map(|end| end as u64)),
            last_is_sealed: self.open.as_ref().is_none_or(|open| open.sealed),
        }
    }

    /// A history from its lines and the rest; none if they do not belong together.
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
        for (slot, end) in history.requested.iter_mut().zip(state.requested) {
            *slot = match end {
                Some(end) => Some(usize::try_from(end).ok().filter(|e| *e <= history.len)?),
                None => None,
            };
        }
        Some(history)
    }

    fn seal(&mut self) {
        let Some(open) = self.open.as_mut().filter(|open| !open.sealed) else {
            return;
        };
        open.sealed = true;
        let role = open.role;
        let can_mark = open
            .blocks
            .last()
            .is_some_and(|block| may_carry_breakpoint(block.get()));
        let encoded = encode(role, &open.blocks);
        self.append(role, &encoded, can_mark);
    }

    fn append(&mut self, role: Role, encoded: &[u8], can_mark: bool) {
        let mut piece = Vec::with_capacity(encoded.len() + 1);
        if self.len > 0 {
            piece.push(b',');
        }
        piece.extend_from_slice(encoded);
        let start = self.len;
        self.len += piece.len();
        self.marks.push(Mark {
            start,
            role,
            // The text ends with the braces of the last block and the message: `}]}`.
            breakpoint: can_mark.then(|| self.len - 3),
        });
        self.segments.push(piece.into());
        self.join_small_segments();
    }

    /// Keeps the number of segments logarithmic; each byte is copied a few times over its life.
    fn join_small_segments(&mut self) {
        while let [.., before, last] = self.segments.as_slice() {
            let joined = before.len() + last.len();
            if before.len() > 2 * last.len() || joined > SEGMENT_CAP {
                break;
            }
            let mut both = Vec::with_capacity(joined);
            both.extend_from_slice(before);
            both.extend_from_slice(last);
            self.segments.truncate(self.segments.len() - 2);
            self.segments.push(both.into());
        }
    }

    /// Takes the last sealed message off again: it grew after a request that came to nothing.
    fn unseal(&mut self) {
        let Some(mark) = self.marks.pop() else {
            return;
        };
        while let Some(last) = self.segments.pop() {
            let start = self.len - last.len();
            self.len = start;
            if start <= mark.start {
                let keep = last.slice(..mark.start - start);
                self.len += keep.len();
                if !keep.is_empty() {
                    self.segments.push(keep);
                }
                break;
            }
        }
        for requested in &mut self.requested {
            *requested = requested.filter(|end| *end <= self.len);
        }
    }

    /// Segment and offset of an offset in the whole.
    fn locate(&self, offset: usize) -> Option<(usize, usize)> {
        let mut end = self.len;
        for (index, segment) in self.segments.iter().enumerate().rev() {
            let start = end - segment.len();
            if (start..end).contains(&offset) {
                return Some((index, offset - start));
            }
            end = start;
        }
        None
    }

    fn copy_range(&self, from: usize, to: usize) -> Bytes {
        let mut out = Vec::with_capacity(to - from);
        let mut at = 0;
        for segment in &self.segments {
            let (start, end) = (at, at + segment.len());
            at = end;
            let (a, b) = (from.clamp(start, end), to.clamp(start, end));
            out.extend_from_slice(&segment[a - start..b - start]);
        }
        out.into()
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

/// What a snapshot keeps of a history beside its lines.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct HistoryState {
    requested: [Option<u64>; 2],
    last_is_sealed: bool,
}

/// Thinking takes no breakpoint, and a block that brings its own needs no second one.
fn may_carry_breakpoint(block: &str) -> bool {
    block.ends_with('}')
        && !block.contains("\"cache_control\"")
        && !block.starts_with("{\"type\":\"thinking\"")
        && !block.starts_with("{\"type\":\"redacted_thinking\"")
}

fn encode(role: Role, blocks: &[RawJson]) -> Vec<u8> {
    let mut out =
        String::with_capacity(32 + blocks.iter().map(|b| b.get().len() + 1).sum::<usize>());
    out.push_str("{\"role\":\"");
    out.push_str(role.name());
    out.push_str("\",\"content\":[");
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
        let bytes: Vec<u8> = history.segments.iter().flatten().copied().collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn segments_stay_few_and_lose_nothing() {
        let mut history = History::default();
        let mut expected = String::new();
        for i in 0..500 {
            let role = if i % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            history.push(role, text(&i.to_string()));
            history.seal_for_request();
            if i > 0 {
                expected.push(',');
            }
            expected.push_str(&format!(
                "{{\"role\":\"{}\",\"content\":[{{\"type\":\"text\",\"text\":\"{i}\"}}]}}",
                role.name()
            ));
        }
        assert_eq!(joined(&history), expected);
        assert!(history.segments.len() < 20, "{}", history.segments.len());
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
}
