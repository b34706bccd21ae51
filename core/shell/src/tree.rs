//! The syntax tree of a command line: everything that happens when it runs, and nothing else.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Commands one after the other, separated by `;` or line ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The lists, in order.
    pub lists: Vec<AndOr>,
}

/// Pipelines joined by `&&` and `||`, which have the same precedence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AndOr {
    /// The pipeline that always runs.
    pub first: Pipeline,
    /// Further pipelines, which run depending on the previous status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<(Junction, Pipeline)>,
}

/// The condition under which the next pipeline of a list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Junction {
    /// `&&`: the last status was 0.
    And,
    /// `||`: the last status was not 0.
    Or,
}

/// Commands whose outputs and inputs are connected. The status is that of the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Whether the status is negated (`!`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub negated: bool,
    /// Whether the time taken is written to standard error (the keyword `time` of bash).
    #[serde(default, skip_serializing_if = "is_false")]
    pub timed: bool,
    /// The commands; at least one.
    pub commands: Vec<Command>,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A simple command: a program or builtin with its words.
    Simple(Simple),
    /// A compound command.
    Compound {
        /// Its kind and contents.
        body: Compound,
        /// Redirections of the whole command.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        redirections: Vec<Redirection>,
    },
}

/// A compound command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compound {
    /// `{ …; }`
    Group(Script),
    /// `( … )`, with a directory and variables of its own.
    Subshell(Script),
    /// `for NAME in WORDS; do …; done`
    For {
        /// The variable.
        name: String,
        /// Its values, one after the other.
        words: Vec<Word>,
        /// The body.
        body: Script,
    },
    /// `if …; then …; elif …; then …; else …; fi`
    If {
        /// Conditions and the scripts that run if they are true, in order.
        arms: Vec<(Script, Script)>,
        /// The script that runs if no condition is true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Script>,
    },
    /// `while …; do …; done`, or `until`.
    While {
        /// Whether it runs until the condition is true, rather than while it is.
        #[serde(default, skip_serializing_if = "is_false")]
        until: bool,
        /// The condition.
        condition: Script,
        /// The body.
        body: Script,
    },
    /// `case WORD in PATTERN) …;; esac`
    Case {
        /// The word that is compared with the patterns; it is not split.
        word: Word,
        /// The choices; the first one with a matching pattern runs.
        choices: Vec<Choice>,
    },
}

/// `PATTERN | PATTERN) …;;`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Its patterns, made of [`Part::Literal`] and [`Part::Pattern`].
    pub patterns: Vec<Word>,
    /// The commands.
    #[serde(default)]
    pub body: Script,
}

/// A simple command: a program or builtin, or only assignments and redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simple {
    /// The line of the text, from 1, that bash names in its messages about it: that of its second word, or of its first if there
    /// is no other.
    pub line: u32,
    /// Variables set for it, or for the shell if there are no words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    /// The program and its arguments. The program is always literal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Word>,
    /// Its redirections, in the order in which they apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<Redirection>,
    /// The commands that its words make it run in addition to itself (`timeout 5 make`, `find -exec`, `bash -c`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Runs>,
}

/// Something that a command runs because of its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// A program and its arguments, as words of the command.
    Program {
        /// The index in [`Simple::words`] of the program's name, which is literal.
        at: u32,
        /// The index after its last argument.
        end: u32,
    },
    /// A command line, as one word of the command (`bash -c LINE`).
    Script {
        /// The index in [`Simple::words`] of the line, which is literal.
        at: u32,
        /// The parsed line.
        script: Script,
    },
}

/// `NAME=value`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value: one word, which is not split.
    pub value: Word,
}

