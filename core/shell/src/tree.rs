//! The tree of a command line: everything that will happen when it runs, and nothing else.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

/// Commands one after the other, as between `;` and line ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The lists, in their order.
    pub lists: Vec<AndOr>,
}

/// Pipelines joined by `&&` and `||`, which have the same precedence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AndOr {
    /// The pipeline that always runs.
    pub first: Pipeline,
    /// Those that depend on the status of what ran before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<(Junction, Pipeline)>,
}

/// What decides whether the next pipeline of a list runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Junction {
    /// `&&`: the last status was 0.
    And,
    /// `||`: the last status was not 0.
    Or,
}

/// Commands whose outputs and inputs are connected; the status is that of the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The status is turned round (`!`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub negated: bool,
    /// How long it took is written to standard error (the keyword `time` of bash).
    #[serde(default, skip_serializing_if = "is_false")]
    pub timed: bool,
    /// At least one.
    pub commands: Vec<Command>,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A program or a builtin with its words.
    Simple(Simple),
    /// Commands inside brackets or keywords.
    Compound {
        /// What they are.
        body: Compound,
        /// Redirections of all of them.
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
    /// `( … )`: directory and variables are its own.
    Subshell(Script),
    /// `for NAME in WORDS; do …; done`
    For {
        /// The variable.
        name: String,
        /// What it is set to, one after the other.
        words: Vec<Word>,
        /// The commands.
        body: Script,
    },
    /// `if …; then …; elif …; then …; else …; fi`
    If {
        /// Conditions with what runs if they hold, in their order.
        arms: Vec<(Script, Script)>,
        /// What runs if none holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<Script>,
    },
    /// `while …; do …; done`, or `until`.
    While {
        /// It goes on until the condition holds, instead of as long as it does.
        #[serde(default, skip_serializing_if = "is_false")]
        until: bool,
        /// The condition.
        condition: Script,
        /// The commands.
        body: Script,
    },
    /// `case WORD in PATTERN) …;; esac`
    Case {
        /// What is held against the patterns: one word, which is not split.
        word: Word,
        /// Of these the first runs that has a pattern which matches.
        choices: Vec<Choice>,
    },
}

/// `PATTERN | PATTERN) …;;`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// [`Part::Literal`] and [`Part::Pattern`].
    pub patterns: Vec<Word>,
    /// The commands.
    #[serde(default)]
    pub body: Script,
}

/// A simple command: a program or builtin, or only assignments and redirections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simple {
    /// The line of the text, from 1, that bash names in its messages about it: that of its second word, or of its first
    /// where no other follows.
    pub line: u32,
    /// Variables set for it, or for the shell when there are no words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<Assignment>,
    /// The program and its arguments. The program is always literal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Word>,
    /// Its redirections, in the order in which they apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<Redirection>,
    /// What its words make it run beside itself (`timeout 5 make`, `find -exec`, `bash -c`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Runs>,
}

/// Something that a command runs because its words say so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// A program and its arguments, as words of the command.
    Program {
        /// The index in [`Simple::words`] of the program's name, which is literal.
        at: u32,
        /// The index behind its last argument.
        end: u32,
    },
    /// A command line, as one word of the command (`bash -c LINE`).
    Script {
        /// The index in [`Simple::words`] of the line, which is literal.
        at: u32,
        /// The line, read.
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

/// Something that becomes words: none, one or many, as its parts are expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Word {
    /// Its parts, in their order. A word that has a [`Part::Literal`], even an empty one, or a quoted part becomes at least one word.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text that stands for itself, whatever its characters; quotes are gone. Empty only for `''` and `""`.
    Literal(String),
    /// A piece of a pattern: `*`, `?`, or a bracket expression with its brackets.
    Pattern(String),
    /// `~` at the beginning of a word: the home directory.
    Tilde,
    /// `$NAME`. What is not quoted is split at blanks, and the pieces are patterns.
    Variable {
        /// The variable.
        name: String,
        /// It stands in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `${NAME…}` with an operation, whose words are written out.
    Operation {
        /// The variable.
        name: String,
        /// What is made of its value.
        operation: Operation,
        /// It stands in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `$?`
    Status,
    /// `$(…)`: what the commands write, without the line ends behind it.
    Substitution {
        /// The commands.
        script: Script,
        /// It stands in double quotes.
        #[serde(default, skip_serializing_if = "is_false")]
        quoted: bool,
    },
    /// `<(…)`, which is a whole word: the name of a file in which the program finds what the commands write.
    Process {
        /// The commands.
        script: Script,
    },
}

/// What is made of the value of a variable (POSIX 2.6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `${#NAME}`: the number of characters.
    Length,
    /// `${NAME-TEXT}`, `${NAME:-TEXT}`: the text if it is not set, or with a colon not set or empty.
    Default {
        /// An empty value counts as none.
        or_empty: bool,
        /// What stands for it.
        text: String,
    },
    /// `${NAME+TEXT}`, `${NAME:+TEXT}`: the text if it is set, or with a colon set and not empty, else nothing.
    Alternative {
        /// An empty value counts as none.
        or_empty: bool,
        /// What stands for it.
        text: String,
    },
    /// `${NAME#PATTERN}`, `${NAME##PATTERN}`: without what the pattern matches at the beginning.
    RemovePrefix {
        /// As much as the pattern can match, instead of as little.
        longest: bool,
        /// [`Part::Literal`] and [`Part::Pattern`].
        pattern: Word,
    },
    /// `${NAME%PATTERN}`, `${NAME%%PATTERN}`: without what the pattern matches at the end.
    RemoveSuffix {
        /// As much as the pattern can match, instead of as little.
        longest: bool,
        /// [`Part::Literal`] and [`Part::Pattern`].
        pattern: Word,
    },
}

/// A redirection of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirection {
    /// The line of the text, from 1, that bash names in its messages about it: that of the simple command, or the one on which it
    /// stands.
    pub line: u32,
    /// The descriptor, 0 to 9.
    pub descriptor: u8,
    /// Where it leads.
    pub to: Target,
}

/// Where a redirection leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// `< FILE`
    Read(String),
    /// `> FILE`, `>| FILE`, `>> FILE`
    Write {
        /// The file.
        path: String,
        /// It is written behind what it holds.
        #[serde(default, skip_serializing_if = "is_false")]
        append: bool,
    },
    /// `>& N`, `<& N`: to where another descriptor leads at this moment.
    Duplicate(u8),
    /// `>&-`, `<&-`
    Close,
    /// The body of a here-document or here-string, its last line end included: one word, which is not split.
    Text(Word),
}

impl Word {
    /// A word that stands for itself.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            parts: alloc::vec![Part::Literal(text.into())],
        }
    }

    /// The text, if that is all there is.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// Whether a word is an option of one letter with an expansion behind it (`-j$(nproc)`). What that gives must be a number: anything else
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
    /// The program's name as it is written, if there is a program.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.as_literal()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the form that serde calls
fn is_false(value: &bool) -> bool {
    !value
}
