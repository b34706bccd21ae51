//! Quoted scalars and flow collections.

use std::{iter::Peekable, str::Chars};

use super::{DEPTH, Field, FrontmatterError, Mapping, Problem, Value};

/// Reads a value that begins with a quote or bracket; `None` if it is not closed yet.
pub(super) fn read(text: &str, line: u32, depth: u32) -> Result<Option<Value>, FrontmatterError> {
    let mut scan = Scan {
        chars: text.chars().peekable(),
        line,
    };
    match scan.value(depth) {
        Ok(value) => {
            scan.skip_blanks();
            match scan.rest() {
                // `[issue] [priority]` is a hint for users, not a list.
                Some(_) if matches!(value, Value::List(_)) && is_hint(text) => {
                    Ok(Some(Value::Plain(text.to_owned())))
                }
                Some(problem) => Err(FrontmatterError::at(line, problem)),
                None => Ok(Some(value)),
            }
        }
        Err(Stop::EndOfText) => Ok(None),
        Err(Stop::Fault(problem)) => Err(FrontmatterError::at(line, problem)),
    }
}

/// Whether a text consists of bracketed words, one after another.
fn is_hint(text: &str) -> bool {
    let words = text.split_whitespace();
    let is_bracketed = |word: &str| word.starts_with('[') || word.starts_with('<');
    !text.contains('\n') && words.filter(|word| is_bracketed(word)).count() > 1
}

enum Stop {
    /// The closing quote or bracket may come on a later line.
    EndOfText,
    Fault(Problem),
}

struct Scan<'a> {
    chars: Peekable<Chars<'a>>,
    line: u32,
}

