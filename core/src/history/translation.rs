//! The history in another wire format, made as far as it is needed and kept.

use alloc::vec::Vec;

use bytes::Bytes;

use super::segments::Segments;

/// A second encoding of the messages, beside the canonical one. Never in a snapshot: it is made again.
///
/// It lies inside the history it belongs to, so it cannot outlive it, and shrinks where that one does.
#[derive(Debug, Clone, Default)]
pub(super) struct Translation {
    segments: Segments,
    /// For each translated message, the length of everything up to its end.
    ends: Vec<usize>,
}

impl Translation {
    /// How many messages are translated.
    pub(super) fn known(&self) -> usize {
        self.ends.len()
    }

    /// What the next message is in the other format: nothing, or several messages joined by commas.
    pub(super) fn push(&mut self, translated: &[u8]) {
        if !translated.is_empty() {
            self.segments.push(translated);
        }
        self.ends.push(self.segments.len());
    }

    pub(super) fn pieces(&self) -> &[Bytes] {
        self.segments.pieces()
    }

    /// Keeps the first so many messages.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.ends.truncate(keep);
        let end = self.ends.last().copied();
        self.segments.truncate(end.unwrap_or(0));
    }
}