/// A word of the text. It expands to none, one or many words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Word {
    /// Its parts, in order. A word with a [`Part::Literal`], even an empty one, or with a quoted part expands to at least one
    /// word.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Literal text, whatever its characters; quotes are removed. Empty only for `''` and `""`.
    Literal(String),
    /// A piece of a pattern: `*`, `?`, or a bracket expression with its brackets.
    Pattern(String),
    /// `~` at the beginning of a word: the home directory.
    Tilde,
    /// `$NAME`. If unquoted, it is split at blanks, and the pieces are patterns.
    Variable {
        /// The variable.
        name: String,
        /// Whether it is in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `${NAME…}` with an operation, whose words are literal.
    Operation {
        /// The variable.
        name: String,
        /// The operation on its value.
        operation: Operation,
        /// Whether it is in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `$?`
    Status,
    /// `$(…)`: the output of the commands, without trailing line ends.
    Substitution {
        /// The commands.
        script: Script,
        /// Whether it is in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `<(…)`, which is a whole word: the name of a file from which the program reads the output of the commands.
    Process {
        /// The commands.
        script: Script,
    },
}

/// An operation on the value of a variable (POSIX 2.6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `${#NAME}`: the number of characters.
    Length,
    /// `${NAME-TEXT}`, `${NAME:-TEXT}`: the text if the variable is unset, or with a colon unset or empty.
    Default {
        /// Whether an empty value counts as unset.
        or_empty: bool,
        /// The text.
        text: String,
    },
    /// `${NAME+TEXT}`, `${NAME:+TEXT}`: the text if the variable is set, or with a colon set and not empty; otherwise nothing.
    Alternative {
        /// Whether an empty value counts as unset.
        or_empty: bool,
        /// The text.
        text: String,
    },
    /// `${NAME#PATTERN}`, `${NAME##PATTERN}`: removes what the pattern matches at the beginning.
    RemovePrefix {
        /// Whether the longest match is removed, rather than the shortest.
        longest: bool,
        /// The pattern, made of [`Part::Literal`] and [`Part::Pattern`].
        pattern: Word,
    },
    /// `${NAME%PATTERN}`, `${NAME%%PATTERN}`: removes what the pattern matches at the end.
    RemoveSuffix {
        /// Whether the longest match is removed, rather than the shortest.
        longest: bool,
        /// The pattern, made of [`Part::Literal`] and [`Part::Pattern`].
        pattern: Word,
    },
}

/// A redirection of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirection {
    /// The line of the text, from 1, that bash names in its messages about it: that of the simple command, or that of the
    /// redirection.
    pub line: u32,
    /// The descriptor, 0 to 9.
    pub descriptor: u8,
    /// Its target.
    pub to: Target,
}

/// The target of a redirection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// `< FILE`
    Read(String),
    /// `> FILE`, `>| FILE`, `>> FILE`
    Write {
        /// The file.
        path: String,
        /// Whether it appends to the file.
        #[serde(default, skip_serializing_if = "is_false")]
        append: bool,
    },
    /// `>& N`, `<& N`: the current target of another descriptor.
    Duplicate(u8),
    /// `>&-`, `<&-`
    Close,
    /// The body of a here-document or here-string, including its last line end: one word, which is not split.
    Text(Word),
}

impl Word {
    /// A literal word.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            parts: alloc::vec![Part::Literal(text.into())],
        }
    }

    /// The text, if the word is literal.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// Whether a word is a one-letter option followed by an expansion (`-j$(nproc)`). The expansion must be a number: anything else
/// could be further options.
#[must_use]
pub fn takes_number(word: &Word) -> bool {
    let is_expansion = |part: &Part| {
        matches!(
            part,
            Part::Variable { .. }
                | Part::Operation { .. }
                | Part::Substitution { .. }
                | Part::Status
        )
    };
    match word.parts.as_slice() {
        [Part::Literal(option), value] => {
            let mut bytes = option.bytes();
            let is_letter =
                bytes.next() == Some(b'-') && bytes.next().is_some_and(|b| b.is_ascii_alphabetic());
            is_letter && bytes.next().is_none() && is_expansion(value)
        }
        _ => false,
    }
}

impl Simple {
    /// The program's name as written, if there is a program.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.as_literal()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the form that serde calls
fn is_false(value: &bool) -> bool {
    !value
}
