//! The line of a command, read once for all that is asked of it.

mod allow;
mod files;
mod invocation;
mod named;
mod pattern;
mod plan;

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};

use windlass_shell::{
    self as shell, CommandWord, Direction, Folder, Script, SimpleCommand, Unparsed,
};

pub(super) use self::pattern::escape;
use self::{
    files::{Files, base_of, files_of, leaves_files_alone},
    invocation::may_change,
    named::have_too_many_names,
    pattern::Spelled,
};
pub use self::{
    invocation::{Invocation, made_names},
    named::{Argument, RefusedFile, may_be_refused, refused_file},
    pattern::CommandPattern,
};
use super::{Rule, Specifier, Standing, authority, glob, path_pattern, path_pattern::lexical};
use crate::effect::ResolvePath;

/// More files than anybody names; what is beyond counts as unknown.
const MOST_FILES: usize = 64;

/// More directories than a line enters; what is beyond is seen where it runs.
const MOST_BASES: usize = 64;

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

/// What a line seems to run that is not read. The folder of none of its commands is known once it changes.
fn scanned(text: &str) -> Result<Vec<SimpleCommand>, Unparsed> {
    let mut commands = shell::scan(text)?;
    let moves = |command: &SimpleCommand| {
        let plain = matches!(command.program(), Some("cd" | "pushd" | "popd"));
        // `env -C dir` and its like run elsewhere too.
        plain || command.wraps && command.words.iter().any(|w| w.text().starts_with("-C"))
    };
    if commands.iter().any(moves) {
        for command in &mut commands {
            command.folder = Folder::Unknown;
        }
    }
    Ok(commands)
}

/// One command of a line.
#[derive(Debug, Clone)]
struct Part {
    command: SimpleCommand,
    spelled: Spelled,
    files: Files,
}

impl Part {
    fn of(command: SimpleCommand, directory: &str) -> Self {
        Self {
            spelled: Spelled::of(&command),
            files: files_of(&command, directory),
            command,
        }
    }
}

