//! Finds the position of a key or element in a JSON text. The text is scanned once, and only the path to the current position
//! is kept, so its size and depth are not limited. Invalid JSON is scanned as far as possible.

use std::fmt::Write as _;

use super::MAX_DEPTH;

/// A step of the path to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A key of an object.
    Key(&'a str),
    /// An element of an array, from 0.
    Item(usize),
}

/// A position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The path in its usual notation: `permissions.deny[0]`. Empty for the whole text.
    pub(super) key: String,
    /// The byte offset at which it begins: of the key in an object, of the value in an array.
    pub(super) begin: usize,
}

/// The innermost value that is being read, or has just been read, after this many bytes.
pub(super) fn innermost(text: &str, bytes: usize) -> Place {
    let mut walk = Walk::new(text);
    while walk.step() && walk.at < bytes {}
    walk.place()
}

/// The position of a key's value, if it exists.
pub(super) fn of_key(text: &str, key: &[Step<'_>]) -> Option<Place> {
    let mut walk = Walk::new(text);
    loop {
        if walk.is_at(key) {
            return Some(walk.place());
        }
        if !walk.step() {
            return None;
        }
    }
}

/// An object or array that is not closed yet.
enum Open<'a> {
    /// The last key, without quotation marks, and its offset.
    Object {
        key: Option<(&'a str, usize)>,
        wants_key: bool,
    },
    /// The index of the current element, and its offset.
    Array {
        item: Option<(usize, usize)>,
        next: usize,
    },
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    open: Vec<Open<'a>>,
    /// The number of levels below the last one of `open`, which are too deep to be named.
    deeper: usize,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            deeper: 0,
        }
    }

    /// Advances past the next token. Returns false at the end.
    fn step(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let begin = self.at + (rest.len() - rest.trim_start().len());
        let Some(first) = self.text[begin..].chars().next() else {
            self.at = self.text.len();
            return false;
        };
        let length = match first {
            '"' => string(&self.text.as_bytes()[begin..]),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => {
                let is_end = |c: char| c.is_whitespace() || "{}[],:\"".contains(c);
                let rest = &self.text[begin..];
                rest.find(is_end).unwrap_or(rest.len())
            }
        };
        self.at = begin + length;
        self.take(first, begin);
        true
    }

    fn take(&mut self, first: char, begin: usize) {
        if self.deeper > 0 {
            match first {
                '{' | '[' => self.deeper += 1,
                '}' | ']' => self.deeper -= 1,
                _ => {}
            }
            return;
        }
        match (first, self.open.last_mut()) {
            ('}' | ']', _) => {
                self.open.pop();
            }
            (',', Some(Open::Object { wants_key, .. })) => *wants_key = true,
            (',' | ':', _) => {}
            (
                '"',
                Some(Open::Object {
                    key,
                    wants_key: wants_key @ true,
                }),
            ) => {
                *wants_key = false;
                let literal = &self.text[begin..self.at];
                let inner = literal.strip_prefix('"').unwrap_or(literal);
                *key = Some((inner.strip_suffix('"').unwrap_or(inner), begin));
            }
            (_, last) => {
                if let Some(Open::Array { item, next }) = last {
                    *item = Some((*next, begin));
                    *next += 1;
                }
                self.enter(first);
            }
        }
    }

    fn enter(&mut self, first: char) {
        let opened = match first {
            '{' => Open::Object {
                key: None,
                wants_key: true,
            },
            '[' => Open::Array {
                item: None,
                next: 0,
            },
            _ => return,
        };
        match self.open.len() < MAX_DEPTH {
            true => self.open.push(opened),
            false => self.deeper = 1,
        }
    }

    fn is_at(&self, key: &[Step<'_>]) -> bool {
        let mut steps = self.open.iter().filter_map(Open::step);
        key.iter()
            .all(|wanted| steps.next().is_some_and(|(step, _)| step == *wanted))
            && steps.next().is_none()
    }

    fn place(&self) -> Place {
        let mut place = Place::default();
        for (step, begin) in self.open.iter().filter_map(Open::step) {
            let separator = if place.key.is_empty() { "" } else { "." };
            // Writing to a `String` cannot fail.
            let _ = match step {
                Step::Key(key) => write!(place.key, "{separator}{key}"),
                Step::Item(number) => write!(place.key, "[{number}]"),
            };
            place.begin = begin;
        }
        place
    }
}

impl Open<'_> {
    /// The current step and its offset; `None` directly after the opening bracket.
    fn step(&self) -> Option<(Step<'_>, usize)> {
        match self {
            Self::Object { key, .. } => key.map(|(key, begin)| (Step::Key(key), begin)),
            Self::Array { item, .. } => item.map(|(number, begin)| (Step::Item(number), begin)),
        }
    }
}

/// The length of the string that begins here, including its quotation marks, or of the rest of the text if it is not closed.
fn string(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n  \"a\": {\"b\\\"\": [1, \"x{\", {\"c\": []}]},\n  \"d\": true\n}";

    #[test]
    fn every_byte_of_a_text_belongs_to_the_innermost_value() {
        for (end, key) in [
            ("{", ""),
            ("\"a\"", "a"),
            ("\"b\\\"\": [", "a.b\\\""),
            ("[1", "a.b\\\"[0]"),
            ("\"x{\"", "a.b\\\"[1]"),
            ("\"c\": [", "a.b\\\"[2].c"),
            ("[]", "a.b\\\"[2].c"),
            ("[]}", "a.b\\\"[2]"),
            ("[]}]", "a.b\\\""),
            ("[]}]}", "a"),
            ("tru", "d"),
        ] {
            let bytes = TEXT.find(end).unwrap() + end.len();
            assert_eq!(innermost(TEXT, bytes).key, key, "{end}");
        }
        let place = of_key(TEXT, &[Step::Key("d")]).unwrap();
        assert_eq!(&TEXT[place.begin..place.begin + 3], "\"d\"");
        let inner = [Step::Key("a"), Step::Key("b\\\""), Step::Item(2)];
        let place = of_key(TEXT, &inner).unwrap();
        assert_eq!(&TEXT[place.begin..place.begin + 4], "{\"c\"");
        assert_eq!(of_key(TEXT, &[Step::Key("c")]), None);
        assert_eq!(of_key(TEXT, &[]), Some(Place::default()));
    }

    #[test]
    fn a_text_that_is_no_json_is_followed_to_its_end() {
        for text in [
            "",
            "]]}",
            "{\"a",
            "{\"a\":[{\"b\":\"\\",
            "é",
            "{\"a\" \"b\" {",
            "\u{a0}{",
        ] {
            for bytes in 0..=text.len() + 1 {
                innermost(text, bytes);
            }
        }
        assert_eq!(innermost("{\"a\": [\"x", 99).key, "a[0]");
        assert_eq!(innermost("{\"a\": 1 \"b\": 2}", 9).key, "a");
        let deep = "[".repeat(100_000);
        assert_eq!(
            innermost(&deep, deep.len()).key.matches("[0]").count(),
            MAX_DEPTH
        );
    }
}
