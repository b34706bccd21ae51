//! Splits the input into lines, and writes lines that both SDKs can read.

use serde::Serialize;

/// The maximum length of an input line, in bytes. A prompt with as many images as the Messages API accepts in one request is
/// shorter.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// The number of bytes that are kept of either end of a line that is too long: enough to find its id. The order of fields is
/// up to the sender.
const KEPT_END: usize = 4096;

/// Splits bytes into lines, however they are divided into pieces. Blank lines are skipped; `\r\n` is a line end too.
#[derive(Debug, Default)]
pub struct LineReader {
    line: Vec<u8>,
    /// The state of the current line, if it is too long to be kept.
    too_long: Option<Overlong>,
}

/// A line of which only both ends are kept.
#[derive(Debug, Default)]
struct Overlong {
    /// The length so far, in bytes.
    length: usize,
    /// The last [`KEPT_END`] bytes.
    tail: Vec<u8>,
}

impl Overlong {
    fn extend(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        let last = bytes.len().saturating_sub(KEPT_END);
        self.tail.extend_from_slice(&bytes[last..]);
        let surplus = self.tail.len().saturating_sub(KEPT_END);
        self.tail.drain(..surplus);
    }
}

/// A line, or the reason why it is unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Its text, without the line end.
    Text(String),
    /// The line cannot be used.
    Fault(LineFault),
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault {
    /// It is longer than [`MAX_LINE`].
    #[error("a line of {length} bytes was not read: the longest may have {MAX_LINE}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The beginning and end of the line.
        ends: String,
    },
    /// It is not valid UTF-8.
    #[error("a line of {length} bytes was not read: it is not UTF-8")]
    NotUtf8 {
        /// Its length in bytes.
        length: usize,
        /// The beginning and end of the line, with replacement characters.
        ends: String,
    },
    /// The input ended inside a line.
    #[error("the input ended in the middle of a line, after {length} bytes: {problem}")]
    CutOff {
        /// The length of the incomplete line, in bytes.
        length: usize,
        /// The beginning and end of the line.
        ends: String,
        /// The reason why it is incomplete.
        problem: String,
    },
}

impl LineFault {
    /// The beginning and end of the line, in which its id may be found.
    #[must_use]
    pub fn ends(&self) -> &str {
        match self {
            Self::TooLong { ends, .. } | Self::NotUtf8 { ends, .. } | Self::CutOff { ends, .. } => {
                ends
            }
        }
    }
}

