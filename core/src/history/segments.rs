//! Encoded messages in a few shared pieces.

use alloc::vec::Vec;

use bytes::Bytes;

/// Pieces of this size are left alone; smaller ones are joined, so that a request consists of few pieces.
const PIECE_CAP: usize = 256 << 10;

/// A growing text of JSON values, separated by commas. Existing bytes change only when it is truncated, so that its pieces can be
/// shared without copying.
#[derive(Debug, Clone, Default)]
pub(super) struct Segments {
    /// The pieces, in order and without gaps.
    pieces: Vec<Bytes>,
    /// Length of all pieces.
    len: usize,
}

impl Segments {
    pub(super) fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends one or more values that are already joined, with a comma before them unless they are the first.
    pub(super) fn push(&mut self, encoded: &[u8]) {
        let mut piece = Vec::with_capacity(encoded.len() + 1);
        if self.len > 0 {
            piece.push(b',');
        }
        piece.extend_from_slice(encoded);
        self.len += piece.len();
        self.pieces.push(piece.into());
        self.join_small_pieces();
    }

    /// Frees unused capacity.
    pub(super) fn rest(&mut self) {
        self.pieces.shrink_to_fit();
    }

    /// Keeps the number of pieces logarithmic; each byte is copied a few times in total.
    fn join_small_pieces(&mut self) {
        while let [.., before, last] = self.pieces.as_slice() {
            let joined = before.len() + last.len();
            if before.len() > 2 * last.len() || joined > PIECE_CAP {
                break;
            }
            let mut both = Vec::with_capacity(joined);
            both.extend_from_slice(before);
            both.extend_from_slice(last);
            self.pieces.truncate(self.pieces.len() - 2);
            self.pieces.push(both.into());
        }
    }

    /// Truncates to this length.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.len > len {
            let Some(last) = self.pieces.pop() else {
                return;
            };
            self.len -= last.len();
            if self.len < len {
                let keep = last.slice(..len - self.len);
                self.len += keep.len();
                self.pieces.push(keep);
            }
        }
    }

    /// The piece, and the offset in it, of an offset in the whole text.
    pub(super) fn locate(&self, offset: usize) -> Option<(usize, usize)> {
        let mut end = self.len;
        for (index, piece) in self.pieces.iter().enumerate().rev() {
            let start = end - piece.len();
            if (start..end).contains(&offset) {
                return Some((index, offset - start));
            }
            end = start;
        }
        None
    }

    /// The bytes between two offsets: shared if they are in one piece, otherwise a copy.
    pub(super) fn range(&self, from: usize, to: usize) -> Bytes {
        if let Some((piece, at)) = self.locate(from)
            && let Some(end) = at.checked_add(to - from)
            && end <= self.pieces[piece].len()
        {
            return self.pieces[piece].slice(at..end);
        }
        let mut out = Vec::with_capacity(to - from);
        let mut at = 0;
        for piece in &self.pieces {
            let (start, end) = (at, at + piece.len());
            at = end;
            let (a, b) = (from.clamp(start, end), to.clamp(start, end));
            out.extend_from_slice(&piece[a - start..b - start]);
        }
        out.into()
    }
}
