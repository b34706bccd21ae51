//! Parser for the fields at the head of an agent's, a skill's or a command's Markdown file.
//!
//! The fields are written in a subset of YAML that is small enough for every reader to interpret in the same way:
//!
//! - block mappings and sequences, nested by blanks (a sequence may start at its key's column);
//! - flow sequences and mappings, `[Read, Grep]`, `{type: stdio}`, which may span lines;
//! - plain, `'single'` and `"double"` quoted scalars, and block scalars after `|` and `>` with `-` or `+`;
//! - comments: `#` at the beginning of a line or after a blank.
//!
//! Rejected with an error that names the line: tabs as indentation, anchors, aliases, tags, complex keys, duplicate fields.
//! The parser is more lenient than YAML in three respects, because such files are common: a plain value on its field's line
//! may contain `: `, commas inside parentheses do not separate items, and `[a] [b]` is a text.

mod flow;
mod reader;

use windlass_core::json::{RawJson, RawObject};

/// A Markdown file split into fields and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'a> {
    /// The fields between the two `---` lines; `None` if the file does not begin with such a line.
    pub front: Option<Mapping>,
    /// Everything after the fields, or the whole file.
    pub body: &'a str,
}

impl<'a> Document<'a> {
    /// Takes a file's text apart. A byte order mark is skipped; lines may end in CR LF.
    ///
    /// # Errors
    /// [`FrontmatterError`] with the line. Nothing of a file with an error is used.
    ///
    /// ```
    /// use windlass_engine::frontmatter::Document;
    /// let file = Document::parse("---\nname: reviewer\ntools: Read, Bash(git log:*)\n---\nYou review.\n")?;
    /// let fields = file.front.unwrap();
    /// assert_eq!(fields.text("name")?, Some("reviewer"));
    /// assert_eq!(fields.list("tools")?.unwrap(), ["Read", "Bash(git log:*)"]);
    /// assert_eq!(file.body, "You review.\n");
    /// # Ok::<(), windlass_engine::frontmatter::FrontmatterError>(())
    /// ```
    pub fn parse(text: &'a str) -> Result<Self, FrontmatterError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        if lines.next().is_none_or(|first| first.trim_end() != "---") {
            return Ok(Self {
                front: None,
                body: text,
            });
        }
        let mut fields: Vec<&str> = Vec::new();
        let mut read = text.find('\n').map_or(text.len(), |end| end + 1);
        for line in lines {
            read += line.len();
            if matches!(line.trim_end(), "---" | "...") {
                return Ok(Self {
                    front: Some(reader::read(&fields, 2)?),
                    body: &text[read..],
                });
            }
            fields.push(line.trim_end_matches(['\n', '\r']));
        }
        Err(FrontmatterError::at(1, Problem::Unclosed))
    }
}

/// The maximum number of fields in one mapping; real files have about a dozen.
const MOST_FIELDS: usize = 1_000;

/// The maximum nesting depth; no real file nests deeper.
const DEPTH: u32 = 16;

/// Fields in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    fields: Vec<Field>,
}

/// A field and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The field's name.
    pub key: String,
    /// The field's value.
    pub value: Value,
    /// The line of the name in the file, counted from 1.
    pub line: u32,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An unquoted scalar: a text, or one of `true`, `false`, a number, and `null`, `~` or nothing.
    Plain(String),
    /// A quoted or block scalar: always a text.
    Quoted(String),
    /// A sequence.
    List(Vec<Self>),
    /// A nested mapping.
    Map(Mapping),
}

impl Value {
    /// Converts the value to JSON. Plain scalars are converted by their form; a number keeps its spelling if it is valid
    /// JSON.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        match self {
            Self::Plain(text) if is_null(text) => RawJson::null(),
            Self::Plain(text) => match flag(text) {
                Some(flag) => scalar_json(if flag { "true" } else { "false" }),
                None if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                    scalar_json(text)
                }
                None => RawJson::string(text),
            },
            Self::Quoted(text) => RawJson::string(text),
            Self::List(items) => {
                let items: Vec<RawJson> = items.iter().map(Self::to_json).collect();
                // Values are JSON already: encoding cannot fail.
                RawJson::encode(&items).unwrap_or_else(|_| RawJson::null())
            }
            Self::Map(fields) => fields.to_json(),
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Plain(text) if is_null(text))
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Quoted(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// Whether a text is null in the core schema of YAML 1.2 (section 10.3.2).
fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// A boolean, as the core schema of YAML 1.2 spells it (section 10.3.2).
fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

fn scalar_json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap_or_else(|_| RawJson::string(text))
}

impl Mapping {
    /// The fields in file order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// A text; `None` if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for a list or a mapping.
    pub fn text(&self, key: &str) -> Result<Option<&str>, FrontmatterError> {
        self.typed(key, "a text", Value::as_text)
    }

