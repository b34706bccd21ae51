//! A program that would be started, with its words in the form that rules use.

use alloc::{string::String, vec::Vec};

use crate::{Part, Word, names};

/// One program that would be started, or one builtin that would run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The names of variables assigned for this command, or for the shell if there are no words.
    pub assignments: Vec<String>,
    /// The program and its arguments. Empty for a bare assignment or redirection.
    pub words: Vec<CommandWord>,
    /// The files that its redirections open, other than `/dev/null`; redirections to descriptors are not included.
    pub redirections: Vec<FileRedirection>,
    /// Whether it only runs another command, which is listed too (`timeout`, `sh -c`).
    pub wraps: bool,
    /// The folder in which it runs.
    pub folder: Folder,
    /// Whether another program starts it: among other commands (`find -exec`), or as the line of a shell (`timeout 5 sh -c
    /// LINE`). Whoever starts that program cannot control it.
    pub by_others: bool,
}

/// A word of a command, its quotes removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandWord {
    pub(crate) text: String,
    pub(crate) quoted: bool,
    /// The length of the text before the first computed part; none if the whole word is literal.
    pub(crate) known: Option<usize>,
    pub(crate) names_in: Option<String>,
    /// Whether nothing in it is computed except `$?`.
    pub(crate) is_status: bool,
    /// It begins with the home directory: `~` or `$HOME`.
    pub(crate) is_home: bool,
    /// It begins with the working directory: `$PWD`.
    pub(crate) is_here: bool,
}

/// A file that a redirection opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRedirection {
    /// The direction of the data.
    pub direction: Direction,
    /// The file, relative to the folder in which the command runs.
    pub target: CommandWord,
}

/// The direction of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the file (`<`).
    In,
    /// Into the file (`>`, `>>`, `&>`, `<>`).
    Out,
}

/// The folder in which a command of a line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Folder {
    /// The folder in which the line starts.
    #[default]
    Start,
    /// The folder that these `cd` lead to one after the other, all of which succeeded.
    Entered(Vec<String>),
    /// Unknown: a `cd` may have failed, or its target is computed.
    Unknown,
}

impl SimpleCommand {
    /// The parts between blanks and operators of a line that cannot be parsed, as the words of an unknown program.
    #[must_use]
    pub fn of_unread(text: &str) -> Self {
        let marks = |c: char| c.is_whitespace() || "|&;<>(){}[]\"'`=,".contains(c);
        let words = text.split(marks).filter(|word| !word.is_empty());
        let unknown = core::iter::once(CommandWord::plain("?"));
        Self {
            words: unknown.chain(words.map(CommandWord::plain)).collect(),
            folder: Folder::Unknown,
            ..Self::default()
        }
    }

    /// Whether a redirection creates or writes a file.
    #[must_use]
    pub fn writes_file(&self) -> bool {
        let mut directions = self.redirections.iter().map(|r| r.direction);
        directions.any(|direction| direction == Direction::Out)
    }

    /// The program's name without its folder, if it is written out.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first().filter(|word| word.is_literal())?;
        Some(names::base_name(word.text()))
    }

    /// Whether the first words are these, all of them literal.
    #[must_use]
    pub fn begins_with<T: AsRef<str>>(&self, prefix: &[T]) -> bool {
        let pairs = self.words.iter().zip(prefix);
        self.words.len() >= prefix.len()
            && pairs
                .into_iter()
                .all(|(word, wanted)| word.is_literal() && word.text() == wanted.as_ref())
    }
}

impl CommandWord {
    /// A word that is unknown before the line runs.
    pub(crate) fn unknown() -> Self {
        Self {
            known: Some(0),
            ..Self::default()
        }
    }

    /// A literal word.
    pub(crate) fn plain(text: &str) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// The text; for a computed word only its literal parts.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the word is literal: no expansion, substitution or pattern.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.known.is_none()
    }

    /// Whether nothing in it is computed except the status of the previous command (`$?`).
    #[must_use]
    pub fn is_literal_beside_status(&self) -> bool {
        self.is_literal() || self.is_status
    }

    /// The rest after the home directory, if the word begins with it (`~`, `$HOME`).
    #[must_use]
    pub fn behind_home(&self) -> Option<&str> {
        let text = self.is_home.then_some(self.text())?;
        Some(text.strip_prefix('~').unwrap_or(text))
    }

    /// The rest after the working directory, if the word begins with it (`$PWD`).
    #[must_use]
    pub fn behind_here(&self) -> Option<&str> {
        self.is_here.then_some(self.text())
    }

    /// The folder whose entries it expands to, if the word is a pattern for names in one folder. The folder is literal and ends
    /// in `/`, or is empty. The pattern contains literal text, and matches no name that begins with a dot.
    #[must_use]
    pub fn names_in(&self) -> Option<&str> {
        self.names_in.as_deref()
    }

    /// Marks the following part as computed.
    pub(crate) fn compute(&mut self) {
        self.known.get_or_insert(self.text.len());
    }

    /// The text before the first computed part; the whole text if there is none.
    pub(crate) fn known(&self) -> &str {
        let end = self.known.unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// Whether any part was quoted: such a word is never a keyword.
    pub(crate) fn is_quoted(&self) -> bool {
        self.quoted
    }
}

impl From<&Word> for CommandWord {
    fn from(word: &Word) -> Self {
        if let Some(text) = word.as_literal() {
            return Self::plain(text);
        }
        let mut flat = Self::default();
        for part in &word.parts {
            match part {
                Part::Literal(text) => flat.text.push_str(text),
                Part::Pattern(text) => {
                    flat.compute();
                    flat.text.push_str(text);
                }
                Part::Tilde => {
                    flat.compute();
                    flat.text.push('~');
                }
                Part::Variable { .. }
                | Part::Operation { .. }
                | Part::Status
                | Part::Substitution { .. }
                | Part::Process { .. } => flat.compute(),
            }
        }
        flat.names_in = names_in(word);
        let is_status = |part: &Part| matches!(part, Part::Literal(_) | Part::Status);
        flat.is_status = word.parts.iter().all(is_status);
        flat.is_here =
            matches!(word.parts.first(), Some(Part::Variable { name, .. }) if name == "PWD");
        flat.is_home = match word.parts.first() {
            Some(Part::Tilde) => true,
            Some(Part::Variable { name, .. }) => name == "HOME",
            _ => false,
        };
        flat
    }
}

fn names_in(word: &Word) -> Option<String> {
    let is_name = |part: &Part| match part {
        Part::Literal(text) => !text.contains('/'),
        Part::Pattern(_) => true,
        _ => false,
    };
    let (folder, names) = match word.parts.as_slice() {
        [Part::Literal(first), names @ ..] => match first.rfind('/') {
            Some(end) => {
                let (folder, name) = first.split_at(end + 1);
                if name.starts_with('.') {
                    return None;
                }
                (folder, names)
            }
            None if first.starts_with(['.', '-']) => return None,
            None => ("", word.parts.as_slice()),
        },
        names => ("", names),
    };
    let has_pattern = names.iter().any(|part| matches!(part, Part::Pattern(_)));
    let has_text = word.parts.iter().any(|part| match part {
        Part::Literal(text) => !text.ends_with('/'),
        _ => false,
    });
    (has_pattern && has_text && names.iter().all(is_name)).then(|| folder.into())
}
