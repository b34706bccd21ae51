//! Expands words to arguments.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use windlass_shell::{Part, Script, Word};

use super::{
    glob,
    locale::Locale,
    pattern,
    shell::{Leave, Outcome, Shell},
    variables::TooLarge,
};

/// The maximum number of arguments of one command; far more than a system supports.
const MAX_FIELDS: usize = 1_000_000;

/// The maximum size of the expanded words of one command, in bytes, since they are in this process's memory.
const MOST_TEXT: usize = 64 << 20;

/// The status of a command that was not started.
pub(super) const NOT_STARTED: i32 = 126;

/// An argument, and whether its first character comes from an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) text: OsString,
    pub(super) expanded: bool,
}

impl Argument {
    /// The argument for a program: an expanded text never becomes an option.
    pub(super) fn for_programs(self) -> OsString {
        if self.expanded && self.text.as_bytes().starts_with(b"-") {
            let text = [b"./", self.text.as_bytes()].concat();
            return OsString::from_vec(text);
        }
        self.text
    }
}

/// A field under construction.
#[derive(Debug, Default)]
pub(super) struct Field {
    /// Its text.
    text: Vec<u8>,
    /// Its text as a pattern: literal characters are escaped.
    pattern: Vec<u8>,
    /// Whether the pattern has special characters.
    is_pattern: bool,
    expanded: Option<bool>,
}

impl Field {
    fn push(&mut self, text: &[u8], is_live: bool, expanded: bool) {
        if text.is_empty() {
            return;
        }
        self.expanded.get_or_insert(expanded);
        self.text.extend_from_slice(text);
        if is_live {
            self.is_pattern |= pattern::has_special(text);
            self.pattern.extend_from_slice(text);
        } else {
            pattern::escape(text, &mut self.pattern);
        }
    }
}

/// The fields of one word.
#[derive(Debug, Default)]
struct Fields {
    done: Vec<Field>,
    open: Option<Field>,
}

impl Fields {
    fn open(&mut self) -> &mut Field {
        self.open.get_or_insert_default()
    }

    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Adds an unquoted expansion: every run of blanks ends a field.
    fn split(&mut self, text: &[u8]) {
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n');
        for (index, piece) in text.split(is_blank).enumerate() {
            if index > 0 {
                self.close();
            }
            if !piece.is_empty() {
                self.open().push(piece, true, true);
            }
        }
    }
}

impl<'p> Shell<'p> {
    /// Expands several words.
    pub(super) fn words(&mut self, words: &'p [Word], line: u32) -> Result<Vec<OsString>, Leave> {
        self.expanded = 0;
        let mut fields = Vec::new();
        for word in words {
            fields.extend(self.fields(word, line)?);
        }
        let found = self.found(fields, line)?;
        Ok(found.into_iter().map(|argument| argument.text).collect())
    }

    /// Expands one word to fields, without pathname expansion. Bash does that after all words of a command are
    /// expanded, since their substitutions may create files.
    pub(super) fn fields(&mut self, word: &'p Word, line: u32) -> Result<Vec<Field>, Leave> {
        if let Some(text) = word.as_literal() {
            let mut field = Field::default();
            field.push(text.as_bytes(), false, false);
            return Ok(vec![field]);
        }
        let mut fields = Fields::default();
        for part in &word.parts {
            self.reserve(part, line)?;
            match part {
                Part::Operation {
                    name,
                    operation,
                    quoted: false,
                } => fields.split(&self.operated(name, operation)),
                Part::Literal(text) => fields.open().push(text.as_bytes(), false, false),
                Part::Pattern(text) => fields.open().push(text.as_bytes(), true, true),
                Part::Variable {
                    name,
                    quoted: false,
                } => fields.split(self.variable(name).as_bytes()),
                Part::Substitution {
                    script,
                    quoted: false,
                } => {
                    let output = self.output(script, line)?;
                    self.reserve_bytes(output.len(), line)?;
                    fields.split(&output);
                }
                _ => {
                    let text = self.quoted_part(part, line)?;
                    fields.open().push(&text, false, true);
                }
            }
        }
        fields.close();
        Ok(fields.done)
    }

    /// Pathname expansion: the arguments for the fields of a word.
    pub(super) fn found(&mut self, fields: Vec<Field>, line: u32) -> Result<Vec<Argument>, Leave> {
        let mut all = Vec::with_capacity(fields.len());
        for field in fields {
            self.pathnames(field, &mut all)?;
            if all.len() > MAX_FIELDS {
                self.complain(line, b"Argument list too long");
                self.status = NOT_STARTED;
                return Err(Leave::Exit);
            }
        }
        Ok(all)
    }

