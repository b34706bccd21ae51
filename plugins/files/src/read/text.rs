//! A window of lines of a text file.

use std::fmt::Write as _;

use serde::Serialize;
use windlass_plugin::{Place, ToolError, ToolResult, Tree};

use super::{Output, PIECE};
use crate::observation::{ContentDigest, observation};

/// Lines shown unless a limit is given.
const DEFAULT_LINES: usize = 2000;
/// Characters of a line that are shown.
const LONGEST_LINE: usize = 2000;
/// Bytes of text that are shown at most: about a quarter of a hundred thousand tokens.
const LONGEST_TEXT: usize = 100_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct File<'a> {
    file_path: &'a str,
    content: &'a str,
    num_lines: usize,
    start_line: usize,
    total_lines: usize,
}

impl<'a> File<'a> {
    /// A text that was made from a file, and is shown from its beginning.
    #[cfg(feature = "pdf")]
    pub(super) fn whole(file_path: &'a str, content: &'a str) -> Self {
        let lines = content.lines().count();
        Self {
            file_path,
            content,
            num_lines: lines,
            start_line: 1,
            total_lines: lines,
        }
    }
}

/// Appends a line in the format of Read: the number, a tab, the line, cut if it is too long. Returns whether it is complete.
pub(crate) fn numbered(out: &mut String, number: usize, line: &str) -> bool {
    // Writing to a String cannot fail, here and below.
    let Some((end, _)) = line.char_indices().nth(LONGEST_LINE) else {
        let _ = write!(out, "{number}\t{line}");
        return true;
    };
    let _ = write!(
        out,
        "{number}\t{} [the line goes on for {} more characters]",
        &line[..end],
        line[end..].chars().count()
    );
    false
}

/// Shows lines of a text whose first piece was read already. The whole file is read, for its digest and its number of lines,
/// but only the window is kept in memory.
pub(super) fn show<T: Tree>(
    place: &Place<'_, T>,
    head: Vec<u8>,
    offset: Option<usize>,
    limit: Option<usize>,
) -> Result<ToolResult, ToolError> {
    let mut window = Window::new(
        offset.unwrap_or(1).max(1),
        limit.unwrap_or(DEFAULT_LINES).max(1),
    );
    let mut digest = ContentDigest::default();
    let mut size = 0_u64;
    let mut piece = head;
    loop {
        digest.update(&piece);
        window.feed(&piece);
        size += piece.len() as u64;
        if piece.len() < PIECE as usize {
            break;
        }
        piece = place
            .tree
            .read(&place.relative, size, PIECE)
            .map_err(|code| place.explain(code))?;
    }
    window.finish();

    let whole = window.shows_everything();
    let total_lines = if size == 0 { 0 } else { window.line };
    let text = window.text(total_lines);
    let output = Output {
        kind: "text",
        file: File {
            file_path: &place.absolute,
            content: &window.content,
            num_lines: if size == 0 { 0 } else { window.shown },
            start_line: window.first,
            total_lines,
        },
    };
    Ok(ToolResult::text(text)
        .with_structured(&output)?
        .with_observation(observation(&place.absolute, digest.finish(), whole)))
}

/// The lines that are shown. The text after the last line end counts as a line even if it is empty, which shows whether the
/// file ends with a line end.
struct Window {
    first: usize,
    /// The line after the last requested one.
    end: usize,
    /// The number of the line that is being read.
    line: usize,
    /// Its bytes so far, if it is in the window.
    current: Vec<u8>,
    /// The lines as in the file, without carriage returns.
    content: String,
    /// The lines as they are shown.
    display: String,
    shown: usize,
    /// The number of lines that were cut.
    cut: usize,
    /// Whether the text grew too long before the window was full.
    full: bool,
    /// Whether the file ends with a line end.
    ends_with_empty_line: bool,
}

impl Window {
    fn new(first: usize, limit: usize) -> Self {
        Self {
            first,
            end: first.saturating_add(limit),
            line: 1,
            current: Vec::new(),
            content: String::new(),
            display: String::new(),
            shown: 0,
            cut: 0,
            full: false,
            ends_with_empty_line: false,
        }
    }

    fn wants_line(&self) -> bool {
        (self.first..self.end).contains(&self.line) && !self.full
    }

    fn feed(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            if self.line >= self.end || self.full {
                // Nothing more is shown; the remaining lines are only counted.
                self.line += memchr::memchr_iter(b'\n', piece).count();
                self.ends_with_empty_line = piece.ends_with(b"\n");
                return;
            }
            if self.wants_line() {
                self.current.extend_from_slice(&piece[..end]);
                self.push_line();
            }
            self.line += 1;
            piece = &piece[end + 1..];
            self.ends_with_empty_line = piece.is_empty();
        }
        if !piece.is_empty() {
            self.ends_with_empty_line = false;
            if self.wants_line() {
                self.current.extend_from_slice(piece);
            }
        }
    }

    fn finish(&mut self) {
        if self.wants_line() {
            self.push_line();
        }
    }

    fn push_line(&mut self) {
        let bytes = std::mem::take(&mut self.current);
        let line = String::from_utf8_lossy(&bytes);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        // A byte order mark is not shown; it is preserved when the file is edited.
        let line = match self.line {
            1 => line.strip_prefix('\u{feff}').unwrap_or(line),
            _ => line,
        };
        if self.shown > 0 {
            self.content.push('\n');
            self.display.push('\n');
        }
        self.content.push_str(line);
        if !numbered(&mut self.display, self.line, line) {
            self.cut += 1;
        }
        self.shown += 1;
        self.full = self.display.len() >= LONGEST_TEXT;
        self.current = bytes;
        self.current.clear();
    }

    /// Whether there is content after the window.
    fn goes_on(&self) -> bool {
        let after = self.line.saturating_sub(self.first + self.shown - 1);
        match self.ends_with_empty_line {
            true => after > 1,
            false => after > 0,
        }
    }

    fn shows_everything(&self) -> bool {
        self.first == 1 && self.shown > 0 && !self.goes_on() && self.cut == 0
    }

    /// The text for the model.
    fn text(&self, total_lines: usize) -> String {
        if total_lines == 0 {
            return "[The file exists and is empty.]".to_owned();
        }
        if self.shown == 0 {
            return format!(
                "[The file has only {total_lines} lines: there is nothing from line {} on.]",
                self.first
            );
        }
        let mut text = self.display.clone();
        if self.goes_on() {
            let next = self.first + self.shown;
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n\n[Lines {} to {} of {total_lines} are shown. To go on, read with offset {next}.]",
                self.first,
                next - 1
            );
        }
        text
    }
}
