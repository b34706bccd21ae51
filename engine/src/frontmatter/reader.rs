//! Reads lines into fields; indentation delimits the blocks.

use super::{DEPTH, Field, FrontmatterError, Mapping, Problem, Value, flow};

/// Reads the lines between the two `---`. `first` is the line number of the first of them.
pub(super) fn read(lines: &[&str], first: u32) -> Result<Mapping, FrontmatterError> {
    let mut reader = Reader {
        lines,
        first,
        at: 0,
        behind_dash: None,
    };
    let fields = match reader.next_line()? {
        Some(line) if is_item(line.text) => {
            return Err(FrontmatterError::at(line.number, Problem::NotAField));
        }
        Some(line) => reader.mapping(line.indent, DEPTH)?,
        None => Mapping::default(),
    };
    match reader.next_line()? {
        Some(line) => Err(FrontmatterError::at(line.number, Problem::Indentation)),
        None => Ok(fields),
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    first: u32,
    at: usize,
    /// The column at which the current line begins for the next read, if only the rest after a dash is left.
    behind_dash: Option<usize>,
}

/// A line that is neither blank nor a comment.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: u32,
    indent: usize,
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn number(&self) -> u32 {
        let read = u32::try_from(self.at).unwrap_or(u32::MAX);
        self.first.saturating_add(read)
    }

    /// Peeks at the next line that is neither blank nor a comment.
    fn next_line(&mut self) -> Result<Option<Line<'a>>, FrontmatterError> {
        while let Some(line) = self.lines.get(self.at) {
            let number = self.number();
            if let Some(column) = self.behind_dash {
                // The bytes before and after the column are ASCII, so it is a character boundary.
                let text = line.get(column..).unwrap_or("").trim_end();
                return Ok(Some(Line {
                    number,
                    indent: column,
                    text,
                }));
            }
            let text = line.trim_start_matches(' ');
            let indent = line.len() - text.len();
            let text = text.trim_end();
            if text.starts_with('\t') && !text.trim_start().is_empty() {
                return Err(FrontmatterError::at(number, Problem::Tab));
            }
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some(Line {
                    number,
                    indent,
                    text,
                }));
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn take_line(&mut self) {
        self.at += 1;
        self.behind_dash = None;
    }

    /// Reads the block that begins with the next line.
    fn block(&mut self, line: Line<'a>, depth: u32) -> Result<Value, FrontmatterError> {
        let limit = DEPTH;
        let depth = depth.checked_sub(1).ok_or(FrontmatterError::at(
            line.number,
            Problem::TooDeep { limit },
        ))?;
        if is_item(line.text) {
            return self.sequence(line.indent, depth).map(Value::List);
        }
        if key_of(line.text).is_some() {
            return self.mapping(line.indent, depth).map(Value::Map);
        }
        // A text, quotes or brackets on lines of their own may continue at this line's indentation.
        let outer = line.indent.saturating_sub(1);
        self.take_line();
        self.inline(line.text, line.number, outer, depth, false)
    }

    fn mapping(&mut self, indent: usize, depth: u32) -> Result<Mapping, FrontmatterError> {
        let mut fields = Mapping::default();
        while let Some(line) = self.next_line()? {
            if line.indent < indent {
                break;
            }
            if line.indent > indent {
                return Err(FrontmatterError::at(line.number, Problem::Indentation));
            }
            if is_item(line.text) {
                break;
            }
            let Some((key, rest)) = key_of(line.text) else {
                return Err(FrontmatterError::at(line.number, Problem::NotAField));
            };
            self.take_line();
            let value = self.value(rest, line.number, indent, depth)?;
            fields.add(Field {
                key,
                value,
                line: line.number,
            })?;
        }
        Ok(fields)
    }

    /// Reads the value after `key:`, on the same line or below it.
    fn value(
        &mut self,
        rest: &'a str,
        number: u32,
        indent: usize,
        depth: u32,
    ) -> Result<Value, FrontmatterError> {
        if !rest.is_empty() && !rest.starts_with('#') {
            return self.inline(rest, number, indent, depth, true);
        }
        match self.next_line()? {
            Some(below) if below.indent > indent => self.block(below, depth),
            Some(below) if below.indent == indent && is_item(below.text) => {
                self.block(below, depth)
            }
            _ => Ok(Value::Plain(String::new())),
        }
    }

    fn sequence(&mut self, indent: usize, depth: u32) -> Result<Vec<Value>, FrontmatterError> {
        let mut items = Vec::new();
        while let Some(line) = self.next_line()? {
            if line.indent < indent || (line.indent == indent && !is_item(line.text)) {
                break;
            }
            if line.indent > indent {
                return Err(FrontmatterError::at(line.number, Problem::Indentation));
            }
            let rest = line.text[1..].trim_start_matches(' ');
            if rest.is_empty() || rest.starts_with('#') {
                self.take_line();
                items.push(match self.next_line()? {
                    Some(below) if below.indent > indent => self.block(below, depth)?,
                    _ => Value::Plain(String::new()),
                });
                continue;
            }
            // The text after the dash is treated as a separate line with deeper indentation.
            let column = indent + (line.text.len() - rest.len());
            self.behind_dash = Some(column);
            let inner = Line {
                number: line.number,
                indent: column,
                text: rest,
            };
            if is_item(rest) || key_of(rest).is_some() {
                items.push(self.block(inner, depth)?);
            } else {
                self.take_line();
                items.push(self.inline(rest, line.number, indent, depth, true)?);
            }
        }
        Ok(items)
    }

    /// Reads a value that begins on this line and may continue on lines that are indented by more than `indent`.
    fn inline(
        &mut self,
        text: &'a str,
        number: u32,
        indent: usize,
        depth: u32,
        colon_allowed: bool,
    ) -> Result<Value, FrontmatterError> {
        let not_read = |what| Err(FrontmatterError::at(number, Problem::NotRead { what }));
        match text.chars().next() {
            Some('|' | '>') => self.block_text(text, number, indent).map(Value::Quoted),
            Some(open @ ('"' | '\'' | '[' | '{')) => {
                if let Some(value) = flow::read(text, number, depth)? {
                    return Ok(value);
                }
                let mut joined = text.to_owned();
                for (_, more) in self.continuation(indent) {
                    joined.push('\n');
                    joined.push_str(more);
                }
                // The closing bracket may stand on a line of its own, indented like its field's name.
                let close = self.lines.get(self.at).map(|line| line.trim());
                if let Some(close) = close.filter(|line| line.starts_with([']', '}']))
                    && matches!(open, '[' | '{')
                {
                    self.at += 1;
                    joined.push('\n');
                    joined.push_str(close);
                }
                let unfinished = FrontmatterError::at(number, Problem::Unfinished { open });
                flow::read(&joined, number, depth)?.ok_or(unfinished)
            }
            Some('&') => not_read("an anchor (`&`)"),
            Some('*') => not_read("an alias (`*`)"),
            Some('!') => not_read("a tag (`!`)"),
            Some('%' | '@' | '`') => not_read("a text that begins with `%`, `@` or a backtick"),
            Some('?') if text.starts_with("? ") => not_read("a complex key (`?`)"),
            _ => self.plain(text, number, indent, colon_allowed),
        }
    }

    fn plain(
        &mut self,
        text: &str,
        number: u32,
        indent: usize,
        colon_allowed: bool,
    ) -> Result<Value, FrontmatterError> {
        let colon = |text: &str| text.contains(": ") || text.ends_with(':');
        let (start, mut commented) = without_comment(text);
        if !colon_allowed && colon(start) {
            return Err(FrontmatterError::at(number, Problem::ColonInText));
        }
        let mut joined = start.to_owned();
        for (number, more) in self.continuation(indent) {
            if commented && !more.is_empty() && !more.starts_with('#') {
                return Err(FrontmatterError::at(number, Problem::Indentation));
            }
            let (part, ends) = match more.starts_with('#') {
                true => ("", true),
                false => without_comment(more),
            };
            if colon(part) {
                return Err(FrontmatterError::at(number, Problem::ColonInText));
            }
            if !commented {
                fold(&mut joined, part);
            }
            commented |= ends;
        }
        joined.truncate(joined.trim_end().len());
        Ok(Value::Plain(joined))
    }

    /// Takes the following lines that are indented by more than `indent`, including blank lines between them, with their line
    /// numbers.
    fn continuation(&mut self, indent: usize) -> Vec<(u32, &'a str)> {
        let mut lines = Vec::new();
        let mut belonging = 0;
        let ahead = self.lines.get(self.at..).unwrap_or(&[]);
        for (line, number) in ahead.iter().zip(self.number()..) {
            let inner = line.trim_start_matches(' ');
            let blank = inner.trim().is_empty();
            if !blank && line.len() - inner.len() <= indent {
                break;
            }
            lines.push((number, inner.trim()));
            if !blank {
                belonging = lines.len();
            }
        }
        lines.truncate(belonging);
        self.at += belonging;
        lines
    }

    /// Reads the lines below `|` or `>`.
    fn block_text(
        &mut self,
        header: &str,
        number: u32,
        indent: usize,
    ) -> Result<String, FrontmatterError> {
        let (header, _) = without_comment(header);
        let folded = header.starts_with('>');
        let (chomp, width) = match &header[1..] {
            "" => (None, None),
            marks => {
                let chomp = marks.chars().find(|c| matches!(c, '-' | '+'));
                let width = marks.chars().find_map(|c| c.to_digit(10));
                let known = usize::from(chomp.is_some()) + usize::from(width.is_some());
                if marks.chars().count() != known || width == Some(0) {
                    let rest = marks.to_owned();
                    return Err(FrontmatterError::at(number, Problem::Trailing { rest }));
                }
                (chomp, width)
            }
        };
        let mut lines: Vec<&str> = Vec::new();
        let mut column = width.map(|width| indent + width as usize);
        while let Some(line) = self.lines.get(self.at) {
            let inner = line.trim_start_matches(' ');
            let stands = line.len() - inner.len();
            if inner.is_empty() {
                lines.push(line.get(column.unwrap_or(stands)..).unwrap_or(""));
            } else if stands > indent && column.is_none_or(|column| stands >= column) {
                let column = *column.get_or_insert(stands);
                lines.push(&line[column..]);
            } else if stands > indent && inner.starts_with('#') {
                // A line with less indentation than the text: a trailing comment.
                break;
            } else if stands > indent {
                return Err(FrontmatterError::at(self.number(), Problem::Indentation));
            } else {
                break;
            }
            self.at += 1;
        }
        let text_lines = lines.iter().rposition(|line| !line.is_empty());
        let kept = text_lines.map_or(0, |last| last + 1);
        let mut text = if folded {
            fold_lines(&lines[..kept])
        } else {
            lines[..kept].join("\n")
        };
        match chomp {
            Some('-') => {}
            Some(_) => (kept..lines.len() + usize::from(kept > 0)).for_each(|_| text.push('\n')),
            None if kept > 0 => text.push('\n'),
            None => {}
        }
        Ok(text)
    }
}

