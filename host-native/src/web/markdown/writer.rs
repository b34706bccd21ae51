//! Writes Markdown: which white space, line beginnings and marks stand between words.

/// Levels of lists and quotes that are indented. Deeper ones look like the last of these, so that no line begins with more than
/// a few bytes.
const DEEPEST: usize = 8;

/// Text so far, and what is due before the next word.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    /// Line ends that are due: none, one, or two for a new block.
    line_ends: usize,
    /// A space is due.
    space: bool,
    /// Marks that open before the next word (`**`, `[`): in order.
    opening: Vec<&'static str>,
    /// Marks that were opened and have not ended.
    open: Vec<&'static str>,
    /// A beginning of the next block, such as that of a heading.
    beginning: String,
    /// The open lists, with the next number if they count.
    lists: Vec<Option<usize>>,
    /// The mark of an item whose first word has not come.
    item: Option<String>,
    quotes: usize,
    /// The quotes that the last line was in.
    quotes_before: usize,
    tables: usize,
    row: Row,
    /// In a block of code, white space is kept.
    is_code: bool,
}

/// The row of a table that is being written.
#[derive(Default)]
struct Row {
    cells: usize,
    /// Whether all of its cells are names of columns.
    is_head: bool,
}

impl Writer {
    /// Bytes so far.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Adds text: white space is one space, except in code.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_code {
            return self.code(text);
        }
        let mut words = text.split([' ', '\n', '\t', '\r', '\u{c}']).peekable();
        while let Some(word) = words.next() {
            if !word.is_empty() {
                self.words(word);
            }
            self.space |= words.peek().is_some();
        }
    }

    /// Adds text as it is, after what is due.
    pub(super) fn words(&mut self, words: &str) {
        self.flush();
        self.out.push_str(words);
    }

    /// What follows begins a line of its own.
    pub(super) fn line(&mut self) {
        if self.is_code {
            return self.code("\n");
        }
        match self.tables == 1 && self.row.cells > 0 {
            true => self.space = true,
            false => self.line_ends = self.line_ends.max(1),
        }
    }

    /// What follows is a block of its own.
    pub(super) fn block(&mut self) {
        self.line();
        if self.line_ends > 0 {
            self.line_ends = 2;
        }
    }

    /// The next block begins with this, if anything comes in it.
    pub(super) fn open(&mut self, beginning: &str) {
        beginning.clone_into(&mut self.beginning);
    }

    /// A mark stands before the next word.
    pub(super) fn mark(&mut self, mark: &'static str) {
        // Repeated marks mean nothing more, and in code they would be part of it.
        let is_open = self.opening.contains(&mark) || self.open.contains(&mark);
        if !self.is_code && !is_open {
            self.opening.push(mark);
        }
    }

    /// Ends what a mark began.
    pub(super) fn unmark(&mut self, mark: &'static str) {
        self.close_mark(mark, mark);
    }

    /// Ends what a mark began with another one. If nothing was written since, neither is there.
    pub(super) fn close_mark(&mut self, mark: &'static str, end: &str) {
        if self.is_code {
            return;
        }
        match self.opening.iter().rposition(|open| *open == mark) {
            Some(at) => {
                self.opening.remove(at);
            }
            None => {
                if let Some(at) = self.open.iter().rposition(|open| *open == mark) {
                    self.open.remove(at);
                    self.out.push_str(end);
                }
            }
        }
    }

    pub(super) fn open_list(&mut self, number: Option<usize>) {
        match self.lists.is_empty() {
            true => self.block(),
            false => self.line(),
        }
        self.lists.push(number);
    }

    pub(super) fn close_list(&mut self) {
        self.lists.pop();
        self.item = None;
        match self.lists.is_empty() {
            true => self.block(),
            false => self.line(),
        }
    }

    pub(super) fn item(&mut self) {
        self.line();
        self.item = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        });
    }

    pub(super) fn open_quote(&mut self) {
        self.block();
        self.quotes += 1;
    }

    pub(super) fn close_quote(&mut self) {
        self.quotes = self.quotes.saturating_sub(1);
        self.block();
    }

    pub(super) fn open_code(&mut self) {
        if !self.is_code {
            self.block();
            self.opening.clear();
            self.words("```");
            self.begin_line();
            self.is_code = true;
        }
    }

    pub(super) fn close_code(&mut self) {
        if self.is_code {
            self.is_code = false;
            if !self.out.ends_with('\n') {
                self.begin_line();
            }
            self.out.push_str("```");
            self.block();
        }
    }

    pub(super) fn open_table(&mut self) {
        self.row = Row::default();
        self.block();
        self.tables += 1;
    }

    pub(super) fn close_table(&mut self) {
        self.end_row();
        self.tables = self.tables.saturating_sub(1);
        self.block();
    }

    pub(super) fn row(&mut self) {
        self.end_row();
        self.line();
    }

    /// A cell begins, in the first column or a further one.
    pub(super) fn cell(&mut self, is_head: bool) {
        if self.tables == 0 {
            return self.line();
        }
        if self.row.cells == 0 {
            self.line();
            self.words("|");
            self.row.is_head = is_head;
        } else {
            self.space = false;
            self.out.push_str(" |");
        }
        self.row.cells += 1;
        self.row.is_head &= is_head;
        self.space = true;
    }

    pub(super) fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if row.cells == 0 {
            return;
        }
        self.space = false;
        self.opening.clear();
        self.out.push_str(" |");
        if row.is_head {
            self.begin_line();
            self.out.push('|');
            for _ in 0..row.cells {
                self.out.push_str(" --- |");
            }
        }
        self.line();
    }

    /// The whole text.
    pub(super) fn finish(mut self) -> String {
        self.close_code();
        let end = self.out.trim_end().len();
        self.out.truncate(end);
        self.out
    }

    fn code(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.out.push_str(lines.next().unwrap_or_default());
        for line in lines {
            self.begin_line();
            self.out.push_str(line);
        }
    }

    /// Writes what is due before a word.
    fn flush(&mut self) {
        self.break_lines();
        if std::mem::take(&mut self.space)
            && !self.out.is_empty()
            && !self.out.ends_with([' ', '\n'])
        {
            self.out.push(' ');
        }
        self.out.push_str(&std::mem::take(&mut self.beginning));
        for mark in self.opening.drain(..) {
            self.out.push_str(mark);
            self.open.push(mark);
        }
    }

    /// Writes the line ends that are due, and how the line after them begins.
    fn break_lines(&mut self) {
        let line_ends = std::mem::take(&mut self.line_ends);
        if self.out.is_empty() {
            self.line_start();
            self.space = false;
            return;
        }
        if line_ends == 0 {
            return;
        }
        self.space = false;
        for number in 1..=line_ends {
            self.out.push('\n');
            if number < line_ends {
                self.quote_marks(self.quotes.min(self.quotes_before));
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end);
            }
        }
        self.line_start();
    }

    /// Begins a line now.
    fn begin_line(&mut self) {
        self.out.push('\n');
        let item = self.item.take();
        self.line_start();
        self.item = item;
    }

    fn line_start(&mut self) {
        self.quote_marks(self.quotes);
        self.quotes_before = self.quotes;
        let levels = self.lists.len().min(DEEPEST);
        let item = self.item.take();
        let indented = match item {
            Some(_) => levels.saturating_sub(1),
            None => levels,
        };
        for _ in 0..indented {
            self.out.push_str("  ");
        }
        self.out.push_str(&item.unwrap_or_default());
    }

    fn quote_marks(&mut self, quotes: usize) {
        for _ in 0..quotes.min(DEEPEST) {
            self.out.push_str("> ");
        }
    }
}
