//! The history in another wire format, translated on demand and cached.

use alloc::vec::Vec;

use bytes::Bytes;

use super::segments::Segments;

/// A second encoding of the messages in addition to the canonical one. It is not part of snapshots, since it can be made again.
///
/// It is stored in the history it belongs to, so it cannot outlive it, and it is truncated together with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Translation {
    segments: Segments,
    /// For each translated message, the offset of its end.
    ends: Vec<usize>,
}

impl Translation {
    /// The number of translated messages.
    pub(super) fn known(&self) -> usize {
        self.ends.len()
    }

    /// Appends the translation of the next message: nothing, or several messages joined by commas.
    pub(super) fn push(&mut self, translated: &[u8]) {
        if !translated.is_empty() {
            self.segments.push(translated);
        }
        self.ends.push(self.segments.len());
    }

    pub(super) fn pieces(&self) -> &[Bytes] {
        self.segments.pieces()
    }

    /// Keeps only the first messages.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.ends.truncate(keep);
        let end = self.ends.last().copied();
        self.segments.truncate(end.unwrap_or(0));
    }
}
