//! The files named by the words of a line, as far as known before it runs.

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};

use windlass_shell::{CommandWord, Direction, Folder, SimpleCommand};

use super::{
    CommandLine, Part,
    files::leaves_files_alone,
    invocation::Invocation,
    named::{Argument, may_change},
};
use crate::permission::{PolicyContext, Rule, glob, path::lexical, path_pattern, protected_place};

/// More directories than a line enters; others are checked when the plan runs.
const MOST_BASES: usize = 64;

/// How a command refers to a file.
enum Role<'a> {
    /// By an argument.
    Argument(Argument<'a>),
    /// A redirection opens it.
    Target(Direction),
    /// Its program creates it in addition to the given files.
    Made,
}

impl CommandLine {
    /// The deny rule for a file that a word of the line names, as far as the words show it. Paths that the host has resolved are
    /// judged separately; this is for all other words.
    pub(in crate::permission) fn names_closed_file<'r>(
        &self,
        policy: &'r PolicyContext<'_>,
    ) -> Option<&'r Rule> {
        let closing = |rule: &'r Rule| {
            let pattern = rule.file_pattern()?;
            Some((rule, path_pattern::absolute(rule, pattern, policy)))
        };
        let closing: Vec<(&Rule, Vec<String>)> = policy.deny_rules().filter_map(closing).collect();
        if closing.is_empty() {
            return None;
        }
        self.parts.iter().find_map(|part| {
            let leaves_alone = leaves_files_alone(part.command.program().unwrap_or_default());
            self.find_named(
                part,
                policy,
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

    /// A protected place that is named by a command which may change it, as far as its words show it.
    pub(in crate::permission) fn names_authority(
        &self,
        policy: &PolicyContext<'_>,
    ) -> Option<String> {
        self.parts.iter().find_map(|part| {
            let program = part.command.program().unwrap_or_default();
            let changes = |role: &Role<'_>| match role {
                Role::Argument(argument) => may_change(program, argument),
                Role::Target(direction) => *direction == Direction::Out,
                Role::Made => true,
            };
            let is_place = |path: &str| protected_place::is_place(path, policy.environment);
            let lands = may_change(program, &Argument::default());
            let mut landing = part.files.landing.iter().filter(|_| lands);
            let named = self.find_named(part, policy, changes, |path, _| {
                is_place(path).then(|| path.to_string())
            });
            named.or_else(|| landing.find(|path| is_place(path)).cloned())
        })
    }

    /// One of these files and folders, or a path below one, that a word of the line names, as far as the words show it.
    pub(in crate::permission) fn names_any_of(
        &self,
        places: &[String],
        policy: &PolicyContext<'_>,
    ) -> Option<String> {
        self.parts.iter().find_map(|part| {
            self.find_named(
                part,
                policy,
                |_| true,
                |path, _| protected_place::lies_in(path, places).then(|| path.to_string()),
            )
        })
    }

    /// Examines the paths that the selected words of a command may mean, and the files that its program creates. For a computed
    /// word, only its literal text is used, as if the rest were empty; this finds protected names in any folder.
    fn find_named<R>(
        &self,
        part: &Part,
        policy: &PolicyContext<'_>,
        counts: impl Fn(&Role<'_>) -> bool,
        mut found: impl FnMut(&str, &Role<'_>) -> Option<R>,
    ) -> Option<R> {
        let command = &part.command;
        let program = command.program().unwrap_or_default();
        let words = command.words.get(1..).unwrap_or_default();
        let arguments: Vec<&str> = words.iter().map(CommandWord::text).collect();
        let invocation = Invocation::of(program, &arguments);
        let home = policy.environment.home.as_deref();
        let bases: Vec<Cow<'_, str>> = (self.bases_of(part).iter())
            .map(|base| from_home(base, home).map_or(Cow::Borrowed(base.as_str()), Cow::Owned))
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
        // If there are too many, the line needs permission.
        let mut made = part.made.iter().flatten();
        made.find_map(|name| look(name, &Role::Made))
    }

    /// The directories in which a command may run; if unknown, all that the line may have entered.
    pub(super) fn bases_of<'a>(&'a self, part: &'a Part) -> &'a [String] {
        match &part.base {
            Some(base) => core::slice::from_ref(base),
            None => &self.bases,
        }
    }
}

/// A word, with `~` in place of the home directory at its beginning.
fn beginning_at_home(word: &CommandWord) -> Cow<'_, str> {
    match (word.behind_home(), word.behind_here()) {
        (Some(rest), _) => Cow::Owned(["~", rest].concat()),
        (None, Some(rest)) => Cow::Owned([".", rest].concat()),
        (None, None) => Cow::Borrowed(word.text()),
    }
}

/// A path that begins in the home directory.
fn from_home(path: &str, home: Option<&str>) -> Option<String> {
    let rest = path.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| [home.unwrap_or("/~"), rest].concat())
}

/// The folders that a command enters, or in which it runs another program.
fn entered_by(command: &SimpleCommand) -> Vec<Cow<'_, str>> {
    let words = &command.words;
    let mut entered = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = word.text();
        let attached = text
            .strip_prefix("--chdir=")
            .or_else(|| text.strip_prefix("-C"));
        if matches!(text, "cd" | "pushd") && (at == 0 || command.wraps) {
            let operand = words[at + 1..]
                .iter()
                .find(|it| !it.text().starts_with('-'));
            entered.push(operand.map_or(Cow::Borrowed("~"), beginning_at_home));
        } else if command.wraps && matches!(text, "-C" | "--chdir") {
            entered.extend(words.get(at + 1).map(beginning_at_home));
        } else if command.wraps {
            entered.extend(attached.filter(|it| !it.is_empty()).map(Cow::Borrowed));
        }
    }
    entered
}

/// The directories in which the commands of a line may run, as far as its words show it, when it is unknown which `cd` succeeds.
pub(super) fn bases(commands: &[SimpleCommand], directory: &str) -> Vec<String> {
    let mut bases = alloc::vec![directory.to_string()];
    if !commands.iter().any(|it| it.folder == Folder::Unknown) {
        return bases;
    }
    let entered = commands.iter().flat_map(entered_by);
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
