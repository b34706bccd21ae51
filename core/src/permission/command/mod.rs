//! Command lines, parsed once for all checks.

mod allow;
mod files;
mod git;
mod invocation;
mod made;
mod named;
mod named_files;
mod options;
mod pattern;
mod plan;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use windlass_shell::{self as shell, CommandWord, Direction, Folder, Script, SimpleCommand};

pub(super) use self::pattern::escape;
use self::{
    files::{Files, base_of, files_of},
    named::have_too_many_names,
    named_files::bases,
    pattern::Spelled,
};
pub use self::{
    invocation::Invocation,
    made::made_names,
    named::{Argument, RefusedFile, may_be_refused, refused_file},
    pattern::CommandPattern,
};
use crate::permission::ResolvePath;

/// More files than a person would name; files beyond this count as unknown.
const MOST_FILES: usize = 64;

/// A command line, parsed once: the files it names, how rules apply to it, and what runs instead of it.
#[derive(Debug, Clone)]
pub struct CommandLine {
    text: String,
    /// The directory in which it starts.
    directory: String,
    /// The names of variables that earlier commands have set.
    variables: Vec<String>,
    /// The text of the line: its beginning is known even if the rest cannot be parsed.
    raw: Spelled,
    /// Its syntax tree, if it could be parsed.
    script: Option<Script>,
    /// Its commands: those of the tree, or those that it appears to run if it could not be parsed.
    parts: Vec<Part>,
    /// The directories in which commands with an unknown directory may run.
    bases: Vec<String>,
    /// Why its tree cannot run in place of its text, if so.
    obstacle: Option<String>,
    /// Whether a shell evaluates its text, so that more than its commands may run.
    evaluates: bool,
}

/// Lines with the same text and directory are equal.
impl PartialEq for CommandLine {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.directory == other.directory
            && self.variables == other.variables
    }
}

impl Eq for CommandLine {}

/// The longest line in bytes whose words are examined although it cannot be parsed. A longer one needs permission.
const LONGEST_UNREAD: usize = 32 << 10;

/// What a line that cannot be parsed appears to run; if not even that can be told, an unknown program with all the words.
fn scanned(text: &str) -> Vec<SimpleCommand> {
    shell::scan(text).unwrap_or_else(|_| match text.len() > LONGEST_UNREAD {
        true => Vec::new(),
        false => alloc::vec![SimpleCommand::of_unread(text)],
    })
}

/// Marks the directory of all commands as unknown if one of them changes it in a way that is not tracked.
fn without_folders_where_moved(
    mut commands: Vec<SimpleCommand>,
    is_read: bool,
) -> Vec<SimpleCommand> {
    let moves = |command: &SimpleCommand| match command.program() {
        Some("pushd" | "popd") => true,
        Some("cd") => {
            !is_read
                || command
                    .words
                    .iter()
                    .skip(1)
                    .any(|it| it.text().starts_with('-'))
        }
        // `command cd`, `env -C dir` and similar commands change the directory too.
        _ => {
            command.wraps
                && (command.words.iter()).any(|it| {
                    it.text() == "cd"
                        || it.text().starts_with("-C")
                        || it.text().starts_with("--chdir")
                })
        }
    };
    if commands.iter().any(moves) {
        for command in &mut commands {
            command.folder = Folder::Unknown;
        }
    }
    commands
}

/// One command of a line.
#[derive(Debug, Clone)]
struct Part {
    command: SimpleCommand,
    /// The directory from which its relative paths start ([`base_of`]); none if unknown.
    base: Option<String>,
    spelled: Spelled,
    files: Files,
    /// The files that its program creates in addition to those it is given ([`made_names`]).
    made: Option<Vec<String>>,
}

impl Part {
    fn of(command: SimpleCommand, directory: &str) -> Self {
        let words = command.words.iter().skip(1);
        let arguments: Vec<&str> = words.map(CommandWord::text).collect();
        let base = base_of(&command.folder, directory);
        Self {
            spelled: Spelled::of(&command),
            files: files_of(&command, base.as_deref()),
            base,
            made: made_names(command.program().unwrap_or_default(), &arguments),
            command,
        }
    }
}

/// How certainly a rule applies to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleMatch {
    No,
    /// A word of the rule is computed in the line, or comes after options.
    Perhaps,
    Yes,
}

impl CommandLine {
    /// Parses a line that starts in this directory.
    #[must_use]
    pub fn read(text: impl Into<String>, directory: &str) -> Self {
        let text = text.into();
        let (script, commands, obstacle, evaluates) = match shell::read(&text) {
            Ok(line) => {
                let empty = line
                    .commands
                    .is_empty()
                    .then(|| "it holds no command".to_string());
                let used = line.obstacle.map(|what| format!("it uses {what}"));
                let obstacle = used.or(empty);
                (Some(line.script), line.commands, obstacle, line.evaluates)
            }
            Err(why) => (None, scanned(&text), Some(why.to_string()), false),
        };
        let commands = without_folders_where_moved(commands, script.is_some());
        Self {
            raw: Spelled::of_text(&text),
            bases: bases(&commands, directory),
            parts: (commands.into_iter())
                .map(|command| Part::of(command, directory))
                .collect(),
            directory: directory.to_string(),
            variables: Vec::new(),
            script,
            obstacle,
            evaluates,
            text,
        }
    }

    /// The same line after commands that have set these variables.
    #[must_use]
    pub fn after(mut self, variables: Vec<String>) -> Self {
        self.variables = variables;
        self
    }

