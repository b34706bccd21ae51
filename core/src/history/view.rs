//! The conversation as a request takes it.

use alloc::vec::Vec;

use bytes::Bytes;

/// Puts messages of the Messages API into another wire format. A pure function: each message is translated
/// once, and the translation is kept.
pub trait Translator {
    /// One message (a JSON object with `role` and a list `content`) as the messages of the other format,
    /// joined by commas. Empty when nothing of it can be said there.
    fn translate(&self, message: &[u8]) -> Vec<u8>;
}

/// The history as encoded pieces, with the places where a cache breakpoint may be put.
#[derive(Debug, Clone, Copy)]
pub struct HistoryView<'a> {
    /// Pieces that, one after another, are the elements of the `messages` array, commas included.
    pub segments: &'a [Bytes],
    /// Where breakpoints go: segment, and offset in it of the brace that closes a content block.
    pub breakpoints: &'a [(usize, usize)],
}
