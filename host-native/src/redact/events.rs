//! Removes keys from streamed texts: a model's text comes in many small events, and a key may be split between them.
//!
//! Events are passed on as a whole. The texts of the events of one block are treated as one text. An event whose text
//! ends with the beginning of a key is held back until the continuation is known. Usually that is one event later,
//! and it is rarely necessary.

use bytes::{Bytes, BytesMut};

use super::{
    REPLACEMENT, Redactor,
    texts::{Name, Piece, pieces},
};

/// A beginning of a key up to this length reveals nothing (`sk-`), so no event is held back for it. It stays before
/// the replacement.
const HARMLESS: usize = 4;

/// The maximum length of an event that is examined for parts of texts. A longer one is searched for complete keys
/// only, so that the work stays proportional to the input.
const LONGEST_PIECE: usize = 64 * 1024;

/// The maximum number of texts in one event that are treated as parts of longer ones.
const MOST_TEXTS: usize = 16;

/// The maximum number of open texts, and of events held back for them.
const MOST_OPEN: usize = 32;
const MOST_HELD: usize = 512;

/// Removes keys from server-sent events that arrive in pieces.
#[derive(Debug)]
pub(crate) struct RedactedEvents {
    redactor: Redactor,
    /// The incomplete last event.
    incomplete: BytesMut,
    /// How far it was searched for its end.
    lines: Lines,
    /// Events held back, in order.
    held: Vec<Vec<u8>>,
    /// Texts that end with the beginning of a key.
    open: Vec<Open>,
}

/// A text that ends with the beginning of a key.
#[derive(Debug)]
struct Open {
    /// Identifies the text.
    name: Name,
    /// The beginning of the key.
    begun: Vec<u8>,
    /// The positions of its parts, in the order of the events.
    places: Vec<Place>,
}

/// The end of a text in an event that is held back.
#[derive(Debug)]
struct Place {
    /// The index of the event.
    held: usize,
    /// Where its text ends.
    end: usize,
    /// The number of bytes before the end that belong to the beginning of a key.
    count: usize,
}

impl RedactedEvents {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            incomplete: BytesMut::new(),
            lines: Lines::default(),
            held: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes a piece; returns the events that are complete and known to contain no key, possibly none.
    pub(super) fn take(&mut self, piece: &[u8]) -> Bytes {
        self.incomplete.extend_from_slice(piece);
        let mut released = Vec::new();
        while let Some(end) = self.lines.end_of_event(&self.incomplete) {
            let event = self.incomplete.split_to(end);
            let texts = match event.len() > LONGEST_PIECE {
                true => Vec::new(),
                false => pieces(&event),
            };
            let may_go = self.open.is_empty() && !self.ends_like_a_key(&event, &texts);
            match may_go || texts.is_empty() && is_sign_of_life(&event) {
                true => released.extend_from_slice(&event),
                false => self.event(event.to_vec(), texts, &mut released),
            }
        }
        if self.incomplete.len() > LONGEST_PIECE {
            // The reader has its own limit and must see that the event is too long.
            self.open.clear();
            self.release(&mut released);
            released.extend_from_slice(&self.incomplete.split());
            self.lines = Lines::default();
        }
        released.into()
    }

    /// Flushes at the end of the stream.
    pub(super) fn finish(&mut self) -> Bytes {
        let mut released = Vec::new();
        self.release(&mut released);
        released.extend_from_slice(&self.incomplete.split());
        released.into()
    }

    /// Whether a text of an event ends with the beginning of a key.
    fn ends_like_a_key(&self, event: &[u8], texts: &[Piece]) -> bool {
        let mut texts = texts.iter().take(MOST_TEXTS);
        texts.any(|piece| self.redactor.begun(&event[piece.start..piece.end]) > 0)
    }

    fn event(&mut self, mut event: Vec<u8>, texts: Vec<Piece>, released: &mut Vec<u8>) {
        let has_text = !texts.is_empty();
        // In reverse order, since a replacement moves only what comes after it.
        for piece in texts.into_iter().take(MOST_TEXTS).rev() {
            self.text(&mut event, piece);
        }
        if !has_text && ends_texts(&event) {
            self.open.clear();
        }
        self.held.push(event);
        if self.open.len() > MOST_OPEN || self.held.len() > MOST_HELD {
            // No model sends so much at once.
            self.open.clear();
        }
        let may_go = (self.open.iter()).all(|open| open.begun.len() < HARMLESS);
        if may_go {
            self.release(released);
        }
    }

