//! The line of a command, read once for all that is asked of it.

mod allow;
mod files;
mod git;
mod invocation;
mod made;
mod named;
mod named_files;
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

/// More files than anybody names; what is beyond counts as unknown.
const MOST_FILES: usize = 64;

/// The line of a command, read once: the files it names, what rules say of it, and what runs in its place.
#[derive(Debug, Clone)]
pub struct CommandLine {
    text: String,
    /// Where it begins.
    directory: String,
    /// The names of variables that commands before it have set.
    variables: Vec<String>,
    /// As it stands: how a line begins is known even when the rest cannot be followed.
    raw: Spelled,
    /// Its tree, if it was read.
    script: Option<Script>,
    /// Its commands: those of the tree, or those that it seems to run where it was not read.
    parts: Vec<Part>,
    /// The directories in which a command may run of which that is not known.
    bases: Vec<String>,
    /// What keeps its tree from being run in the place of its text, in words.
    obstacle: Option<String>,
    /// A shell that is given its text may run more than its commands.
    evaluates: bool,
}

/// The same text in the same directory is the same line.
impl PartialEq for CommandLine {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.directory == other.directory
            && self.variables == other.variables
    }
}

impl Eq for CommandLine {}

/// Bytes of the longest line whose words are looked at although it cannot be followed. A longer one is asked about.
const LONGEST_UNREAD: usize = 32 << 10;

/// What a line seems to run that is not read: where it cannot be followed at all, a program that nobody knows with all its words.
fn scanned(text: &str) -> Vec<SimpleCommand> {
    shell::scan(text).unwrap_or_else(|_| match text.len() > LONGEST_UNREAD {
        true => Vec::new(),
        false => alloc::vec![SimpleCommand::of_unread(text)],
    })
}

/// The folder of none of these commands is known once one of them changes it in a way that is not followed.
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
        // `command cd`, `env -C dir` and their like run elsewhere too.
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
    /// What its relative paths start from ([`base_of`]); none when it cannot be told.
    base: Option<String>,
    spelled: Spelled,
    files: Files,
    /// What its program makes beside the files that it is given ([`made_names`]).
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

/// How sure it is that a rule concerns a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    No,
    /// A word of the rule is computed in the line, or stands behind options.
    Perhaps,
    Yes,
}

impl CommandLine {
    /// Reads a line that begins in this directory.
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

    /// The same after commands that have set these variables.
    #[must_use]
    pub fn after(mut self, variables: Vec<String>) -> Self {
        self.variables = variables;
        self
    }

    /// Whether a variable that a command before it has set stands in it, or may.
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

    /// The directory in which it begins.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The files that it names, for the host to resolve before the line is judged: where redirections lead, where `cd` goes,
    /// and the operands of `mkdir`, `touch`, `rm`, `mv`, `cp` and of programs that only look. Paths are absolute, as far as
    /// that can be told without looking at any file.
    #[must_use]
    pub fn paths(&self) -> Vec<ResolvePath> {
        let mut paths: Vec<ResolvePath> = Vec::new();
        for used in self.parts.iter().flat_map(|part| part.files.all()) {
            let Some(path) = &used.path else { continue };
            let asked = ResolvePath {
                path: path.clone(),
                access: used.access,
                // Of names that a pattern gives, only those that it gives go along: they are looked through where it runs.
                carried: used.carried && !used.is_folder_of_it,
                closed: Vec::new(),
            };
            if paths.len() < MOST_FILES && !paths.contains(&asked) {
                paths.push(asked);
            }
        }
        paths
    }

    /// Whether it names more files than the host is asked about.
    pub(super) fn names_many_files(&self) -> bool {
        let files = self.parts.iter().flat_map(|part| part.files.all());
        files.filter(|used| used.path.is_some()).count() > MOST_FILES
    }

    /// Whether there may be more names of files in its words than are looked at.
    pub(super) fn has_too_many_names(&self) -> bool {
        let texts = self.parts.iter().flat_map(|part| {
            let command = &part.command;
            let directories = self.bases_of(part).len();
            let targets = command.redirections.iter().map(|it| &it.target);
            let words = command.words.iter().chain(targets);
            words.map(move |word| (word.text(), directories))
        });
        let makes_too_many = self.parts.iter().any(|part| part.made.is_none());
        // Nothing of it was looked at.
        let is_unseen = self.parts.is_empty() && self.text.len() > LONGEST_UNREAD;
        is_unseen || makes_too_many || have_too_many_names(texts)
    }

    /// Why its commands may not be all there are, in words; none if they are.
    pub(super) fn unread(&self) -> Option<&str> {
        match &self.obstacle {
            Some(why) if self.script.is_none() => Some(why),
            _ => (self.evaluates).then_some("a shell evaluates what a word of it becomes"),
        }
    }

    /// Why only its whole text can be approved, in words; none if its commands can be judged one by one.
    pub(super) fn obstacle(&self) -> Option<&str> {
        self.obstacle.as_deref()
    }

    /// Whether a search in it has a word that is expanded, which would be an action of it (`-exec`) where a shell runs the text.
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

    /// A file that the line writes of which the folder is not known, because a `cd` before it may fail.
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

    /// The commands of the line as texts, for people; wrappers are left out.
    pub(super) fn commands(&self) -> impl Iterator<Item = &SimpleCommand> {
        let parts = self.parts.iter().map(|part| &part.command);
        parts.filter(|command| !command.wraps && !command.words.is_empty())
    }

    /// Whether its commands are all there are, and each is one of these as it stands. What a wrapper runs is one; the wrapper is
    /// another.
    pub(super) fn are_all(&self, patterns: &[CommandPattern]) -> bool {
        let is_one = |part: &Part| {
            part.command.assignments.is_empty()
                && (patterns.iter()).any(|pattern| pattern.matches(&part.spelled))
        };
        let parts = &self.parts;
        self.obstacle.is_none() && !parts.is_empty() && parts.iter().all(is_one)
    }

    /// Whether a rule that denies or asks is about any command of the line.
    pub(super) fn concern(&self, pattern: &CommandPattern) -> Concern {
        let parts = self.parts.iter();
        let begins = !pattern.is_exact() && pattern.matches(&self.raw);
        if pattern.may_be_line(&self.text)
            || begins
            || parts
                .clone()
                .any(|part| pattern.matches_anywhere(&part.spelled))
        {
            Concern::Yes
        } else if parts
            .into_iter()
            .any(|part| pattern.may_hide_in(&part.command))
        {
            Concern::Perhaps
        } else {
            Concern::No
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