    /// A boolean (`true` or `false`); `None` if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for anything else, including quoted words.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, FrontmatterError> {
        self.typed(key, "true or false", |value| match value {
            Value::Plain(text) => flag(text),
            _ => None,
        })
    }

    /// A non-negative integer; `None` if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for anything else.
    pub fn number(&self, key: &str) -> Result<Option<u32>, FrontmatterError> {
        self.typed(key, "a whole number", |value| match value {
            Value::Plain(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// A list of names or rules: a sequence, or one text in which commas or blanks separate the items. Separators inside
    /// parentheses do not count, so `Bash(git add:*), Read` has two items. `None` if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for a mapping, or a sequence with an item that is not a text.
    pub fn list(&self, key: &str) -> Result<Option<Vec<String>>, FrontmatterError> {
        self.typed(
            key,
            "a list, or names separated by commas",
            |value| match value {
                Value::Plain(text) | Value::Quoted(text) => Some(split_names(text)),
                Value::List(items) => items
                    .iter()
                    .map(|item| item.as_text().map(ToOwned::to_owned))
                    .collect(),
                Value::Map(_) => None,
            },
        )
    }

    /// The fields as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        let mut object = RawObject::default();
        for field in &self.fields {
            object.set(&field.key, field.value.to_json());
        }
        object.to_raw()
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        wanted: &'static str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, FrontmatterError> {
        let Some(field) = self.get(key).filter(|field| !field.value.is_null()) else {
            return Ok(None);
        };
        read(&field.value).map(Some).ok_or_else(|| {
            let key = key.to_owned();
            FrontmatterError::at(field.line, Problem::WrongKind { key, wanted })
        })
    }

    /// Adds a field; a duplicate is an error.
    fn add(&mut self, field: Field) -> Result<(), FrontmatterError> {
        match self.get(&field.key) {
            Some(first) => Err(FrontmatterError::at(
                field.line,
                Problem::Twice {
                    key: field.key,
                    first: first.line,
                },
            )),
            None if self.fields.len() == MOST_FIELDS => Err(FrontmatterError::at(
                field.line,
                Problem::TooMany { limit: MOST_FIELDS },
            )),
            None => {
                self.fields.push(field);
                Ok(())
            }
        }
    }
}

/// Splits a text at commas and blanks outside parentheses.
fn split_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            if !name.is_empty() {
                names.push(std::mem::take(&mut name));
            }
        } else {
            name.push(c);
        }
    }
    let last = name.trim();
    if !last.is_empty() {
        names.push(last.to_string());
    }
    names
}

/// An error in the fields of a file: the line, the problem, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FrontmatterError {
    /// The line in the file, counted from 1.
    pub line: u32,
    /// The problem on that line.
    pub problem: Problem,
}

impl FrontmatterError {
    /// An error on a line.
    #[must_use]
    pub fn at(line: u32, problem: Problem) -> Self {
        Self { line, problem }
    }
}

/// The kinds of errors in the fields of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The second `---` is missing.
    #[error("the fields are never closed: put a line `---` behind them")]
    Unclosed,
    /// A line that is neither a field nor an item.
    #[error("this is no field: write `name: value`, one a line")]
    NotAField,
    /// A line whose indentation matches no enclosing block.
    #[error(
        "this line is indented like nothing above it: align it with the fields it belongs to, with blanks"
    )]
    Indentation,
    /// A tab in the indentation.
    #[error("a tab cannot indent here: use blanks")]
    Tab,
    /// A quote or bracket that is not closed.
    #[error("`{open}` is never closed: add the closing one, or put the whole text in quotes")]
    Unfinished {
        /// The opening character.
        open: char,
    },
    /// A field whose name resembles that of a known field.
    #[error("there is no field `{key}`: did you mean `{meant}`?")]
    Misspelt {
        /// The name as written.
        key: String,
        /// The name that was probably meant.
        meant: &'static str,
    },
    /// Text after the end of a value.
    #[error("`{rest}` stands behind the end of the value: put the whole text in quotes")]
    Trailing {
        /// The text.
        rest: String,
    },
    /// An escape that is not valid in double quotes.
    #[error(
        "`\\{escape}` means nothing in double quotes: write `\\\\{escape}`, or use single quotes"
    )]
    Escape {
        /// The characters after the backslash.
        escape: String,
    },
    /// A `: ` inside a multi-line text or inside brackets.
    #[error(
        "this text cannot hold `: `: put it in quotes, or write `>-` behind the field's name and the text below"
    )]
    ColonInText,
    /// An unsupported part of YAML.
    #[error("{what} is not read here: if it is meant as text, put it in quotes")]
    NotRead {
        /// The name of that part.
        what: &'static str,
    },
    /// A duplicate field.
    #[error("the field `{key}` is here a second time (first in line {first}): keep one of them")]
    Twice {
        /// The field.
        key: String,
        /// The line of its first occurrence.
        first: u32,
    },
    /// Values that are nested too deeply.
    #[error("this is nested deeper than {limit} levels: make it flatter")]
    TooDeep {
        /// The maximum depth.
        limit: u32,
    },
    /// Too many fields in one mapping.
    #[error("there are more than {limit} fields beside each other: leave some out")]
    TooMany {
        /// The maximum number.
        limit: usize,
    },
    /// A field with a value of the wrong type.
    #[error("the field `{key}` must be {wanted}")]
    WrongKind {
        /// The field.
        key: String,
        /// The expected type.
        wanted: &'static str,
    },
    /// A required field is missing.
    #[error("the field `{key}` is missing: add a line `{key}: …`")]
    Missing {
        /// The field.
        key: &'static str,
    },
}

#[cfg(test)]
mod tests;
