//! Server-sent events, decoded as bytes arrive (WHATWG HTML, "Server-sent events").
//!
//! Only what model servers use is kept: the `data` of each event. Chunk boundaries never matter:
//! the same bytes give the same events however they are cut.

use alloc::vec::Vec;

use memchr::memchr2;

/// A push parser: feed bytes, get the data of each complete event.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The current line, if it began in an earlier piece.
    line: Vec<u8>,
    /// Data lines of the current event, joined by line feeds.
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed right after it belongs to the same line end.
    after_cr: bool,
    /// Bytes of a byte-order mark seen so far at the very start; 3 once the start has passed.
    bom: u8,
    limit: usize,
    overflow: bool,
}

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

impl SseParser {
    /// A parser for the streams of model servers. Its limit of 32 MiB is larger than any real event, and bounds the memory that a
    /// stream without line ends takes.
    #[must_use]
    pub fn for_model_servers() -> Self {
        Self::new(32 << 20)
    }

    /// A parser that fails on a line or event of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Takes the next bytes and calls `on_data` with the data of each event that they complete.
    ///
    /// # Errors
    /// [`EventTooLarge`] when a line or an event exceeds the limit; whatever follows is ignored.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut on_data: impl FnMut(&[u8]),
    ) -> Result<(), EventTooLarge> {
        bytes = self.skip_bom(bytes);
        while !bytes.is_empty() && !self.overflow {
            if self.after_cr {
                self.after_cr = false;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                self.overflow |= self.line.len() > self.limit;
                break;
            };
            if self.line.len() + end > self.limit {
                self.overflow = true;
                break;
            }
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&bytes[..end], &mut on_data);
            } else {
                let mut line = core::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.take_line(&line, &mut on_data);
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        if self.overflow {
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn skip_bom<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let (1.., Some(expected)) = (bytes.len(), BOM.get(usize::from(self.bom))) {
            if bytes[0] != *expected {
                // Not a byte-order mark after all: these bytes begin a line.
                self.line.extend_from_slice(&BOM[..usize::from(self.bom)]);
                self.bom = 3;
                break;
            }
            bytes = &bytes[1..];
            self.bom += 1;
        }
        bytes
    }

    fn take_line(&mut self, line: &[u8], on_data: &mut impl FnMut(&[u8])) {
        if line.is_empty() {
            if self.has_data {
                on_data(&self.data);
            }
            self.data.clear();
            self.has_data = false;
            return;
        }
        let Some(rest) = line.strip_prefix(b"data") else {
            return; // a comment, `event`, `id`, `retry`, or a field nobody knows
        };
        let value = match rest {
            [] => rest,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            _ => return, // a field whose name merely begins with "data"
        };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        self.overflow |= self.data.len() > self.limit;
    }
}

/// An event larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream exceeds {limit} bytes")]
pub struct EventTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}