    /// Expands a word without splitting: a value, or the text of a here-document.
    pub(super) fn one_word(&mut self, word: &'p Word, line: u32) -> Result<OsString, Leave> {
        let mut text = Vec::new();
        for part in &word.parts {
            self.reserve(part, line)?;
            match part {
                Part::Literal(literal) | Part::Pattern(literal) => {
                    text.extend_from_slice(literal.as_bytes());
                }
                part => text.extend_from_slice(&self.quoted_part(part, line)?),
            }
        }
        Ok(OsString::from_vec(text))
    }

    fn quoted_part(&mut self, part: &'p Part, line: u32) -> Result<Vec<u8>, Leave> {
        Ok(match part {
            Part::Literal(text) | Part::Pattern(text) => text.clone().into_bytes(),
            Part::Tilde => self.tilde(),
            Part::Status => self.status.to_string().into_bytes(),
            Part::Variable { name, .. } => self.variable(name).as_bytes().to_vec(),
            Part::Operation {
                name, operation, ..
            } => self.operated(name, operation),
            Part::Substitution { script, .. } => {
                let output = self.output(script, line)?;
                self.reserve_bytes(output.len(), line)?;
                output
            }
            // Always a whole word, which was handled when the command's words were expanded.
            Part::Process { .. } => Vec::new(),
        })
    }

    /// Sets a variable, unless it is too large.
    pub(super) fn set(&mut self, name: &str, value: OsString, line: u32) -> Outcome {
        match self.variables.set(name, value) {
            Ok(()) => Ok(()),
            Err(TooLarge) => self.too_large(line),
        }
    }

    /// Reserves the size of a part before it is expanded.
    fn reserve(&mut self, part: &Part, line: u32) -> Outcome {
        let bytes = match part {
            Part::Literal(text) | Part::Pattern(text) => text.len(),
            Part::Variable { name, .. } | Part::Operation { name, .. } => self.variable(name).len(),
            Part::Tilde | Part::Status | Part::Substitution { .. } | Part::Process { .. } => 0,
        };
        self.reserve_bytes(bytes, line)
    }

    fn reserve_bytes(&mut self, bytes: usize, line: u32) -> Outcome {
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded > MOST_TEXT {
            return self.too_large(line);
        }
        match self.context.control.is_stopping() {
            true => Err(Leave::Stopped),
            false => Ok(()),
        }
    }

    fn too_large(&mut self, line: u32) -> Outcome {
        self.complain(
            line,
            b"cannot allocate memory: what is expanded is too large",
        );
        self.status = NOT_STARTED;
        Err(Leave::Exit)
    }

    fn variable(&self, name: &str) -> &OsStr {
        self.variables.get(name).unwrap_or_default()
    }

    fn tilde(&self) -> Vec<u8> {
        let home = self.home().map(OsStr::as_bytes).map(<[u8]>::to_vec);
        home.or_else(passwd_home).unwrap_or_else(|| b"~".to_vec())
    }

    fn pathnames(&self, field: Field, all: &mut Vec<Argument>) -> Result<(), Leave> {
        let expanded = field.expanded.unwrap_or(false);
        if field.is_pattern {
            let locale = Locale::of(&self.variables);
            let control = self.context.control;
            let found = glob::expand(&field.pattern, self.directory.handle(), locale, control)?;
            if !found.is_empty() {
                let argument = |path| Argument {
                    text: OsString::from_vec(path),
                    expanded,
                };
                all.extend(found.into_iter().map(argument));
                return Ok(());
            }
        }
        let text = OsString::from_vec(field.text);
        all.push(Argument { text, expanded });
        Ok(())
    }

    fn output(&mut self, script: &'p Script, line: u32) -> Result<Vec<u8>, Leave> {
        let mut output = self.substitute(script, line)?;
        while output.last() == Some(&b'\n') {
            output.pop();
        }
        Ok(output)
    }
}

/// The home directory of the current user in `/etc/passwd`.
fn passwd_home() -> Option<Vec<u8>> {
    let own = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read("/etc/passwd").ok()?;
    users.split(|b| *b == b'\n').find_map(|user| {
        let mut columns = user.split(|b| *b == b':');
        let id = columns.nth(2)?;
        // The group and the full name come in between.
        let home = columns.nth(2)?;
        (id == own.as_bytes()).then(|| home.to_vec())
    })
}