/// Appends a continuation line to a text, separated by a blank; a blank line adds a line end.
fn fold(text: &mut String, line: &str) {
    if line.is_empty() {
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    } else {
        if !text.ends_with('\n') {
            text.push(' ');
        }
        text.push_str(line);
    }
}

/// Folds lines as `>` does: line ends become blanks, except around lines with deeper indentation.
fn fold_lines(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut breaks = 0u32;
    let mut was_indented = false;
    for (index, line) in lines.iter().enumerate() {
        if line.is_empty() {
            breaks += 1;
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        if index > 0 {
            if indented || was_indented {
                breaks += u32::from(!text.is_empty());
            } else if breaks == 0 {
                text.push(' ');
            }
            (0..breaks).for_each(|_| text.push('\n'));
        }
        breaks = 0;
        was_indented = indented;
        text.push_str(line);
    }
    text
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Splits `key: rest` or `key:`; `None` if the text is not a field.
fn key_of(text: &str) -> Option<(String, &str)> {
    if let Some(quote @ ('"' | '\'')) = text.chars().next() {
        let end = closing(text, quote)?;
        let rest = text[end..].trim_start().strip_prefix(':')?;
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        return match flow::read(&text[..end], 0, 1) {
            Ok(Some(Value::Quoted(key))) => Some((key, rest.trim())),
            _ => None,
        };
    }
    if text.starts_with(['[', '{', '#', '&', '*', '!', '|', '>', '%', '@', '`'])
        || text.starts_with("? ")
    {
        return None;
    }
    let end = match text.find(": ") {
        Some(end) => end,
        None => text.strip_suffix(':').map(str::len)?,
    };
    let key = text[..end].trim_end();
    let plain = !key.is_empty() && !key.contains(" #");
    plain.then(|| (key.to_string(), text[end + 1..].trim()))
}

/// The position after the quote that closes the one at the beginning of a text.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            // A doubled single quote is an escaped one.
            if quote == '\'' && chars.next_if(|(_, next)| *next == quote).is_some() {
                continue;
            }
            return Some(at + quote.len_utf8());
        }
    }
    None
}

/// The text before a comment, and whether there was one.
pub(super) fn without_comment(text: &str) -> (&str, bool) {
    match text.find(" #").or_else(|| text.find("\t#")) {
        Some(at) => (text[..at].trim_end(), true),
        None => (text, false),
    }
}
