//! The arguments of a call as they arrive piece by piece.

use alloc::string::String;

/// A JSON object that grows. Each byte is examined once, as it arrives: examining the whole text with every piece would take
/// quadratic time.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    text: String,
    /// The number of open brackets.
    depth: usize,
    in_string: bool,
    /// After a backslash in a string.
    escaped: bool,
    /// The first bracket was closed.
    ended: bool,
    whole: bool,
}

impl Arguments {
    pub(super) fn push(&mut self, piece: &str) {
        let begun = self.text.len();
        self.text.push_str(piece);
        for (at, byte) in piece.bytes().enumerate() {
            if self.ended {
                self.whole &= byte.is_ascii_whitespace();
            } else if self.ends_with(byte) {
                self.ended = true;
                let so_far = self.text.get(..=begun + at).unwrap_or_default();
                self.whole = byte == b'}' && is_json(so_far);
            }
        }
    }

    /// Whether the object is complete.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Whether the byte closes the first bracket.
    fn ends_with(&mut self, byte: u8) -> bool {
        if self.in_string {
            let escaped = core::mem::take(&mut self.escaped);
            self.in_string = escaped || byte != b'"';
            self.escaped = !escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}

fn is_json(text: &str) -> bool {
    crate::json::read::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[test]
    fn arguments_are_whole_when_their_object_is_closed_however_they_are_cut() {
        for (text, whole) in [
            ("{}", true),
            (" {\"a\": [1, {\"b\": \"}\\\"]\"}]} \n", true),
            ("{\"a\": \"\\\\\"}", true),
            ("", false),
            ("{", false),
            ("{\"a\": \"}", false),
            ("{} {}", false),
            ("{]", false),
            ("[{}]", false),
            ("}", false),
            ("12 {}", false),
            ("{\"a\": ]}", false),
        ] {
            for size in 1..=text.len().max(1) {
                let mut arguments = Arguments::default();
                for piece in text.as_bytes().chunks(size) {
                    arguments.push(core::str::from_utf8(piece).unwrap());
                }
                assert_eq!(arguments.is_whole(), whole, "{text} in {size}s");
                assert_eq!(arguments.text(), text);
            }
        }
    }
}
