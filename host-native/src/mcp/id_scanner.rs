//! Finds which request an unreadable line answers: one that is too long, too deeply nested, or malformed.

/// The maximum length of an id, in bytes.
const LONGEST: usize = 256;

/// Scans a message in pieces for its top-level fields: its id, and whether it is a response. Uses bounded memory,
/// however long and deep the message is.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    deepest: usize,
    in_string: bool,
    /// After a backslash in a string.
    escaped: bool,
    at: At,
    key: Vec<u8>,
    id: Vec<u8>,
    is_answer: bool,
    asks: bool,
}

/// The position of the next byte in the top-level object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    #[default]
    Key,
    Value,
}

impl IdScanner {
    /// Scans the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    /// The id of the request that the message answers, as JSON; `None` until it is known.
    pub(super) fn answers(&self) -> Option<&[u8]> {
        let known = self.is_answer && !self.asks && !self.id.is_empty();
        // The id is incomplete while it is being read.
        let is_whole = self.at == At::Key || self.key != b"id";
        (known && is_whole && self.id.len() < LONGEST).then_some(self.id.trim_ascii())
    }

    /// The maximum nesting depth of objects and arrays so far.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    fn byte(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        if self.in_string {
            let escaped = std::mem::take(&mut self.escaped);
            self.escaped = !escaped && byte == b'\\';
            self.in_string = escaped || byte != b'"';
            if outermost {
                self.note(byte);
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if outermost && self.at == At::Key {
                    self.key.clear();
                }
                if outermost {
                    self.note(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => {
                if outermost {
                    self.at = At::Key;
                    self.key.clear();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if outermost => {
                self.at = At::Value;
                match self.key.as_slice() {
                    b"id" => self.id.clear(),
                    b"result" | b"error" => self.is_answer = true,
                    b"method" => self.asks = true,
                    _ => {}
                }
            }
            b',' if outermost => {
                self.at = At::Key;
                self.key.clear();
            }
            // Only white space is between names and colons.
            _ if outermost && self.at == At::Value => self.note(byte),
            _ => {}
        }
    }

    /// Handles a byte of a top-level name or value.
    fn note(&mut self, byte: u8) {
        match self.at {
            At::Key if byte != b'"' && self.key.len() < LONGEST => self.key.push(byte),
            At::Value if self.key == b"id" && self.id.len() < LONGEST => self.id.push(byte),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned_id(message: &str, size: usize) -> Option<String> {
        let mut scanner = IdScanner::default();
        for piece in message.as_bytes().chunks(size) {
            scanner.take(piece);
        }
        scanner
            .answers()
            .map(|id| String::from_utf8_lossy(id).into_owned())
    }

    #[test]
    fn the_id_is_found_wherever_it_stands_and_however_the_message_is_cut() {
        for (message, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"id":8}}"#, Some("7")),
            (
                r#"{"result":{"a":[{"id":8}],"method":1},"id" : 7 }"#,
                Some("7"),
            ),
            (
                r#"{"result":"\"id\":9","id":"a\"b","x":1}"#,
                Some(r#""a\"b""#),
            ),
            (r#"{"id":7,"error":{"code":1}}"#, Some("7")),
            // Truncated in the middle.
            (r#"{"id":7,"result":{"content":[{"text":"abc"#, Some("7")),
            (r#"{"result":{},"id":1"#, None),
            (r#"{"id":7,"method":"ping","params":{"result":1}}"#, None),
            (r#"{"id":7,"method":"ping","result":1}"#, None),
            (r#"{"id":7}"#, None),
            (r#"{"result":{}}"#, None),
            (r#"[{"id":7,"result":1}]"#, None),
            ("nonsense", None),
        ] {
            for size in [1, 2, 3, 7, message.len()] {
                assert_eq!(
                    scanned_id(message, size).as_deref(),
                    id,
                    "{message} in {size}s"
                );
            }
        }
    }

    #[test]
    fn depth_costs_nothing() {
        let mut scanner = IdScanner::default();
        scanner.take(b"{\"id\":1,\"result\":");
        (0..1_000).for_each(|_| scanner.take(&[b'['; 1_000]));
        assert_eq!(scanner.deepest(), 1_000_001);
        assert_eq!(scanner.answers(), Some(&b"1"[..]));
    }
}
