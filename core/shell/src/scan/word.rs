//! Words: quoting, expansions, and the substitutions inside them.

use alloc::{string::String, vec::Vec};

use super::{
    budget::Budget,
    evaluated::{is_numeric, is_plain_expansion},
};
use crate::{CommandWord, Unparsed};

/// Scans words of a line.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    chars: Vec<char>,
    at: usize,
    /// Command lines found inside words, all of which would run.
    pub(super) nested: Vec<String>,
    /// The remaining nesting depth of expansions: each level takes stack space.
    depth: u32,
    budget: &'a Budget,
}

/// Whether a character ends an unquoted word.
fn ends_word(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

impl<'a> Scanner<'a> {
    pub(super) fn new(line: &str, depth: u32, budget: &'a Budget) -> Result<Self, Unparsed> {
        budget.spend(line.len())?;
        Ok(Self {
            chars: line.chars().collect(),
            at: 0,
            nested: Vec::new(),
            depth,
            budget,
        })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    /// Consumes a text if it is here.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let length = text.chars().count();
        let here = self.chars.get(self.at..self.at + length);
        let found = here.is_some_and(|here| here.iter().copied().eq(text.chars()));
        if found {
            self.at += length;
        }
        found
    }

    /// Skips blanks, line continuations and comments; line ends are kept.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The next word; none if there is no word here.
    pub(super) fn word(&mut self) -> Result<Option<CommandWord>, Unparsed> {
        let mut word = CommandWord::default();
        let start = self.at;
        while let Some(c) = self.peek() {
            // A process substitution is a special kind of word: it names a file and runs a command.
            if matches!(c, '<' | '>') && self.peek_at(1) == Some('(') && self.at == start {
                self.at += 2;
                let inner = self.until_closing_parenthesis()?;
                self.nested.push(inner);
                word.compute();
                continue;
            }
            if ends_word(c) {
                break;
            }
            self.at += 1;
            self.piece(c, &mut word)?;
        }
        // A single bracket is not a pattern but the name of a program.
        if self.at - start == word.text.len() && matches!(word.text.as_str(), "[" | "[[") {
            word.known = None;
        }
        Ok((self.at > start).then_some(word))
    }

    /// Consumes the piece of a word that begins with `c`, which is already consumed.
    fn piece(&mut self, c: char, word: &mut CommandWord) -> Result<(), Unparsed> {
        match c {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(escaped) => {
                    word.quoted = true;
                    word.text.push(escaped);
                }
                None => return Err(Unparsed::Unclosed),
            },
            '\'' => {
                word.quoted = true;
                self.single_quoted(word)?;
            }
            '"' => {
                word.quoted = true;
                self.double_quoted(word)?;
            }
            '$' => self.dollar(word, false)?,
            '`' => self.backquoted(word)?,
            // An empty pair of braces is literal; `find` and `xargs` replace it by names.
            '{' if self.peek() == Some('}') => {
                self.at += 1;
                word.text.push_str("{}");
            }
            // Patterns and braces may expand to any number of words; a tilde expands to a path.
            '*' | '?' | '[' | '{' => {
                word.compute();
                word.text.push(c);
            }
            '~' if word.text.is_empty() => {
                word.compute();
                word.text.push(c);
            }
            _ => word.text.push(c),
        }
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut CommandWord) -> Result<(), Unparsed> {
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => word.text.push(c),
                None => return Err(Unparsed::Unclosed),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut CommandWord) -> Result<(), Unparsed> {
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                    Some(c) => {
                        word.text.push('\\');
                        word.text.push(c);
                    }
                    None => return Err(Unparsed::Unclosed),
                },
                Some('$') if self.peek() == Some('"') => word.text.push('$'),
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backquoted(word)?,
                Some(c) => word.text.push(c),
                None => return Err(Unparsed::Unclosed),
            }
        }
    }

    /// The expansion after a dollar sign, which is already consumed; in quotes an apostrophe is literal. All recursion goes
    /// through this function.
    fn dollar(&mut self, word: &mut CommandWord, in_quotes: bool) -> Result<(), Unparsed> {
        self.depth = self.depth.checked_sub(1).ok_or(Unparsed::TooDeep)?;
        self.expansion(word, in_quotes)?;
        self.depth += 1;
        Ok(())
    }

    fn expansion(&mut self, word: &mut CommandWord, in_quotes: bool) -> Result<(), Unparsed> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                word.compute();
                let inner = self.until_closing_parenthesis()?;
                match inner.strip_prefix('(') {
                    Some(arithmetic) if is_numeric(arithmetic) => Ok(()),
                    Some(_) => Err(Unparsed::Unsupported("arithmetic with variables")),
                    None => {
                        self.nested.push(inner);
                        Ok(())
                    }
                }
            }
            Some('{') => {
                self.at += 1;
                let is_first = begins(word);
                word.compute();
                let inner = self.until_closing_brace()?;
                if is_first {
                    note_folder(word, &inner);
                }
                if inner.ends_with("@P") {
                    return Err(Unparsed::Unsupported("a variable expanded as a prompt"));
                }
                if !is_plain_expansion(&inner) {
                    return Err(Unparsed::Unsupported("a variable whose value is evaluated"));
                }
                self.substitutions_of(&inner)
            }
            Some('\'') if !in_quotes => {
                self.at += 1;
                word.quoted = true;
                self.escaped_string(word)
            }
            Some('[') => Err(Unparsed::Unsupported("$[…] arithmetic")),
            Some(c)
                if c.is_ascii_alphanumeric()
                    || matches!(c, '_' | '@' | '*' | '#' | '?' | '$' | '!' | '-') =>
            {
                let is_first = begins(word);
                word.compute();
                self.at += 1;
                let mut name = String::from(c);
                if c.is_ascii_alphabetic() || c == '_' {
                    while let Some(c) = self
                        .peek()
                        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
                    {
                        name.push(c);
                        self.at += 1;
                    }
                }
                if is_first {
                    note_folder(word, &name);
                }
                Ok(())
            }
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// `$'…'` with its escapes, after its opening.
    fn escaped_string(&mut self, word: &mut CommandWord) -> Result<(), Unparsed> {
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\\') => {
                    let c = match self.next().ok_or(Unparsed::Unclosed)? {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'a' => '\u{7}',
                        'b' => '\u{8}',
                        'e' | 'E' => '\u{1b}',
                        c @ ('\\' | '\'' | '"' | '?') => c,
                        'x' => self.coded(16, 2)?,
                        'u' => self.coded(16, 4)?,
                        'U' => self.coded(16, 8)?,
                        '0'..='7' => {
                            self.at -= 1;
                            self.coded(8, 3)?
                        }
                        _ => return Err(Unparsed::Unsupported("an unknown escape in $'…'")),
                    };
                    word.text.push(c);
                }
                Some(c) => word.text.push(c),
                None => return Err(Unparsed::Unclosed),
            }
        }
    }

    /// A character by its number. Only ASCII: above it, bytes and characters differ.
    fn coded(&mut self, radix: u32, digits: u32) -> Result<char, Unparsed> {
        let mut code = 0_u32;
        let mut taken = 0;
        while taken < digits
            && let Some(digit) = self.peek().and_then(|c| c.to_digit(radix))
        {
            code = code * radix + digit;
            self.at += 1;
            taken += 1;
        }
        match u8::try_from(code) {
            Ok(byte @ 1..=127) if taken > 0 => Ok(char::from(byte)),
            _ => Err(Unparsed::Unsupported("a byte by its number")),
        }
    }

    fn backquoted(&mut self, word: &mut CommandWord) -> Result<(), Unparsed> {
        word.compute();
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => {
                    self.nested.push(inner);
                    return Ok(());
                }
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some(c) => {
                        inner.push('\\');
                        inner.push(c);
                    }
                    None => return Err(Unparsed::Unclosed),
                },
                Some(c) => inner.push(c),
                None => return Err(Unparsed::Unclosed),
            }
        }
    }

    /// Collects the command lines substituted inside a text that does not consist of words: arithmetic, `${…}`, the body of a
    /// here-document.
    pub(super) fn substitutions_of(&mut self, text: &str) -> Result<(), Unparsed> {
        let mut inner = Scanner::new(text, self.depth, self.budget)?;
        let mut ignored = CommandWord::default();
        while let Some(c) = inner.next() {
            match c {
                '\\' => {
                    inner.next();
                }
                '$' => inner.dollar(&mut ignored, true)?,
                '`' => inner.backquoted(&mut ignored)?,
                _ => {}
            }
        }
        self.nested.append(&mut inner.nested);
        Ok(())
    }

    /// The text up to the parenthesis that closes one already consumed.
    pub(super) fn until_closing_parenthesis(&mut self) -> Result<String, Unparsed> {
        self.until_closing('(', ')')
    }

    fn until_closing_brace(&mut self) -> Result<String, Unparsed> {
        self.until_closing('{', '}')
    }

    /// Respects quotes and nesting. A `case` inside would not be recognised, so its keyword is refused.
    fn until_closing(&mut self, open: char, close: char) -> Result<String, Unparsed> {
        let start = self.at;
        let mut depth = 1_u32;
        while let Some(c) = self.next() {
            let mut ignored = CommandWord::default();
            match c {
                '\\' => {
                    self.next();
                }
                '\'' => self.single_quoted(&mut ignored)?,
                '"' => {
                    // Found again when the inside is parsed, so not counted here.
                    let known = self.nested.len();
                    self.double_quoted(&mut ignored)?;
                    self.nested.truncate(known);
                }
                '#' if open == '(' && self.at >= 2 && ends_word(self.chars[self.at - 2]) => {
                    return Err(Unparsed::Unsupported("a comment inside a substitution"));
                }
                c if c == open => depth += 1,
                c if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        self.budget.spend(self.at - start)?;
                        let inner: String = self.chars[start..self.at - 1].iter().collect();
                        let has_case = inner
                            .split(|c: char| !c.is_ascii_alphanumeric())
                            .any(|w| w == "esac");
                        return if has_case {
                            Err(Unparsed::Unsupported("case inside a substitution"))
                        } else {
                            Ok(inner)
                        };
                    }
                }
                _ => {}
            }
        }
        Err(Unparsed::Unclosed)
    }

    /// The rest of this line, and the position after its end.
    pub(super) fn rest_of_line(&mut self) -> Option<String> {
        self.peek()?;
        let mut line = String::new();
        while let Some(c) = self.next() {
            if c == '\n' {
                break;
            }
            line.push(c);
        }
        Some(line)
    }
}

/// Whether nothing of a word has been taken yet.
fn begins(word: &CommandWord) -> bool {
    word.text.is_empty() && word.known.is_none()
}

/// Records that a word begins with a known folder, if the variable holds one.
fn note_folder(word: &mut CommandWord, variable: &str) {
    word.is_home = variable == "HOME";
    word.is_here = variable == "PWD";
}