    /// Whether it uses, or may use, a variable that an earlier command has set.
    fn is_changed_by_variables(&self) -> bool {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut names = self.text.split(|c| !is_part(c));
        names.any(|name| self.variables.iter().any(|variable| variable == name))
    }

    /// The line as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The directory in which it starts.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The files that it names, for the host to resolve before the line is judged: redirections, targets of `cd`, and the
    /// operands of `mkdir`, `touch`, `rm`, `mv`, `cp` and of programs that only read. Paths are absolute as far as possible
    /// without accessing any file.
    #[must_use]
    pub fn paths(&self) -> Vec<ResolvePath> {
        let mut paths: Vec<ResolvePath> = Vec::new();
        for used in self.parts.iter().flat_map(|part| part.files.all()) {
            let Some(path) = &used.path else { continue };
            let asked = ResolvePath {
                path: path.clone(),
                access: used.access,
                // Of names produced by a pattern only those are affected: they are checked when the plan runs.
                carried: used.carried && !used.is_folder_of_it,
                closed: Vec::new(),
            };
            if paths.len() < MOST_FILES && !paths.contains(&asked) {
                paths.push(asked);
            }
        }
        paths
    }

    /// Whether it names more files than the host is asked to resolve.
    pub(super) fn names_many_files(&self) -> bool {
        let files = self.parts.iter().flat_map(|part| part.files.all());
        files.filter(|used| used.path.is_some()).count() > MOST_FILES
    }

    /// Whether its words may contain more file names than are checked.
    pub(super) fn has_too_many_names(&self) -> bool {
        let texts = self.parts.iter().flat_map(|part| {
            let command = &part.command;
            let directories = self.bases_of(part).len();
            let targets = command.redirections.iter().map(|it| &it.target);
            let words = command.words.iter().chain(targets);
            words.map(move |word| (word.text(), directories))
        });
        let makes_too_many = self.parts.iter().any(|part| part.made.is_none());
        // Nothing of it was examined.
        let is_unseen = self.parts.is_empty() && self.text.len() > LONGEST_UNREAD;
        is_unseen || makes_too_many || have_too_many_names(texts)
    }

    /// Why its commands may be incomplete; none if they are complete.
    pub(super) fn unread(&self) -> Option<&str> {
        match &self.obstacle {
            Some(why) if self.script.is_none() => Some(why),
            _ => (self.evaluates).then_some("a shell evaluates what a word of it becomes"),
        }
    }

    /// Why only its whole text can be approved; none if its commands can be judged one by one.
    pub(super) fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    /// Whether a search in it has an expanded word, which could be an action (`-exec`) if a shell runs the text.
    pub(super) fn searches_by_what_is_expanded(&self) -> bool {
        self.parts.iter().any(|part| {
            let command = &part.command;
            command.program().is_some_and(shell::is_search)
                && !command.words.iter().all(CommandWord::is_literal)
        })
    }

    /// A variable that it sets for one of its commands (`env NAME=value make`).
    pub(super) fn variable_of_a_command(&self) -> Option<&str> {
        let mut commands = self.parts.iter().map(|part| &part.command);
        let command = commands
            .find(|command| !command.assignments.is_empty() && !command.words.is_empty())?;
        command.assignments.first().map(String::as_str)
    }

    /// A file written by the line whose folder is unknown, because a `cd` before it may fail.
    pub(super) fn file_of_unknown_folder(&self) -> Option<&str> {
        let unknown = (self.parts.iter()).filter(|part| part.command.folder == Folder::Unknown);
        let mut targets = unknown.flat_map(|part| &part.command.redirections);
        let target = targets.find(|it| {
            it.direction == Direction::Out
                && it.target.is_literal()
                && !it.target.text().starts_with('/')
        })?;
        Some(target.target.text())
    }

    /// The commands of the line for display, without wrappers.
    pub(super) fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        let parts = self.parts.iter().map(|part| &part.command);
        parts.filter(|command| !command.wraps && !command.words.is_empty())
    }

    /// Whether its commands are complete and each of them matches one of these patterns. A wrapper and the command it runs both
    /// have to match.
    pub(super) fn are_all(&self, patterns: &[CommandPattern]) -> bool {
        let is_one = |part: &Part| {
            part.command.assignments.is_empty()
                && (patterns.iter()).any(|pattern| pattern.matches(&part.spelled))
        };
        let parts = &self.parts;
        self.obstacle.is_none() && !parts.is_empty() && parts.iter().all(is_one)
    }

    /// Whether a deny or ask rule applies to any command of the line.
    pub(super) fn rule_match(&self, pattern: &CommandPattern) -> RuleMatch {
        let parts = self.parts.iter();
        let begins = !pattern.is_exact() && pattern.matches(&self.raw);
        if pattern.may_be_line(&self.text)
            || begins
            || parts
                .clone()
                .any(|part| pattern.matches_anywhere(&part.spelled))
        {
            RuleMatch::Yes
        } else if parts
            .into_iter()
            .any(|part| pattern.may_hide_in(&part.command))
        {
            RuleMatch::Perhaps
        } else {
            RuleMatch::No
        }
    }
}

/// A command's words as a person would write them, for suggestions.
pub(super) fn plain_words(command: &SimpleCommand) -> Option<Vec<String>> {
    let plain = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_./:=@+,".contains(&b))
    };
    command
        .words
        .iter()
        .map(|word| (word.is_literal() && plain(word.text())).then(|| word.text().to_string()))
        .collect()
}