impl LineReader {
    /// A reader at the beginning of the input.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece; returns the lines that it completes.
    pub fn push(&mut self, mut piece: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            self.extend(&piece[..end]);
            piece = &piece[end + 1..];
            lines.extend(self.take());
        }
        self.extend(piece);
        lines
    }

    /// Ends the input. Bytes after the last line end count as a line if they form a complete JSON value; otherwise the line
    /// was cut off.
    pub fn finish(&mut self) -> Option<Line> {
        let line = self.take()?;
        let Line::Text(text) = &line else {
            return Some(line);
        };
        match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Some(line),
            Err(error) => Some(Line::Fault(LineFault::CutOff {
                length: text.len(),
                ends: ends_of(text.as_bytes()),
                problem: error.to_string(),
            })),
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        if let Some(overlong) = &mut self.too_long {
            overlong.extend(bytes);
        } else if self.line.len() + bytes.len() > MAX_LINE {
            let mut overlong = Overlong::default();
            overlong.extend(&self.line);
            overlong.extend(bytes);
            self.too_long = Some(overlong);
            self.line
                .extend_from_slice(&bytes[..bytes.len().min(KEPT_END)]);
            self.line.truncate(KEPT_END);
            self.line.shrink_to_fit();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Option<Line> {
        let mut bytes = std::mem::take(&mut self.line);
        if let Some(Overlong { length, tail }) = self.too_long.take() {
            let ends = joined(&bytes, &tail);
            return Some(Line::Fault(LineFault::TooLong { length, ends }));
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        match String::from_utf8(bytes) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(Line::Text(text)),
            Err(error) => Some(Line::Fault(LineFault::NotUtf8 {
                length: error.as_bytes().len(),
                ends: ends_of(error.as_bytes()),
            })),
        }
    }
}

fn ends_of(bytes: &[u8]) -> String {
    if bytes.len() <= 2 * KEPT_END {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    joined(&bytes[..KEPT_END], &bytes[bytes.len() - KEPT_END..])
}

fn joined(head: &[u8], tail: &[u8]) -> String {
    let [head, tail] = [head, tail].map(String::from_utf8_lossy);
    format!("{head}…{tail}")
}

/// Encodes a frame as a line, including the line end. The two characters that JavaScript treats as line ends are escaped; in
/// JSON they can occur only inside strings.
#[must_use]
pub fn to_line(frame: &(impl Serialize + ?Sized)) -> String {
    // Strings, numbers, raw JSON and maps with string keys always encode.
    let mut line = serde_json::to_string(frame).unwrap_or_default();
    if line.contains(['\u{2028}', '\u{2029}']) {
        line = line
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    fn read(pieces: &[&[u8]]) -> Vec<Line> {
        let mut reader = LineReader::new();
        let mut lines: Vec<Line> = pieces.iter().flat_map(|piece| reader.push(piece)).collect();
        lines.extend(reader.finish());
        lines
    }

    #[test]
    fn lines_end_with_either_line_end_and_blank_ones_are_nothing() {
        assert_eq!(read(&[b"{}\r\n\n  \n[1]\n"]), [text("{}"), text("[1]")]);
        assert_eq!(
            read(&[b"{}"]),
            [text("{}")],
            "whole, though nothing ends it"
        );
    }

    #[test]
    fn half_a_line_at_the_end_is_a_fault_that_shows_it() {
        let lines = read(&[b"{}\n{\"type\":\"us"]);
        let [first, Line::Fault(fault)] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert_eq!(first, &text("{}"));
        assert_eq!(fault.ends(), "{\"type\":\"us");
        assert!(
            fault
                .to_string()
                .contains("middle of a line, after 11 bytes"),
            "{fault}"
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_not_kept_and_the_next_one_is_read() {
        let mut reader = LineReader::new();
        let mut lines = reader.push(b"{\"request_id\":\"r\",\"x\":\"");
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..11 {
            lines.extend(reader.push(&piece));
        }
        assert!(reader.line.capacity() <= 2 * KEPT_END);
        lines.extend(reader.push(b"\"}\n{}\n"));
        let [Line::Fault(fault), next] = lines.as_slice() else {
            panic!("{} lines", lines.len());
        };
        assert!(fault.ends().starts_with("{\"request_id\":\"r\""));
        assert!(fault.to_string().contains("11534361 bytes"), "{fault}");
        assert_eq!(next, &text("{}"));
    }

    #[test]
    fn whose_a_long_line_is_may_stand_at_its_end() {
        let mut line = b"{\"x\":\"".to_vec();
        line.extend(vec![b'x'; MAX_LINE]);
        line.extend(b"\",\"request_id\":\"r\"}\n");
        for size in [line.len(), 1024, 1 << 20] {
            let pieces: Vec<&[u8]> = line.chunks(size).collect();
            let lines = read(&pieces);
            let [Line::Fault(fault)] = lines.as_slice() else {
                panic!("{} lines", lines.len());
            };
            assert!(fault.ends().starts_with("{\"x\":"), "pieces of {size}");
            assert!(fault.ends().ends_with("\"request_id\":\"r\"}"), "{size}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_a_fault_of_their_line_alone() {
        let lines = read(&[b"{\"a\":\"\xff\"}\n{}\n"]);
        assert!(
            matches!(&lines[0], Line::Fault(LineFault::NotUtf8 { length: 9, .. })),
            "{lines:?}"
        );
        assert_eq!(lines[1], text("{}"));
    }

    #[test]
    fn what_javascript_takes_for_line_ends_is_escaped() {
        let frame = serde_json::json!({"t": "a\u{2028}b\u{2029}ü"});
        assert_eq!(to_line(&frame), "{\"t\":\"a\\u2028b\\u2029ü\"}\n");
        let back: serde_json::Value = serde_json::from_str(&to_line(&frame)).unwrap();
        assert_eq!(back, frame);
    }

    proptest! {
        #[test]
        fn how_the_input_is_cut_into_pieces_changes_nothing(
            input in "(\\{\"a\":\"[a-zäöü\\r ]{0,8}\"\\}|[\\r\\n ]){0,12}",
            cuts in proptest::collection::vec(0_usize..200, 0..8),
        ) {
            let bytes = input.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
