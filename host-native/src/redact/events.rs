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
            match self.open.is_empty() && !self.ends_like_a_key(&event, &texts) {
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
mod tests {
    use secrecy::SecretString;
    use serde_json::{Value, json};

    use super::*;

    const KEY: &str = "sk-ant-api03-0123456789-abcdef";

    fn redactor() -> Redactor {
        Redactor::new([&SecretString::from(KEY)])
    }

    /// The events of a block that says a text, so many characters at a time.
    fn block(index: usize, text: &str, size: usize) -> Vec<String> {
        let pieces = text.as_bytes().chunks(size);
        let event = |piece: &[u8]| {
            let text = std::str::from_utf8(piece).unwrap();
            let data = json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "text_delta", "text": text}});
            format!("event: content_block_delta\ndata: {data}\n\n")
        };
        pieces.map(event).collect()
    }

    /// What a block says in these events.
    fn said(events: &str, index: usize) -> String {
        let data = events
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let events = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
        let of_block = events.filter(|event| event["index"] == index);
        let texts = of_block.filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned));
        texts.collect()
    }

    fn clean(events: &str, size: usize) -> String {
        let mut stream = redactor().events();
        let mut clean = Vec::new();
        for piece in events.as_bytes().chunks(size) {
            clean.extend_from_slice(&stream.take(Bytes::copy_from_slice(piece)));
        }
        clean.extend_from_slice(&stream.finish());
        String::from_utf8(clean).unwrap()
    }

    #[test]
    fn a_key_is_found_over_however_many_events_it_is_said() {
        let text = format!("It was sk-ant-{KEY}, {KEY}{KEY} and sk-ant-api03-, yes");
        for size in 1..text.len() {
            let events = block(0, &text, size).concat();
            for piece in [1, 10, 100, events.len()] {
                let said = said(&clean(&events, piece), 0);
                assert!(!said.contains("-0123456789-"), "{size}: {said}");
                assert!(said.contains(REPLACEMENT), "{size}: {said}");
                assert!(said.starts_with("It was sk-ant-"), "{size}: {said}");
                assert!(said.ends_with(" and sk-ant-api03-, yes"), "{size}: {said}");
            }
        }
    }

    #[test]
    fn blocks_that_are_said_in_turns_are_not_mixed_up() {
        let (one, two) = (
            block(0, &format!("a {KEY} b"), 3),
            block(1, "sk-ant-nothing", 2),
        );
        let mut events = String::new();
        for n in 0..one.len().max(two.len()) {
            events.extend(one.get(n).map(String::as_str));
            events.push_str("event: ping\ndata: {\"type\": \"ping\"}\n\n");
            events.extend(two.get(n).map(String::as_str));
        }
        let clean = clean(&events, 50);
        let first = said(&clean, 0);
        assert!(
            first.contains(REPLACEMENT) && !first.contains("0123"),
            "{first}"
        );
        assert_eq!(said(&clean, 1), "sk-ant-nothing");
    }

    #[test]
    fn both_formats_of_events_are_known() {
        let pieces = KEY.as_bytes().chunks(5).map(|piece| {
            let text = std::str::from_utf8(piece).unwrap();
            format!(
                "data: {{\"id\": \"c\", \"choices\": [{{\"index\": 0, \"delta\": {{\"content\": \"{text}\"}}}}]}}\r\n\r\n"
            )
        });
        let clean = clean(&pieces.collect::<String>(), 64);
        assert!(clean.contains("[key]") && !clean.contains("012"), "{clean}");
        assert!(clean.ends_with("data: {\"id\": \"c\", \"choices\": [{\"index\": 0, \"delta\": {\"content\": \"[key]\"}}]}\r\n\r\n"), "{clean}");
    }

    #[test]
    fn what_else_changes_from_event_to_event_hides_no_key() {
        let pieces: Vec<&str> = [&KEY[..4], &KEY[4..9], &KEY[9..10], &KEY[10..]].to_vec();
        let shapes: [fn(usize, &str) -> String; 6] = [
            |n, text| {
                format!("id: {n}\ndata: {{\"index\":0,\"delta\":{{\"text\":\"{text}\"}}}}\n\n")
            },
            |n, text| {
                format!("data: {{\"seq\":{n},\"index\":0,\"delta\":{{\"text\":\"{text}\"}}}}\n\n")
            },
            |n, text| match n {
                0 => format!(
                    "data: {{\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}\n\n"
                ),
                _ => format!("data: {{\"delta\":{{\"text\":\"{text}\"}},\"index\":0}}\n\n"),
            },
            |n, text| match n {
                0 => format!(
                    "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}}}}]}}\n\n"
                ),
                _ => format!(
                    "data: {{\"created\":{n},\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
                ),
            },
            |n, text| match n {
                0 => format!(
                    "data: {{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"f\",\"arguments\":\"{text}\"}}}}]}}\n\n"
                ),
                _ => format!(
                    "data: {{\"tool_calls\":[{{\"index\":0,\"function\":{{\"arguments\":\"{text}\"}}}}]}}\n\n"
                ),
            },
            |n, text| {
                format!(
                    "data: {{\"index\":0,\"refusal\":\"{text}\"}}\n\ndata: {{\"usage\":{n}}}\n\n"
                )
            },
        ];
        for (number, shape) in shapes.into_iter().enumerate() {
            let shaped = pieces.iter().enumerate().map(|(n, text)| shape(n, text));
            let clean = clean(&shaped.collect::<String>(), 64);
            for piece in &pieces[1..] {
                assert!(
                    !clean.contains(&format!("\"{piece}\"")),
                    "{number}: {clean}"
                );
            }
            assert!(clean.contains(REPLACEMENT), "{number}: {clean}");
        }
    }

    #[test]
    fn texts_of_one_event_are_not_one_text() {
        let event = |one: &str, two: &str| {
            format!("data: {{\"content\":[{{\"text\":\"{one}\"}},{{\"text\":\"{two}\"}}]}}\n\n")
        };
        let (first, second) = KEY.split_at(10);
        let both = [event(first, first), event(second, "no")].concat();
        let expected = [event("", first), event(REPLACEMENT, "no")].concat();
        assert_eq!(clean(&both, 64), expected);
        let turned = [event(second, first), event("no", second)].concat();
        let expected = [event(second, ""), event("no", REPLACEMENT)].concat();
        assert_eq!(clean(&turned, 64), expected);
        let apart = event(first, second);
        assert_eq!(clean(&apart, 64), apart);
    }

    /// Whatever is said in turns: no text holds a key in the end, and what is no key is said.
    #[test]
    fn whatever_is_said_in_turns_no_text_holds_a_key() {
        let seed: u64 = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_nanos() as u64;
        let mut state = seed;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for _ in 0..500 {
            let mut events = String::new();
            let mut said_before: [String; 4] = Default::default();
            for n in 0..40 {
                let texts: Vec<(usize, String)> = (0..1 + below(3))
                    .map(|_| {
                        let begin = below(KEY.len());
                        let end = begin + below(KEY.len() - begin + 1);
                        let text = match below(4) {
                            0 => "no".to_owned(),
                            1 => KEY.to_owned(),
                            _ => KEY[begin..end].to_owned(),
                        };
                        (below(4), text)
                    })
                    .collect();
                let blocks: Vec<String> = (texts.iter())
                    .map(|(field, text)| {
                        let field = ["text", "thinking", "arguments", "content"][*field];
                        format!("{{\"{field}\":\"{text}\"}}")
                    })
                    .collect();
                events.push_str(&format!(
                    "data: {{\"n\":{n},\"of\":[{}]}}\n\n",
                    blocks.join(",")
                ));
                let mut seen = [false; 4];
                for (field, text) in texts {
                    // The second of a name in an event is a text of its own.
                    if !std::mem::replace(&mut seen[field], true) {
                        said_before[field].push_str(&text);
                    }
                }
            }
            let clean = clean(&events, 1 + below(200));
            assert!(!clean.contains(KEY), "seed {seed}");
            let read = clean.lines().filter_map(|line| line.strip_prefix("data: "));
            let events: Vec<Value> = read
                .map(|data| serde_json::from_str(data).unwrap())
                .collect();
            for (number, field) in ["text", "thinking", "arguments", "content"]
                .iter()
                .enumerate()
            {
                let pieces = events.iter().filter_map(|event| {
                    let of = event["of"].as_array()?;
                    of.iter().find_map(|block| block[field].as_str())
                });
                let said: String = pieces.collect();
                assert!(!said.contains(KEY), "seed {seed}: {said}");
                let expected = said_before[number].replace(KEY, REPLACEMENT);
                assert_eq!(said, expected, "seed {seed}");
            }
        }
    }

    #[test]
    fn the_work_is_proportional_to_what_comes() {
        let text = "{\"text\": \"s\"}, ".repeat(200_000);
        let many = "data: {\"text\": \"s\"}\n\n".repeat(10_000);
        let distinct: String = (0..10_000)
            .map(|n| format!("data: {{\"n\": {n}, \"text\": \"sk-ant-\"}}\n\n"))
            .collect();
        let endless = format!("data: {text}");
        // Each of these would take minutes if anything was looked at again and again.
        for events in [format!("data: {text}\n\n"), endless, many, distinct] {
            assert_eq!(clean(&events, 64), events);
        }
    }

    #[test]
    fn what_holds_no_key_is_left_as_it_is() {
        let mut events = block(0, "He asks: \"sk-ant-api\\03\"? Yes.", 2).concat();
        events.push_str("event: content_block_stop\ndata: {\"index\": 0}\n\n");
        events.push_str(
            ": comment\n\ndata: {\"choices\": [{\"delta\": {\"content\": \"sk\"}}]}\r\n\r\n",
        );
        events.push_str("data: {\"text\": \"sk-ant-api03");
        for size in [1, 7, 1000] {
            assert_eq!(clean(&events, size), events);
        }
    }

    #[test]
    fn an_event_is_held_back_only_while_its_text_may_become_a_key() {
        let mut stream = redactor().events();
        let mut take = |text: &str| {
            let event = block(0, text, 100).concat();
            stream.take(Bytes::copy_from_slice(event.as_bytes())).len()
        };
        assert_ne!(take("This is"), 0);
        assert_eq!(take(" sk-ant"), 0);
        assert_ne!(take("elope"), 0);
        assert_eq!(take("sk-ant-"), 0);
        let stop = Bytes::from_static(b"data: {\"type\": \"content_block_stop\"}\n\n");
        assert_ne!(stream.take(stop).len(), 0);
    }
}
