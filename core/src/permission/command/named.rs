//! The files that the words of a command name: as far as they are written out before it runs, and whatever they have become when it
//! does.

use super::files::leaves_files_alone;
use crate::{
    permission::{authority, glob},
    tool::{Access, CommandPlan, DenyPattern},
};

/// Options of git whose value is a file or folder to be written, in the next word.
const WRITTEN: [&str; 5] = [
    "--export-marks",
    "--output",
    "--output-directory",
    "--prefix",
    "-o",
];

/// Options of git that say which repository is meant.
const REPOSITORY: [&str; 3] = ["-C", "--git-dir", "--work-tree"];

/// Commands of git whose operands are files that it records or shows, and references: it changes none of these files.
const RECORDED: [&str; 40] = [
    "add",
    "blame",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry-pick",
    "commit",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "name-rev",
    "notes",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "rev-list",
    "rev-parse",
    "revert",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "tag",
];

/// What the names in one command or line may cost, beside what its length gives: each costs its bytes and [`COST`].
const MOST_NAMES: usize = 256 << 10;

/// What each byte of a text may cost in names.
const COST_OF_BYTE: usize = 64;

/// What a name costs beside its bytes.
const COST: usize = 32;

/// Bytes of the longest name that a system opens.
const LONGEST_NAME: usize = 4096;

/// Bytes of the longest name of one file or folder on any system: 255 characters in three bytes each, or what FUSE allows.
const LONGEST_COMPONENT: usize = 1024;

/// Why a program of a plan may not name a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedFile {
    /// A deny rule closes it, or the host itself.
    Closed,
    /// It becomes authority, and nobody has said that it may be changed.
    Authority,
}

/// Whether a program of a plan may name this file, absolute and normal, among its arguments: hosts ask before they start it. What was
/// judged by its name is in [`CommandPlan::files`], and is not refused here.
#[must_use]
pub fn refused_file(
    plan: &CommandPlan,
    program: &str,
    argument: &Argument<'_>,
    path: &str,
) -> Option<RefusedFile> {
    let is_closed = |deny: &DenyPattern| {
        !(deny.access == Access::Write && leaves_files_alone(program))
            && glob::covers(&deny.pattern, path)
    };
    let is_own = authority::lies_in(path, &plan.closed_places);
    if is_own || plan.deny.iter().any(is_closed) {
        return Some(RefusedFile::Closed);
    }
    let becomes_authority = authority::is_place_beside(path, &plan.own_directories);
    let is_changed = may_change(program, argument);
    let was_judged = plan
        .files
        .iter()
        .any(|file| file.access == Access::Write && file.real == path);
    (becomes_authority && is_changed && !was_judged).then_some(RefusedFile::Authority)
}

/// An argument, with what tells what it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Argument<'a> {
    /// The argument.
    pub text: &'a str,
    /// The one before it.
    pub before: Option<&'a str>,
    /// The first of the program that is no option: what git is told to do.
    pub subcommand: Option<&'a str>,
}

impl<'a> Argument<'a> {
    /// Everything in it that may be the name of a file: the whole, what stands between and behind `=`, `:`, `,` and `@`, what may be
    /// attached to an option of one character (`-ofile`, `-#ofile`), and what git means by `:/name` and `:(top)name`.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.text;
        let is_mark = |c: char| matches!(c, '=' | ':' | ',' | '@');
        let marks = text.match_indices(is_mark);
        let behind = marks.flat_map(move |(at, _)| pieces(&text[at + 1..], is_mark));
        let has_letters = text.starts_with('-') && !text.starts_with("--");
        // With these a name has begun.
        let is_option = |c: &u8| c.is_ascii_graphic() && !matches!(c, b'/' | b'.' | b'~');
        let letters = text.bytes().skip(1).take_while(is_option);
        let letters = if has_letters { letters.count() } else { 0 };
        let from_top = text.match_indices(":/").map(move |(at, _)| &text[at + 2..]);
        let behind_magic = text.match_indices(')').map(move |(at, _)| &text[at + 1..]);
        let magic = text.starts_with(':');
        // Behind each of them, as long as there are only letters before.
        let attached = (2..letters + 2).filter_map(move |at| text.get(at..));
        pieces(text, is_mark)
            .chain(behind)
            .chain(attached)
            .chain(from_top)
            .chain(behind_magic.filter(move |_| magic))
            .filter(|name| may_be_opened(name))
    }

    /// Whether there are more names in it than can be held against the rules.
    #[must_use]
    pub fn has_too_many_names(&self) -> bool {
        have_too_many_names(core::iter::once((self.text, 1)))
    }
}

