//! The conversation in the form that requests need.

use alloc::vec::Vec;

use bytes::Bytes;

/// Translates messages of the Messages API into another wire format. A pure function: each message is translated once, and the
/// translation is cached.
pub trait Translator {
    /// Translates one message (a JSON object with `role` and a list `content`) to messages of the other format, joined by commas.
    /// Empty if the format cannot express any of it.
    fn translate(&self, message: &[u8]) -> Vec<u8>;
}

/// The history as encoded pieces, with the positions of cache breakpoints.
#[derive(Debug, Clone, Copy)]
pub struct HistoryView<'a> {
    /// The pieces: concatenated they are the elements of the `messages` array, including commas.
    pub segments: &'a [Bytes],
    /// The positions of breakpoints: a segment, and the offset in it of the brace that closes a content block.
    pub breakpoints: &'a [(usize, usize)],
}
