//! Captures the part of a command's output that is shown.

use std::collections::VecDeque;

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::mpsc,
};

use super::saved::{OutputDirectory, SavedOutput};

/// Keeps the beginning and the end of a stream. Takes any amount of data in bounded memory. What is longer than that can be saved
/// in a file.
#[derive(Debug)]
pub(crate) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
    /// Where to save it once it is too long.
    directory: Option<OutputDirectory>,
    saved: Option<SavedOutput>,
}

impl Capture {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            half: limit / 2,
            head: Vec::new(),
            tail: VecDeque::new(),
            dropped: 0,
            directory: None,
            saved: None,
        }
    }

    /// Saves the whole stream there if it is longer than the limit.
    pub(super) fn saving_in(mut self, directory: Option<OutputDirectory>) -> Self {
        self.directory = directory;
        self
    }

    /// The file with the whole stream, if it was too long.
    pub(super) fn saved(&self) -> Option<&SavedOutput> {
        self.saved.as_ref()
    }

    /// Whether the stream begins with these bytes.
    pub(super) fn starts_with(&self, beginning: &[u8]) -> bool {
        self.head.starts_with(beginning)
    }

    /// The bytes, if they are all here or in a file of at most so many bytes.
    pub(super) fn whole(&self, most: u64) -> Option<Vec<u8>> {
        if self.dropped == 0 {
            let (a, b) = self.tail.as_slices();
            return Some([&self.head, a, b].concat());
        }
        let saved = self.saved.as_ref().filter(|saved| saved.size() <= most)?;
        std::fs::read(saved.path()).ok()
    }

    /// Reads a stream to its end. A read error counts as the end. The listener receives everything, with
    /// backpressure; after it is dropped, reading continues without it.
    pub(super) async fn fill(
        &mut self,
        mut from: impl AsyncRead + Unpin,
        listener: Option<&mpsc::Sender<Vec<u8>>>,
    ) {
        let mut part = vec![0; 16 << 10];
        while let Ok(read @ 1..) = from.read(&mut part).await {
            self.take(&part[..read]);
            if let Some(listener) = listener {
                let _ = listener.send(part[..read].to_vec()).await;
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.head.len() + self.tail.len() + bytes.len() > 2 * self.half {
            self.begin_saving();
        }
        if self
            .saved
            .as_mut()
            .is_some_and(|saved| !saved.append(bytes))
        {
            self.saved = None;
        }
        let room = self.half.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// Begins the file with what has come so far.
    fn begin_saving(&mut self) {
        // Tried once: a disk that is full stays so.
        let Some(directory) = self.directory.take() else {
            return;
        };
        let (a, b) = self.tail.as_slices();
        self.saved = SavedOutput::begin(&directory).and_then(|mut saved| {
            let is_saved = [&self.head, a, b]
                .into_iter()
                .all(|part| saved.append(part));
            is_saved.then_some(saved)
        });
    }

    /// The text, with a note where the middle was cut. Invalid UTF-8 becomes `U+FFFD`.
    pub(crate) fn shown(&self) -> String {
        let (a, b) = self.tail.as_slices();
        if self.dropped == 0 {
            return String::from_utf8_lossy(&[&self.head, a, b].concat()).into_owned();
        }
        let tail = [a, b].concat();
        // A character that is split by the cut is left out on both sides.
        let head = trim_split_end(&self.head);
        let tail = trim_split_start(&tail);
        let cut = self.dropped
            + (self.head.len() - head.len()) as u64
            + (self.tail.len() - tail.len()) as u64;
        let place = self.saved.as_ref().map_or_else(String::new, |saved| {
            let what = match saved.size()
                == self.head.len() as u64 + self.tail.len() as u64 + self.dropped
            {
                true => "all of it is",
                false => "the first 64 MiB are",
            };
            format!("; {what} in {}", saved.path().display())
        });
        format!(
            "{}\n\n[{cut} bytes of output are not shown{place}]\n\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(tail)
        )
    }
}

/// Removes the first bytes of a character whose rest was cut off.
fn trim_split_end(bytes: &[u8]) -> &[u8] {
    let incomplete = bytes
        .utf8_chunks()
        .last()
        .map_or(0, |chunk| chunk.invalid().len());
    // Only bytes that could become a character; other bytes were not valid text anyway.
    match bytes.last() {
        Some(last) if *last >= 0x80 && incomplete < 4 => &bytes[..bytes.len() - incomplete],
        _ => bytes,
    }
}

/// Removes the last bytes of a character whose beginning was cut off.
fn trim_split_start(bytes: &[u8]) -> &[u8] {
    let continued = bytes.iter().take(3).take_while(|b| **b & 0xc0 == 0x80);
    &bytes[continued.count()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, parts: &[&[u8]]) -> String {
        let mut capture = Capture::new(limit);
        for part in parts {
            capture.take(part);
        }
        capture.shown()
    }

    #[test]
    fn short_output_is_whole_however_it_arrives() {
        assert_eq!(captured(10, &[b"abcdefghij"]), "abcdefghij");
        assert_eq!(captured(10, &[b"abc", b"defg", b"", b"hij"]), "abcdefghij");
    }

    #[test]
    fn of_long_output_the_middle_is_missing() {
        let text = captured(4, &[b"ab-", b"----", b"-yz"]);
        assert_eq!(text, "ab\n\n[6 bytes of output are not shown]\n\nyz");
    }

    #[test]
    fn a_cut_does_not_leave_half_characters() {
        let text = captured(6, &["aaé€€€€bb".as_bytes()]);
        assert!(!text.contains('\u{fffd}'), "{text}");
        assert!(text.starts_with("aa") && text.ends_with("bb"), "{text}");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        assert_eq!(captured(10, &[b"a\xffb"]), "a\u{fffd}b");
    }
}
