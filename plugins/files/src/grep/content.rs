//! The lines that Grep shows: `path:number:text` for matches, `path-number-text` around them, `--` between groups.

use std::fmt::Write as _;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::{LONGEST_CONTENT, Window};

/// Characters of a line that are shown.
const LONGEST_LINE: usize = 500;

/// The lines of all files, as far as the window shows them.
pub(super) struct Lines {
    pub(super) window: Window,
    numbers: bool,
    /// Whether context lines are shown, so that groups of lines need separators.
    grouped: bool,
    pub(super) text: String,
    /// Lines so far, shown or not, separators included.
    lines: usize,
    pub(super) shown: usize,
    pub(super) filenames: Vec<String>,
    /// Whether there are lines after the window.
    pub(super) left_out: bool,
    /// Whether the text grew too long before the window ended.
    pub(super) too_long: bool,
}

impl Lines {
    pub(super) fn new(window: Window, numbers: bool, grouped: bool) -> Self {
        Self {
            window,
            numbers,
            grouped,
            text: String::new(),
            lines: 0,
            shown: 0,
            filenames: Vec::new(),
            left_out: false,
            too_long: false,
        }
    }

    /// Whether no more lines are accepted.
    pub(super) fn is_full(&self) -> bool {
        self.left_out || self.too_long
    }

    /// Accepts the lines of the next file. `name` returns its display name.
    pub(super) fn of_file<'a>(&'a mut self, name: &'a dyn Fn() -> String) -> FileLines<'a> {
        FileLines {
            all: self,
            file_name: name,
            name: None,
            started: false,
            listed: false,
        }
    }

    /// Counts the next line; returns whether it is shown.
    fn next_is_shown(&mut self) -> bool {
        if self.lines >= self.window.end() {
            self.left_out = true;
            return false;
        }
        if self.text.len() >= LONGEST_CONTENT {
            self.too_long = true;
            return false;
        }
        self.lines += 1;
        if self.lines <= self.window.offset {
            return false;
        }
        if self.shown > 0 {
            self.text.push('\n');
        }
        self.shown += 1;
        true
    }
}

/// Accepts the lines of one file.
pub(super) struct FileLines<'a> {
    all: &'a mut Lines,
    file_name: &'a dyn Fn() -> String,
    name: Option<String>,
    /// Whether the file has had a line.
    started: bool,
    /// Whether the file is among those that are shown.
    listed: bool,
}

impl FileLines<'_> {
    /// Accepts one line; returns whether more are wanted.
    fn push(&mut self, mark: char, number: Option<u64>, line: &[u8]) -> bool {
        if !std::mem::replace(&mut self.started, true) && self.all.lines > 0 && self.all.grouped {
            self.separate();
        }
        if !self.all.next_is_shown() {
            return !self.all.is_full();
        }
        let name = self.name.get_or_insert_with(self.file_name);
        if !self.listed {
            self.listed = true;
            self.all.filenames.push(name.clone());
        }
        let text = &mut self.all.text;
        text.push_str(name);
        text.push(mark);
        if let Some(number) = number {
            // Writing to a String cannot fail.
            let _ = write!(text, "{number}{mark}");
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = String::from_utf8_lossy(line);
        match line.char_indices().nth(LONGEST_LINE) {
            None => text.push_str(&line),
            Some((end, _)) => {
                text.push_str(&line[..end]);
                text.push_str(" [the line goes on]");
            }
        }
        true
    }

    fn separate(&mut self) {
        if self.all.next_is_shown() {
            self.all.text.push_str("--");
        }
    }

    fn number(&self, first: Option<u64>, index: usize) -> Option<u64> {
        first
            .filter(|_| self.all.numbers)
            .map(|first| first + index as u64)
    }
}

impl Sink for &mut FileLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        for (index, line) in found.lines().enumerate() {
            let number = self.number(found.line_number(), index);
            if !self.push(':', number, line) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = self.number(context.line_number(), 0);
        Ok(self.push('-', number, context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.separate();
        Ok(!self.all.is_full())
    }
}
