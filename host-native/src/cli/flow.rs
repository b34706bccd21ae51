//! Wraps text that arrives in pieces.

use unicode_width::UnicodeWidthStr as _;

/// Wraps lines as text arrives. A word is held back until it is complete.
#[derive(Debug)]
pub(crate) struct Flow {
    columns: usize,
    /// The column of the next character.
    column: usize,
    /// White space that is written only if a word follows on the same line.
    space: String,
    word: String,
}

impl Flow {
    /// Lines of at most this many columns; `None` for no wrapping.
    pub(crate) fn new(columns: Option<usize>) -> Self {
        Self {
            columns: columns.unwrap_or(usize::MAX),
            column: 0,
            space: String::new(),
            word: String::new(),
        }
    }

    /// Takes the next piece, and writes what is complete.
    pub(crate) fn push(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            match c {
                '\n' => {
                    self.end_word(out);
                    self.space.clear();
                    out.push('\n');
                    self.column = 0;
                }
                ' ' | '\t' => {
                    self.end_word(out);
                    self.space.push(c);
                }
                _ => self.word.push(c),
            }
        }
        // Without wrapping, nothing is held back.
        if self.columns == usize::MAX {
            self.end_word(out);
        }
    }

    /// Ends the current line, if there is one.
    pub(crate) fn end_line(&mut self, out: &mut String) {
        self.end_word(out);
        self.space.clear();
        if self.column > 0 {
            out.push('\n');
            self.column = 0;
        }
    }

    /// Whether a line was started and not ended.
    pub(crate) fn is_inside_line(&self) -> bool {
        self.column > 0 || !self.word.is_empty()
    }

    fn end_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let width = self.word.width();
        let space = self.space.width();
        if self.column > 0 && self.column.saturating_add(space + width) > self.columns {
            out.push('\n');
            self.column = 0;
        } else {
            // At the start of a line, this is its indentation.
            out.push_str(&self.space);
            self.column += space;
        }
        out.push_str(&self.word);
        self.column += width;
        self.space.clear();
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output for these pieces, in ten columns.
    fn flowed(pieces: &[&str]) -> String {
        let mut flow = Flow::new(Some(10));
        let mut out = String::new();
        pieces.iter().for_each(|piece| flow.push(piece, &mut out));
        flow.end_line(&mut out);
        out
    }

    #[test]
    fn lines_are_broken_between_words_wherever_the_pieces_are_cut() {
        assert_eq!(flowed(&["one two three four"]), "one two\nthree four\n");
        assert_eq!(
            flowed(&["one tw", "o thr", "ee ", "four"]),
            "one two\nthree four\n"
        );
        assert_eq!(flowed(&["日本語 日本語"]), "日本語\n日本語\n");
    }

    #[test]
    fn line_ends_indentation_and_long_words_stay() {
        assert_eq!(flowed(&["a\n\n  b c\n"]), "a\n\n  b c\n");
        assert_eq!(
            flowed(&["see https://example.org/x now"]),
            "see\nhttps://example.org/x\nnow\n"
        );
        assert_eq!(flowed(&[]), "");
    }

    #[test]
    fn without_a_width_nothing_is_held_back() {
        let mut flow = Flow::new(None);
        let mut out = String::new();
        flow.push("half a wo", &mut out);
        assert_eq!(out, "half a wo");
        assert!(flow.is_inside_line());
    }
}
