//! Finds the parts of longer texts in an event, without parsing it completely.

/// The fields with a part of a longer text, in all supported formats.
const FIELDS: [&[u8]; 8] = [
    b"text",
    b"thinking",
    b"partial_json",
    b"content",
    b"reasoning_content",
    b"reasoning",
    b"refusal",
    b"arguments",
];

/// A part of a longer text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its start in the event, after the quote.
    pub(super) start: usize,
    /// Its end, before the quote.
    pub(super) end: usize,
    /// The name of its field.
    field: &'static [u8],
    /// How many fields of that name precede it in the event.
    before: usize,
}

/// Identifies the text that parts belong to, whatever else their events contain: sequence numbers, times and names vary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    field: &'static [u8],
    before: usize,
    /// The indices of the block, or of the choice and the call in it, in any position.
    numbers: Vec<u8>,
}

impl Name {
    pub(super) fn of(event: &[u8], piece: &Piece) -> Self {
        Self {
            field: piece.field,
            before: piece.before,
            numbers: numbers(event),
        }
    }
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

/// The parts in an event, in order. Empty ones are skipped.
pub(super) fn pieces(event: &[u8]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut seen = [0_usize; FIELDS.len()];
    let mut named: Option<usize> = None;
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &event[at..]) {
        let start = at + open + 1;
        let Some(end) = end_of_string(event, start) else {
            break;
        };
        if let Some(number) = named {
            if end > start {
                found.push(Piece {
                    start,
                    end,
                    field: FIELDS[number],
                    before: seen[number],
                });
            }
            seen[number] += 1;
        }
        at = end + 1;
        let mut behind = event[at..].iter().copied().filter(|byte| *byte != b' ');
        // A name whose value is a string.
        let is_name = behind.next() == Some(b':') && behind.next() == Some(b'"');
        let known = || FIELDS.iter().position(|field| *field == &event[start..end]);
        named = is_name.then(known).flatten();
    }
    found
}

/// The end of a string that starts at `start`.
fn end_of_string(event: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let next = at + memchr::memchr2(b'"', b'\\', &event[at..])?;
        match event[next] {
            b'"' => return Some(next),
            // An escaped character does not end it.
            _ => at = (next + 2).min(event.len()),
        }
    }
}
