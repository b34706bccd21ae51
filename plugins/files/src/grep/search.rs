//! Searching one file after another with one compiled expression.

use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch,
};
use windlass_plugin::{ToolError, Tree};

use super::Input;

/// How much of a file is read at a time, in bytes. Most source files are smaller and cost one call.
const PIECE: u32 = 128 * 1024;
/// What a multi-line search may keep of one file, in bytes; it needs the whole file in memory.
const LARGEST_MULTILINE: usize = 64 << 20;

/// The maximum size of a compiled expression, in bytes: `((a{1,1000}){1,1000}){1,1000}` would exhaust the memory.
const LARGEST_EXPRESSION: usize = 10 << 20;

/// A compiled expression with the buffers of a search, used for all files.
pub(super) struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
}

impl Search {
    pub(super) fn new(input: &Input) -> Result<Self, ToolError> {
        let mut matcher = RegexMatcherBuilder::new();
        matcher
            .case_insensitive(input.ignore_case)
            .size_limit(LARGEST_EXPRESSION)
            // `^` and `$` mean line ends, as everyone expects of grep.
            .multi_line(true);
        if input.multiline {
            matcher.dot_matches_new_line(true);
        } else {
            matcher.line_terminator(Some(b'\n'));
        }
        let matcher = matcher
            .build(&input.pattern)
            .map_err(|error| explain(input, &error.to_string()))?;

        let mut searcher = SearcherBuilder::new();
        searcher
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .multi_line(input.multiline)
            .heap_limit(Some(LARGEST_MULTILINE))
            .line_number(false);
        if input.output_mode == super::Mode::Content {
            searcher
                .line_number(input.line_numbers.unwrap_or(true))
                .before_context(input.lines_before())
                .after_context(input.lines_after());
        }
        Ok(Self {
            matcher,
            searcher: searcher.build(),
        })
    }

    /// Whether a file matches anywhere.
    pub(super) fn matches<T: Tree>(&mut self, tree: &T, path: &str) -> bool {
        let mut first = First(false);
        self.search(tree, path, &mut first);
        first.0
    }

    /// How many lines of a file match; with multi-line patterns, how many matches there are.
    pub(super) fn count<T: Tree>(&mut self, tree: &T, path: &str) -> u64 {
        let mut count = Count(0);
        self.search(tree, path, &mut count);
        count.0
    }

    /// Passes the lines of a file to a sink.
    pub(super) fn lines<T: Tree, S: Sink<Error = io::Error>>(
        &mut self,
        tree: &T,
        path: &str,
        sink: S,
    ) {
        self.search(tree, path, sink);
    }

    /// If a file cannot be read completely, only the part that was read is searched: a search over thousands of files does
    /// not fail because of one of them.
    fn search<T: Tree, S: Sink<Error = io::Error>>(&mut self, tree: &T, path: &str, sink: S) {
        // A trait object, so that the searcher is compiled only once and not for every sink.
        let sink: Box<dyn Sink<Error = io::Error> + '_> = Box::new(sink);
        let Ok(head) = tree.read(path, 0, PIECE) else {
            return;
        };
        let _ = if head.len() < PIECE as usize {
            self.searcher.search_slice(&self.matcher, &head, sink)
        } else {
            let rest = Pieces {
                tree,
                path,
                offset: head.len() as u64,
                piece: head,
                read: 0,
            };
            self.searcher.search_reader(&self.matcher, rest, sink)
        };
    }
}

/// The error for an invalid pattern.
fn explain(input: &Input, error: &str) -> ToolError {
    // The parser marks the position in the pattern on several lines; its last line states the problem.
    let fault = error.rsplit("error: ").next().unwrap_or(error).trim();
    let hint = if !input.multiline && input.pattern.contains("\\n") {
        " To match across lines, set multiline."
    } else if fault.contains("repetition") {
        " A literal brace is written \\{."
    } else {
        ""
    };
    ToolError::new(format!(
        "The pattern `{}` is not a valid regular expression: {}.{hint}",
        input.pattern,
        fault.trim_end_matches('.')
    ))
}

/// A file, piece after piece.
struct Pieces<'a, T> {
    tree: &'a T,
    path: &'a str,
    /// The offset of the next piece.
    offset: u64,
    piece: Vec<u8>,
    /// How much of the piece has been returned.
    read: usize,
}

impl<T: Tree> Read for Pieces<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.piece.len() && self.piece.len() == PIECE as usize {
            self.piece = self
                .tree
                .read(self.path, self.offset, PIECE)
                .map_err(|code| io::Error::other(format!("{code:?}")))?;
            self.offset += self.piece.len() as u64;
            self.read = 0;
        }
        let mut rest = &self.piece[self.read..];
        let length = rest.read(buffer)?;
        self.read += length;
        Ok(length)
    }
}

/// Stops at the first match.
struct First(bool);

impl Sink for First {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        // A file that turns out to be binary does not count, even if its first lines matched.
        self.0 &= finish.binary_byte_offset().is_none();
        Ok(())
    }
}

/// Counts matches.
struct Count(u64);

impl Sink for Count {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.0 += 1;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.0 = 0;
        }
        Ok(())
    }
}