/// Whether there are more names in these texts, each in so many directories, than can be held against the rules. What looking at
/// them takes grows as they do, and no faster.
pub(super) fn have_too_many_names<'a>(
    texts: impl Iterator<Item = (&'a str, usize)> + Clone,
) -> bool {
    let bytes: usize = texts.clone().map(|(text, _)| text.len()).sum();
    let mut left = MOST_NAMES + COST_OF_BYTE * bytes;
    for (text, directories) in texts {
        let argument = Argument {
            text,
            ..Argument::default()
        };
        for name in argument.names() {
            let cost = (name.len() + COST) * directories;
            let Some(rest) = left.checked_sub(cost) else {
                return true;
            };
            left = rest;
        }
    }
    false
}

/// Whether a system could open a file of this name.
fn may_be_opened(name: &str) -> bool {
    let fits = |component: &str| component.len() <= LONGEST_COMPONENT;
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && (name.len() <= LONGEST_COMPONENT || name.split('/').all(fits))
}

/// Whether there is anything that a program of a plan may not name by this argument: hosts do not start it with a name that they
/// cannot hold against the rules.
#[must_use]
pub fn may_be_refused(plan: &CommandPlan, program: &str, argument: &Argument<'_>) -> bool {
    !plan.deny.is_empty() || !plan.closed_places.is_empty() || may_change(program, argument)
}

/// A text, and what of it stands before the first mark.
fn pieces(text: &str, is_mark: fn(char) -> bool) -> impl Iterator<Item = &str> {
    let first = text.find(is_mark).map(|at| &text[..at]);
    core::iter::once(text).chain(first)
}

/// The first of a program's arguments that is no option.
#[must_use]
pub fn subcommand<'a>(arguments: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => drop(arguments.next()),
            option if option.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
}

/// Whether a program may change what this argument names.
pub(super) fn may_change(program: &str, argument: &Argument<'_>) -> bool {
    match program {
        "test" | "[" | "printf" | "true" | "false" | ":" => false,
        "find" => !is_pattern_of_find(argument),
        "tar" | "rsync" if argument.text.starts_with("--exclude=") => false,
        "tar" if argument.before == Some("--exclude") => false,
        "git" => may_git_change(argument),
        program => !leaves_files_alone(program),
    }
}

/// What `find` compares names with.
fn is_pattern_of_find(argument: &Argument<'_>) -> bool {
    matches!(
        argument.before,
        Some(
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-wholename"
                | "-iwholename"
                | "-regex"
                | "-iregex"
        )
    )
}

/// Git keeps its own files as it likes, but not what an argument makes it write.
fn may_git_change(argument: &Argument<'_>) -> bool {
    let names_repository = |text: &str| {
        let named = |option: &&str| {
            (text.strip_prefix(*option))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        REPOSITORY.iter().any(named)
    };
    if names_repository(argument.text) || argument.before.is_some_and(|it| REPOSITORY.contains(&it))
    {
        return false;
    }
    let is_recorded = argument.subcommand.is_some_and(|it| RECORDED.contains(&it));
    !is_recorded
        || argument.text.starts_with('-')
        || argument.before.is_some_and(|it| WRITTEN.contains(&it))
}