    /// Processes a text of an event that is about to be held back.
    fn text(&mut self, event: &mut Vec<u8>, piece: Piece) {
        let Piece { start, mut end, .. } = piece;
        let name = Name::of(event, &piece);
        let open = self.open.iter().position(|open| open.name == name);
        let mut open = match open {
            Some(open) => self.open.swap_remove(open),
            None => Open {
                name,
                begun: Vec::new(),
                places: Vec::new(),
            },
        };
        let mut joined = std::mem::take(&mut open.begun);
        let earlier = joined.len();
        joined.extend_from_slice(&event[start..end]);
        // A key within one event was found before.
        if earlier > 0
            && let Some((at, length)) = self.redactor.first(&joined)
            && at < earlier
        {
            // The part before it turned out not to be the beginning of a key.
            let places: usize = open.places.iter().map(|place| place.count).sum();
            let mut harmless = at.saturating_sub(earlier - places);
            for place in std::mem::take(&mut open.places) {
                let kept = harmless.min(place.count);
                harmless -= kept;
                self.shorten(place.held, place.end, place.count - kept);
            }
            let own = (at + length).saturating_sub(earlier);
            self.replace(event, start, own);
            end = end - own + REPLACEMENT.len();
            joined = event[start..end].to_vec();
        }
        let begun = self.redactor.begun(&joined);
        if begun == 0 {
            return;
        }
        // Only the last positions still belong to a beginning.
        let own = begun.min(end - start);
        let mut left = begun - own;
        for place in open.places.iter_mut().rev() {
            place.count = left.min(place.count);
            left -= place.count;
        }
        open.places.retain(|place| place.count > 0);
        open.places.push(Place {
            held: self.held.len(),
            end,
            count: own,
        });
        open.begun = joined.split_off(joined.len() - begun);
        self.open.push(open);
    }

    /// Removes bytes at the end of a text of an event that is held back. Other texts of that event then end earlier.
    fn shorten(&mut self, held: usize, end: usize, count: usize) {
        self.held[held].drain(end - count..end);
        let places = self.open.iter_mut().flat_map(|open| &mut open.places);
        for place in places.filter(|place| place.held == held && place.end >= end) {
            place.end -= count;
        }
    }

    /// Replaces bytes of the event that is about to be held back.
    fn replace(&mut self, event: &mut Vec<u8>, start: usize, count: usize) {
        event.splice(start..start + count, REPLACEMENT.bytes());
        let held = self.held.len();
        let places = self.open.iter_mut().flat_map(|open| &mut open.places);
        for place in places.filter(|place| place.held == held && place.end > start) {
            place.end = place.end - count + REPLACEMENT.len();
        }
    }

    /// Releases the events held back. Beginnings in them can no longer be removed; only the following text is examined.
    fn release(&mut self, released: &mut Vec<u8>) {
        for event in self.held.drain(..) {
            released.extend_from_slice(&event);
        }
        for open in &mut self.open {
            open.places.clear();
        }
    }
}

/// Whether all texts end with an event: the end of a block or of the response.
fn ends_texts(event: &[u8]) -> bool {
    let ends: [&[u8]; 3] = [b"_stop", b"[DONE]", b"\"finish_reason\":\""];
    ends.iter()
        .any(|end| memchr::memmem::find(event, end).is_some())
}

/// A comment or keep-alive event, which need not wait for others.
fn is_sign_of_life(event: &[u8]) -> bool {
    event.starts_with(b":") || memchr::memmem::find(event, b"\"ping\"").is_some()
}

/// How far bytes were searched for the end of an event.
#[derive(Debug, Default)]
struct Lines {
    /// The start of the last line.
    line: usize,
    searched: usize,
}

impl Lines {
    /// The end of the first event: after an empty line. Searched bytes are not searched again.
    fn end_of_event(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[self.searched..]) {
            let at = self.searched + found;
            let next = match bytes[at..] {
                // The second half of the line end may still arrive.
                [b'\r'] => {
                    self.searched = at;
                    return None;
                }
                [b'\r', b'\n', ..] => at + 2,
                _ => at + 1,
            };
            // An empty line that is not at the very beginning.
            if at == self.line && self.line > 0 {
                *self = Self::default();
                return Some(next);
            }
            (self.line, self.searched) = (next, next);
        }
        self.searched = bytes.len();
        None
    }
}

#[cfg(test)]
mod tests;
