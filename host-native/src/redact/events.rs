//! Keys in a text that is streamed: a model says a text in many small events, and a key may begin in one and end in another.
//!
//! Events are let through whole. The texts of the events of one block are looked at as one text; an event whose text ends like
//! the beginning of a key is held back until it is known how the text goes on. That is one event later as a rule, and there is
//! hardly ever one to hold back.

use bytes::{Bytes, BytesMut};

use super::{REPLACEMENT, Redactor};

/// The fields that hold a piece of a longer text, in the formats that are spoken.
const TEXTS: [&[u8]; 7] = [
    b"text",
    b"thinking",
    b"partial_json",
    b"content",
    b"reasoning_content",
    b"reasoning",
    b"arguments",
];

/// So much of a key says nothing about it (`sk-`): for less no event is held back.
const HARMLESS: usize = 4;

/// Server-sent events that come piece by piece and leave without keys.
#[derive(Debug)]
pub(crate) struct RedactedEvents {
    redactor: Redactor,
    /// The event that is not complete.
    incomplete: BytesMut,
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
    /// Where it stands: the held event, and how many bytes at the end of its text.
    places: Vec<(usize, usize)>,
}

/// What the events of one text have in common.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    /// What stands before the text.
    before: Vec<u8>,
    /// The numbers of the block, or of the answer and the call in it, wherever they stand.
    numbers: Vec<u8>,
}

impl RedactedEvents {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            incomplete: BytesMut::new(),
            held: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Takes a piece; gives back the events that are complete and known to hold no key. That may be none.
    pub(super) fn take(&mut self, piece: &[u8]) -> Bytes {
        self.incomplete.extend_from_slice(piece);
        let mut released = Vec::new();
        while let Some(end) = end_of_event(&self.incomplete) {
            let event = self.incomplete.split_to(end);
            match self.open.is_empty() && !self.ends_like_a_key(&event) {
                true => released.extend_from_slice(&event),
                false => self.event(event.to_vec(), &mut released),
            }
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
    fn ends_like_a_key(&self, event: &[u8]) -> bool {
        let mut texts = texts(event).into_iter();
        texts.any(|(start, end)| self.redactor.begun(&event[start..end]) > 0)
    }

    fn event(&mut self, mut event: Vec<u8>, released: &mut Vec<u8>) {
        let mut has_text = false;
        // From the last to the first: what is written into one moves only those behind it.
        for (start, end) in texts(&event).into_iter().rev() {
            has_text = true;
            self.text(&mut event, start, end);
        }
        if !has_text && !is_sign_of_life(&event) {
            // A block ends, or the response: no text goes on.
            self.open.clear();
        }
        self.held.push(event);
        let may_go = (self.open.iter()).all(|open| open.begun.len() < HARMLESS);
        if may_go {
            self.release(released);
        }
    }

    /// Looks at a text of an event that is about to be held.
    fn text(&mut self, event: &mut Vec<u8>, start: usize, end: usize) {
        let name = Name {
            before: event[..start].to_vec(),
            numbers: numbers(event),
        };
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
        let mut end = end;
        // A key that lies in one event was found before.
        if earlier > 0
            && let Some((at, length)) = self.redactor.first(&joined)
            && at < earlier
        {
            // What stands before it was no beginning of a key after all.
            let places: usize = open.places.iter().map(|(_, count)| count).sum();
            let mut harmless = at.saturating_sub(earlier - places);
            for (held, count) in open.places.drain(..) {
                let kept = harmless.min(count);
                harmless -= kept;
                shorten(&mut self.held[held], open.name.before.len(), count - kept);
            }
            let own = (at + length).saturating_sub(earlier);
            event.splice(start..start + own, REPLACEMENT.bytes());
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
        for (_, count) in open.places.iter_mut().rev() {
            *count = left.min(*count);
            left -= *count;
        }
        open.places.retain(|(_, count)| *count > 0);
        open.places.push((self.held.len(), own));
        open.begun = joined.split_off(joined.len() - begun);
        self.open.push(open);
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

/// Takes bytes away from the end of the text that begins at `start`.
fn shorten(event: &mut Vec<u8>, start: usize, count: usize) {
    if let Some((_, end)) = texts(event).into_iter().find(|(begin, _)| *begin == start) {
        event.drain(end.saturating_sub(count).max(start)..end);
    }
}

/// A comment, or an event that only says that the connection lives.
fn is_sign_of_life(event: &[u8]) -> bool {
    event.starts_with(b":") || memchr::memmem::find(event, b"ping").is_some()
}

/// Where the first event ends: behind an empty line.
fn end_of_event(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
        if at < line {
            continue;
        }
        let next = match bytes[at..] {
            [b'\r', b'\n', ..] => at + 2,
            _ => at + 1,
        };
        // An empty line, and not at the very beginning.
        if at == line && line > 0 {
            return Some(next);
        }
        line = next;
    }
    None
}

/// The values of the fields named `index`.
fn numbers(event: &[u8]) -> Vec<u8> {
    let mut numbers = Vec::new();
    for at in memchr::memmem::find_iter(event, b"\"index\"") {
        let behind = event[at + b"\"index\"".len()..].iter();
        let number = behind.skip_while(|byte| matches!(byte, b':' | b' '));
        numbers.extend(number.take_while(|byte| byte.is_ascii_digit()));
        numbers.push(b',');
    }
    numbers
}

/// Where in an event the pieces of longer texts stand: begin and end of each, without quotes. Empty ones say nothing.
fn texts(event: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut is_value = false;
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &event[at..]) {
        let start = at + open + 1;
        let Some(end) = end_of_string(event, start) else {
            break;
        };
        if is_value && end > start {
            found.push((start, end));
        }
        at = end + 1;
        let mut behind = event[at..].iter().copied().filter(|byte| *byte != b' ');
        // A name whose value is a string.
        is_value = behind.next() == Some(b':')
            && behind.next() == Some(b'"')
            && TEXTS.contains(&&event[start..end]);
    }
    found
}

/// Where a string ends that begins at `start`.
fn end_of_string(event: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let next = at + memchr::memchr2(b'"', b'\\', &event[at..])?;
        match event[next] {
            b'"' => return Some(next),
            // What is escaped ends nothing.
            _ => at = (next + 2).min(event.len()),
        }
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