/// Why a command names a file.
enum Role<'a> {
    /// By an argument.
    Argument(Argument<'a>),
    /// A redirection opens it.
    Target(Direction),
    /// Its program makes it beside those that it is given.
    Made,
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
            Err(why) => {
                let seen = scanned(&text).unwrap_or_default();
                (None, seen, Some(why.to_string()), false)
            }
        };
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
                carried: used.carried,
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
            let directories = match base_of(&command.folder, &self.directory) {
                Some(_) => 1,
                None => self.bases.len(),
            };
            let targets = command.redirections.iter().map(|it| &it.target);
            let words = command.words.iter().chain(targets);
            words.map(move |word| (word.text(), directories))
        });
        let makes_too_many = |part: &Part| {
            let words = part.command.words.iter().skip(1);
            let arguments: Vec<&str> = words.map(CommandWord::text).collect();
            made_names(part.command.program().unwrap_or_default(), &arguments).is_none()
        };
        have_too_many_names(texts) || self.parts.iter().any(makes_too_many)
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

    /// The deny rule that closes a file which a word of the line names, as far as the words show it. What the
    /// host has resolved is judged as a path; this is for all the other words.
    pub(super) fn names_closed_file<'r>(&self, standing: &'r Standing<'_>) -> Option<&'r Rule> {
        let closing = |rule: &'r Rule| match &rule.specifier {
            Specifier::Path(pattern) => {
                Some((rule, path_pattern::absolute(rule, pattern, standing)))
            }
            _ => None,
        };
        let closing: Vec<(&Rule, Vec<String>)> =
            standing.deny_rules().filter_map(closing).collect();
        if closing.is_empty() {
            return None;
        }
        self.parts.iter().find_map(|part| {
            let leaves_alone = leaves_files_alone(part.command.program().unwrap_or_default());
            self.find_named(
                &part.command,
                standing,
                |_| true,
                |path, role| {
                    let is_written = matches!(role, Role::Target(Direction::Out));
                    let mut closing = closing.iter();
                    let found = closing.find(|(rule, patterns)| {
                        !(rule.is_edit() && leaves_alone && !is_written)
                            && patterns.iter().any(|pattern| glob::covers(pattern, path))
                    });
                    found.map(|(rule, _)| *rule)
                },
            )
        })
    }

    /// A place that becomes authority and that a command names which may change it, as far as its words show it.
    pub(super) fn names_authority(&self, standing: &Standing<'_>) -> Option<String> {
        self.parts.iter().find_map(|part| {
            let program = part.command.program().unwrap_or_default();
            let changes = |role: &Role<'_>| match role {
                Role::Argument(argument) => may_change(program, argument),
                Role::Target(direction) => *direction == Direction::Out,
                Role::Made => true,
            };
            let is_place = |path: &str| authority::is_place(path, standing.environment);
            let lands = may_change(program, &Argument::default());
            let mut landing = part.files.landing.iter().filter(|_| lands);
            let named = self.find_named(&part.command, standing, changes, |path, _| {
                is_place(path).then(|| path.to_string())
            });
            named.or_else(|| landing.find(|path| is_place(path)).cloned())
        })
    }

    /// One of these files and folders, or what lies in them, that a word of the line names, as far as the words show it.
    pub(super) fn names_any_of(
        &self,
        places: &[String],
        standing: &Standing<'_>,
    ) -> Option<String> {
        self.parts.iter().find_map(|part| {
            self.find_named(
                &part.command,
                standing,
                |_| true,
                |path, _| authority::lies_in(path, places).then(|| path.to_string()),
            )
        })
    }

    /// Looks at the paths that those words of a command may mean which count, and at those that its program makes beside them. Of a
    /// word that is computed what is written in it, as if the rest was nothing: that shows the names of places wherever they are.
    fn find_named<R>(
        &self,
        command: &SimpleCommand,
        standing: &Standing<'_>,
        counts: impl Fn(&Role<'_>) -> bool,
        mut found: impl FnMut(&str, &Role<'_>) -> Option<R>,
    ) -> Option<R> {
        let program = command.program().unwrap_or_default();
        let words = command.words.get(1..).unwrap_or_default();
        let arguments: Vec<&str> = words.iter().map(CommandWord::text).collect();
        let invocation = Invocation::of(program, &arguments);
        let home = standing.environment.home.as_deref();
        let bases: Vec<String> = (self.bases(&command.folder).into_iter())
            .map(|base| from_home(&base, home).unwrap_or(base))
            .collect();
        let mut look = |text: &str, role: &Role<'_>| {
            let argument = Argument {
                text,
                ..Argument::default()
            };
            argument
                .names()
                .find_map(|name| match from_home(name, home) {
                    Some(path) => found(&lexical("/", &path), role),
                    None => (bases.iter()).find_map(|base| found(&lexical(base, name), role)),
                })
        };
        let of_words = command.words.windows(2).enumerate().find_map(|(at, pair)| {
            let role = Role::Argument(Argument {
                text: pair[1].text(),
                before: Some(pair[0].text()),
                at,
                invocation,
            });
            counts(&role).then(|| look(&beginning_at_home(&pair[1]), &role))?
        });
        if of_words.is_some() {
            return of_words;
        }
        let of_targets = command.redirections.iter().find_map(|redirection| {
            let role = Role::Target(redirection.direction);
            counts(&role).then(|| look(&beginning_at_home(&redirection.target), &role))?
        });
        if of_targets.is_some() {
            return of_targets;
        }
        // Where they are too many the line is asked about.
        let made = made_names(program, &arguments).unwrap_or_default();
        made.iter().find_map(|name| look(name, &Role::Made))
    }

    /// The directories in which a command may run: where it is not known, those that the line may have led to.
    fn bases(&self, folder: &Folder) -> Vec<String> {
        if let Some(base) = base_of(folder, &self.directory) {
            return alloc::vec![base];
        }
        self.bases.clone()
    }
}

/// A word, with `~` in the place of the home directory if it begins with that.
fn beginning_at_home(word: &CommandWord) -> Cow<'_, str> {
    match word.behind_home() {
        Some(rest) => Cow::Owned(["~", rest].concat()),
        None => Cow::Borrowed(word.text()),
    }
}

/// A path that begins in the home directory.
fn from_home(path: &str, home: Option<&str>) -> Option<String> {
    let rest = path.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| [home.unwrap_or("/~"), rest].concat())
}

/// Where the commands of a line may run, as far as its words show it, once it is not known which of its `cd` succeeded.
fn bases(commands: &[SimpleCommand], directory: &str) -> Vec<String> {
    let mut bases = alloc::vec![directory.to_string()];
    if !commands.iter().any(|it| it.folder == Folder::Unknown) {
        return bases;
    }
    let entered =
        commands.iter().filter_map(
            |command| match (command.program(), command.words.as_slice()) {
                (Some("cd" | "pushd"), [_]) => Some(Cow::Borrowed("~")),
                (Some("cd" | "pushd"), [_, folder]) => Some(beginning_at_home(folder)),
                _ => None,
            },
        );
    for folder in entered {
        for at in 0..bases.len() {
            if bases.len() == MOST_BASES {
                return bases;
            }
            let base = match (folder.starts_with(['~', '/']), bases[at].starts_with('~')) {
                (true, _) => folder.to_string(),
                (false, true) => [&bases[at], "/", &folder].concat(),
                (false, false) => lexical(&bases[at], &folder),
            };
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
    }
    bases
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
