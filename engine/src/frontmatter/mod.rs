//! The fields at the head of an agent's, a skill's or a command's Markdown file.
//!
//! They are written in a part of YAML, small enough to be read the same way everywhere:
//!
//! - block mappings and sequences, nested by blanks (a sequence may stand at its key's column);
//! - flow sequences and mappings, `[Read, Grep]`, `{type: stdio}`, over several lines too;
//! - plain, `'single'` and `"double"` quoted scalars, and blocks after `|` and `>` with `-` or `+`;
//! - comments: `#` at the beginning of a line or after a blank.
//!
//! Not read, and refused with the line: tabs as indentation, anchors, aliases, tags, complex keys, a field given
//! twice. More lenient than YAML in three things, because such files are everywhere: the text of a field on its line
//! may hold `: ` without quotes, commas inside parentheses separate nothing, and `[a] [b]` is a text.

mod flow;
mod reader;

use windlass_core::json::{RawJson, RawObject};

/// A Markdown file taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'a> {
    /// The fields between the two `---` lines; none where the file does not begin with such a line.
    pub front: Option<Mapping>,
    /// Everything behind them, or the whole file.
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

/// Fields beside each other; files have a dozen.
const MOST_FIELDS: usize = 1_000;

/// Fields in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    fields: Vec<Field>,
}

/// A field with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub key: String,
    /// What it was set to.
    pub value: Value,
    /// The line of its name in the file, from 1.
    pub line: u32,
}

/// What a field was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Without quotes: a text, or one of `true`, `false`, a number, and `null`, `~` or nothing.
    Plain(String),
    /// In quotes or a block: always a text.
    Quoted(String),
    /// A sequence.
    List(Vec<Self>),
    /// Fields of its own.
    Map(Mapping),
}

impl Value {
    /// The value as JSON. Plain scalars become what they look like; a number keeps its spelling if that is JSON's.
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

/// Nothing, as the core schema of YAML 1.2 spells it (section 10.3.2).
fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Yes or no, as the core schema of YAML 1.2 spells them (section 10.3.2).
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
    /// The fields in their order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// A field by name.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    /// A text; none if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for a list or fields.
    pub fn text(&self, key: &str) -> Result<Option<&str>, FrontmatterError> {
        self.typed(key, "a text", Value::as_text)
    }

    /// `true` or `false`; none if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for anything else, quoted words included.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, FrontmatterError> {
        self.typed(key, "true or false", |value| match value {
            Value::Plain(text) => flag(text),
            _ => None,
        })
    }

    /// A whole number from 0; none if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for anything else.
    pub fn number(&self, key: &str) -> Result<Option<u32>, FrontmatterError> {
        self.typed(key, "a whole number", |value| match value {
            Value::Plain(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// Names or rules: a sequence, or one text with commas or blanks between them. Inside parentheses neither
    /// separates, so `Bash(git add:*), Read` has two parts. None if the field is absent or empty.
    ///
    /// # Errors
    /// [`Problem::WrongKind`] for fields, or a sequence in which something is not a text.
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

    /// Adds a field that is not there yet.
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

/// Parts of a text between commas and blanks that are not inside parentheses.
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

/// Fields that cannot be read: where, what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FrontmatterError {
    /// The line in the file, from 1.
    pub line: u32,
    /// What is wrong there.
    pub problem: Problem,
}

impl FrontmatterError {
    /// An error with its line.
    #[must_use]
    pub fn at(line: u32, problem: Problem) -> Self {
        Self { line, problem }
    }
}

/// What can be wrong with the fields of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No second `---`.
    #[error("the fields are never closed: put a line `---` behind them")]
    Unclosed,
    /// Neither a field nor an item.
    #[error("this is no field: write `name: value`, one a line")]
    NotAField,
    /// Deeper or shallower than anything it could belong to.
    #[error(
        "this line is indented like nothing above it: align it with the fields it belongs to, with blanks"
    )]
    Indentation,
    /// A tab where blanks are counted.
    #[error("a tab cannot indent here: use blanks")]
    Tab,
    /// A quote or bracket without its end.
    #[error("`{open}` is never closed: add the closing one, or put the whole text in quotes")]
    Unfinished {
        /// What was opened.
        open: char,
    },
    /// A field whose name is nearly that of another one.
    #[error("there is no field `{key}`: did you mean `{meant}`?")]
    Misspelt {
        /// The name.
        key: String,
        /// That of the other.
        meant: &'static str,
    },
    /// Something behind the end of a value.
    #[error("`{rest}` stands behind the end of the value: put the whole text in quotes")]
    Trailing {
        /// What stands there.
        rest: String,
    },
    /// An escape that double quotes do not know.
    #[error(
        "`\\{escape}` means nothing in double quotes: write `\\\\{escape}`, or use single quotes"
    )]
    Escape {
        /// What follows the backslash.
        escape: String,
    },
    /// A field inside a text that goes on over lines, or inside brackets.
    #[error(
        "this text cannot hold `: `: put it in quotes, or write `>-` behind the field's name and the text below"
    )]
    ColonInText,
    /// A part of YAML that is not read.
    #[error("{what} is not read here: if it is meant as text, put it in quotes")]
    NotRead {
        /// The part.
        what: &'static str,
    },
    /// A field given twice.
    #[error("the field `{key}` is here a second time (first in line {first}): keep one of them")]
    Twice {
        /// The field.
        key: String,
        /// Where it was first.
        first: u32,
    },
    /// Fields in fields in fields.
    #[error("this is nested deeper than {limit} levels: make it flatter")]
    TooDeep {
        /// How deep it may be.
        limit: u32,
    },
    /// More fields beside each other than anybody reads.
    #[error("there are more than {limit} fields beside each other: leave some out")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
    /// A field of another kind than its name asks for.
    #[error("the field `{key}` must be {wanted}")]
    WrongKind {
        /// The field.
        key: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// A field that must be there is not.
    #[error("the field `{key}` is missing: add a line `{key}: …`")]
    Missing {
        /// The field.
        key: &'static str,
    },
}

#[cfg(test)]
mod tests;
