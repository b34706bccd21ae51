//! Encoded messages as a few shared pieces.

use alloc::vec::Vec;

use bytes::Bytes;

/// Larger pieces are left alone; smaller ones are joined, so that a request has few of them.
const PIECE_CAP: usize = 256 << 10;

/// A growing text of JSON values, a comma between any two. It is cut anew only where it shrinks, so its
/// pieces can be handed out without a copy.
#[derive(Debug, Clone, Default)]
pub(super) struct Segments {
    /// In order, joined without gaps.
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

    /// Appends one or more values that are joined already, with a comma before them unless they are the first.
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

    /// Gives back room that was kept for growing.
    pub(super) fn rest(&mut self) {
        self.pieces.shrink_to_fit();
    }

    /// Keeps the number of pieces logarithmic; each byte is copied a few times over its life.
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

    /// Takes off what lies beyond this length.
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

    /// Piece and offset of an offset in the whole.
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

    /// What lies between two offsets: shared where it is of one piece, else a copy.
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