impl Scan<'_> {
    fn value(&mut self, depth: u32) -> Result<Value, Stop> {
        let limit = DEPTH;
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Stop::Fault(Problem::TooDeep { limit }));
        };
        self.skip_blanks();
        match self.chars.peek() {
            None => Err(Stop::EndOfText),
            Some('"') => self.double_quoted().map(Value::Quoted),
            Some('\'') => self.single_quoted().map(Value::Quoted),
            Some('[') => self.list(depth),
            Some('{') => self.map(depth),
            Some('&' | '*' | '!') => Err(Stop::Fault(Problem::NotRead {
                what: "an anchor, alias or tag (`&`, `*`, `!`)",
            })),
            Some(_) => {
                let text = self.plain(false);
                match text.contains(": ") || text.ends_with(':') {
                    true => Err(Stop::Fault(Problem::ColonInText)),
                    false => Ok(Value::Plain(text)),
                }
            }
        }
    }

    fn list(&mut self, depth: u32) -> Result<Value, Stop> {
        self.chars.next();
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.chars.peek() {
                None => return Err(Stop::EndOfText),
                Some(']') => {
                    self.chars.next();
                    return Ok(Value::List(items));
                }
                Some(',') => return Err(Stop::Fault(self.trailing())),
                Some(_) => items.push(self.value(depth)?),
            }
            self.comma_or(']')?;
        }
    }

    fn map(&mut self, depth: u32) -> Result<Value, Stop> {
        self.chars.next();
        let mut fields = Mapping::default();
        loop {
            self.skip_blanks();
            let key = match self.chars.peek() {
                None => return Err(Stop::EndOfText),
                Some('}') => {
                    self.chars.next();
                    return Ok(Value::Map(fields));
                }
                Some('"') => self.double_quoted()?,
                Some('\'') => self.single_quoted()?,
                Some(_) => self.plain(true),
            };
            self.skip_blanks();
            match self.chars.next() {
                None => return Err(Stop::EndOfText),
                Some(':') if !key.is_empty() => {}
                Some(_) => return Err(Stop::Fault(Problem::NotAField)),
            }
            self.skip_blanks();
            let value = match self.chars.peek() {
                Some(',' | '}') => Value::Plain(String::new()),
                _ => self.value(depth)?,
            };
            let line = self.line;
            fields
                .add(Field { key, value, line })
                .map_err(|error| Stop::Fault(error.problem))?;
            self.comma_or('}')?;
        }
    }

    /// Consumes a comma; leaves a closing bracket to the caller.
    fn comma_or(&mut self, close: char) -> Result<(), Stop> {
        self.skip_blanks();
        match self.chars.peek() {
            None => Err(Stop::EndOfText),
            Some(',') => {
                self.chars.next();
                Ok(())
            }
            Some(c) if *c == close => Ok(()),
            Some(_) => Err(Stop::Fault(self.trailing())),
        }
    }

    /// The problem, if any input is left.
    fn rest(&mut self) -> Option<Problem> {
        self.chars.peek().is_some().then(|| self.trailing())
    }

    fn trailing(&self) -> Problem {
        let rest = self.chars.clone().take_while(|c| *c != '\n').take(20);
        Problem::Trailing {
            rest: rest.collect(),
        }
    }

    /// An unquoted text: up to the next comma or bracket outside parentheses and, for a key, up to a `:` before a blank.
    fn plain(&mut self, key: bool) -> String {
        let mut text = String::new();
        let mut parens = 0u32;
        while let Some(c) = self.chars.peek().copied() {
            match c {
                '(' => parens += 1,
                ')' => parens = parens.saturating_sub(1),
                ',' | ']' | '}' | '[' | '{' if parens == 0 => break,
                '#' if text.ends_with(char::is_whitespace) => break,
                ':' if key => {
                    let mut ahead = self.chars.clone();
                    ahead.next();
                    if ahead
                        .next()
                        .is_none_or(|c| matches!(c, ' ' | ',' | '}' | '\n'))
                    {
                        break;
                    }
                }
                _ => {}
            }
            text.push(if c == '\n' { ' ' } else { c });
            self.chars.next();
        }
        text.trim().to_owned()
    }

    fn single_quoted(&mut self) -> Result<String, Stop> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next() {
                None => return Err(Stop::EndOfText),
                Some('\'') if self.chars.peek() == Some(&'\'') => {
                    self.chars.next();
                    text.push('\'');
                }
                Some('\'') => return Ok(text),
                Some('\n') => self.fold(&mut text),
                Some(c) => text.push(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<String, Stop> {
        self.chars.next();
        let mut text = String::new();
        loop {
            match self.chars.next() {
                None => return Err(Stop::EndOfText),
                Some('"') => return Ok(text),
                // A line end after a backslash joins the lines without a blank.
                Some('\\') if self.chars.next_if_eq(&'\n').is_some() => {}
                Some('\\') => text.push(self.escaped()?),
                Some('\n') => self.fold(&mut text),
                Some(c) => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, Stop> {
        let Some(escape) = self.chars.next() else {
            return Err(Stop::EndOfText);
        };
        let digits = match escape {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            '0' => return Ok('\0'),
            '"' | '\\' | '/' | ' ' => return Ok(escape),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                let escape = escape.into();
                return Err(Stop::Fault(Problem::Escape { escape }));
            }
        };
        let code: String = self.chars.by_ref().take(digits).collect();
        u32::from_str_radix(&code, 16)
            .ok()
            .and_then(char::from_u32)
            .filter(|_| code.len() == digits)
            .ok_or_else(|| {
                let escape = format!("{escape}{code}");
                Stop::Fault(Problem::Escape { escape })
            })
    }

    /// Folds line ends inside quotes: a single one becomes a blank, several become one line end fewer.
    fn fold(&mut self, text: &mut String) {
        let mut ends = 0u32;
        while self.chars.next_if_eq(&'\n').is_some() {
            ends += 1;
        }
        match ends {
            0 => text.push(' '),
            _ => (0..ends).for_each(|_| text.push('\n')),
        }
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        let mut after_blank = false;
        loop {
            if self.chars.next_if(|c| c.is_whitespace()).is_some() {
                after_blank = true;
            } else if after_blank && self.chars.peek() == Some(&'#') {
                while self.chars.next_if(|c| *c != '\n').is_some() {}
            } else {
                return;
            }
        }
    }
}
