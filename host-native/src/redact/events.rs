//! Keys in a text that is streamed: a model says a text in many small events, and a key may begin in one and end in another.
//!
//! Events are let through whole. The texts of the events of one block are looked at as one text; an event whose text ends like
//! the beginning of a key is held back until it is known how the text goes on. That is one event later as a rule, and there is
//! hardly ever one to hold back.

use bytes::{Bytes, BytesMut};

use super::{
    REPLACEMENT, Redactor,
    texts::{Name, Piece, pieces},
};

/// So much of a key says nothing about it (`sk-`): for less no event is held back. It stays before the replacement.
const HARMLESS: usize = 4;

/// Pieces of a text are short. A longer event is let through, searched for whole keys only: so the work stays proportional to
/// what comes.
const LONGEST_PIECE: usize = 64 * 1024;

/// The most texts of one event that are pieces of longer ones.
const MOST_TEXTS: usize = 16;

/// The most texts that are open at the same time, and the most events that are held back for them.
const MOST_OPEN: usize = 32;
const MOST_HELD: usize = 512;

/// Server-sent events that come piece by piece and leave without keys.
#[derive(Debug)]
pub(crate) struct RedactedEvents {
    redactor: Redactor,
    /// The event that is not complete.
    incomplete: BytesMut,
    /// How far it was searched for its end.
    lines: Lines,
    /// Events that are held back, in their order.
    held: Vec<Vec<u8>>,
    /// The texts that end like the beginning of a key.
    open: Vec<Open>,
}

/// A text that ends like the beginning of a key.
#[derive(Debug)]
struct Open {
    /// Which text it is.
    name: Name,
    /// The beginning of the key.
    begun: Vec<u8>,
    /// Where it stands, in the order of the events.
    places: Vec<Place>,
}

/// The end of a text in an event that is held back.
#[derive(Debug)]
struct Place {
    /// The number of the event.
    held: usize,
    /// Where its text ends.
    end: usize,
    /// So many bytes before that are of the beginning of a key.
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

    /// Takes a piece; gives back the events that are complete and known to hold no key. That may be none.
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
            // Whoever reads it has a limit of its own, and is to see that it is too long.
            self.open.clear();
            self.release(&mut released);
            released.extend_from_slice(&self.incomplete.split());
            self.lines = Lines::default();
        }
        released.into()
    }

    /// No more comes.
    pub(super) fn finish(&mut self) -> Bytes {
        let mut released = Vec::new();
        self.release(&mut released);
        released.extend_from_slice(&self.incomplete.split());
        released.into()
    }

    /// Whether a text of an event ends like the beginning of a key.
    fn ends_like_a_key(&self, event: &[u8], texts: &[Piece]) -> bool {
        let mut texts = texts.iter().take(MOST_TEXTS);
        texts.any(|piece| self.redactor.begun(&event[piece.start..piece.end]) > 0)
    }

    fn event(&mut self, mut event: Vec<u8>, texts: Vec<Piece>, released: &mut Vec<u8>) {
        let has_text = !texts.is_empty();
        // From the last to the first: what is written into one moves only those behind it.
        for piece in texts.into_iter().take(MOST_TEXTS).rev() {
            self.text(&mut event, piece);
        }
        if !has_text && ends_texts(&event) {
            self.open.clear();
        }
        self.held.push(event);
        if self.open.len() > MOST_OPEN || self.held.len() > MOST_HELD {
            // No model says so much at once.
            self.open.clear();
        }
        let may_go = (self.open.iter()).all(|open| open.begun.len() < HARMLESS);
        if may_go {
            self.release(released);
        }
    }

    /// Looks at a text of an event that is about to be held.
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
        // A key that lies in one event was found before.
        if earlier > 0
            && let Some((at, length)) = self.redactor.first(&joined)
            && at < earlier
        {
            // What stands before it was no beginning of a key after all.
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
        // Only the last places hold what is still a beginning.
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

    /// Takes bytes away from the end of a text of an event that is held. Other texts of that event then end earlier.
    fn shorten(&mut self, held: usize, end: usize, count: usize) {
        self.held[held].drain(end - count..end);
        let places = self.open.iter_mut().flat_map(|open| &mut open.places);
        for place in places.filter(|place| place.held == held && place.end >= end) {
            place.end -= count;
        }
    }

    /// Puts the replacement in the place of bytes of the event that is about to be held.
    fn replace(&mut self, event: &mut Vec<u8>, start: usize, count: usize) {
        event.splice(start..start + count, REPLACEMENT.bytes());
        let held = self.held.len();
        let places = self.open.iter_mut().flat_map(|open| &mut open.places);
        for place in places.filter(|place| place.held == held && place.end > start) {
            place.end = place.end - count + REPLACEMENT.len();
        }
    }

    /// Lets go what was held back. What an open text has by now begun with is gone: only what follows is looked at.
    fn release(&mut self, released: &mut Vec<u8>) {
        for event in self.held.drain(..) {
            released.extend_from_slice(&event);
        }
        for open in &mut self.open {
            open.places.clear();
        }
    }
}

/// Whether no text goes on behind an event: a block ends, or the response.
fn ends_texts(event: &[u8]) -> bool {
    let ends: [&[u8]; 3] = [b"_stop", b"[DONE]", b"\"finish_reason\":\""];
    ends.iter()
        .any(|end| memchr::memmem::find(event, end).is_some())
}

/// A comment, or an event that only says that the connection lives: it waits for no other.
fn is_sign_of_life(event: &[u8]) -> bool {
    event.starts_with(b":") || memchr::memmem::find(event, b"\"ping\"").is_some()
}

/// How far bytes were searched for the end of an event.
#[derive(Debug, Default)]
struct Lines {
    /// Where the last line begins.
    line: usize,
    searched: usize,
}

impl Lines {
    /// Where the first event ends: behind an empty line. What was searched is not searched again.
    fn end_of_event(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &bytes[self.searched..]) {
            let at = self.searched + found;
            let next = match bytes[at..] {
                // The other half of the line end may be on its way.
                [b'\r'] => {
                    self.searched = at;
                    return None;
                }
                [b'\r', b'\n', ..] => at + 2,
                _ => at + 1,
            };
            // An empty line, and not at the very beginning.
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
