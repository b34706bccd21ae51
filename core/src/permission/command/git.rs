//! Git's command line: which repository it is told to use, what to do there, and which of its arguments it may write.

use super::{invocation::is_cut_short, named::Argument};

/// Options of git whose value is a file or folder to be written, in the next word.
const WRITTEN: [&str; 5] = [
    "--export-marks",
    "--output",
    "--output-directory",
    "--prefix",
    "-o",
];

/// Options of git, before what it is told to do, that say which repository is meant. What `--work-tree` names is written.
const REPOSITORY: [&str; 2] = ["-C", "--git-dir"];

/// Options of git, before what it is told to do, whose value is the next word or stands behind `=`.
const VALUED_BEFORE: [&str; 8] = [
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// Options of git, before what it is told to do, without a value.
const PLAIN_BEFORE: [&str; 17] = [
    "-P",
    "-h",
    "-p",
    "-v",
    "--bare",
    "--glob-pathspecs",
    "--help",
    "--icase-pathspecs",
    "--literal-pathspecs",
    "--no-advice",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--noglob-pathspecs",
    "--paginate",
    "--version",
];

/// Commands of git that change no file but git's own.
const LOOKS: [&str; 25] = [
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
];

/// Commands of git whose operands are files that it records, and references: it changes none of these files, but perhaps others of
/// the work tree.
const RECORDED: [&str; 15] = [
    "add",
    "branch",
    "cherry-pick",
    "commit",
    "fetch",
    "merge",
    "notes",
    "pull",
    "push",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "revert",
    "tag",
];

/// What git is told to do. None where an option stands before it that is not known: its value could be taken for it.
pub(super) fn subcommand<'a>(arguments: &[&'a str]) -> Option<(usize, &'a str)> {
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let name = argument.split_once('=').map(|(name, _)| name);
        if VALUED_BEFORE.contains(argument) {
            at += 2;
        } else if PLAIN_BEFORE.contains(argument)
            || name.is_some_and(|name| name == "--exec-path" || VALUED_BEFORE.contains(&name))
        {
            at += 1;
        } else if argument.starts_with('-') {
            return None;
        } else {
            return Some((at, argument));
        }
    }
    None
}

/// Whether git may change files, told to do this, beside its own.
pub(super) fn changes_files(subcommand: Option<(usize, &str)>) -> bool {
    subcommand.is_none_or(|(_, word)| !LOOKS.contains(&word))
}

/// Whether a word is this option, by itself or with a value behind `=`.
pub(super) fn is_option(word: &str, option: &str) -> bool {
    (word.strip_prefix(option)).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Git keeps its own files as it likes, but not what an argument makes it write.
pub(super) fn may_git_change(argument: &Argument<'_>) -> bool {
    let subcommand = argument.invocation.subcommand();
    // Behind what it is told to do these words may be anything.
    let is_before = subcommand.is_some_and(|(at, _)| argument.at < at);
    let names_repository = |text: &str| {
        let mut options = REPOSITORY.iter();
        let names = options.any(|option| is_option(text, option));
        // What it writes then is a folder, not a repository.
        names && !(argument.invocation.writes_folder() && text.starts_with("-C"))
    };
    let is_named = || {
        let before = argument.before.filter(|it| REPOSITORY.contains(it));
        before.is_some_and(names_repository)
    };
    let looks = subcommand.is_some_and(|(_, word)| LOOKS.contains(&word));
    if is_before {
        return !looks && !names_repository(argument.text) && !is_named();
    }
    if looks && argument.text.starts_with('-') {
        return is_cut_short(argument.text, "--output") || argument.text.starts_with("--output");
    }
    let is_recorded = looks || subcommand.is_some_and(|(_, word)| RECORDED.contains(&word));
    !is_recorded
        || argument.text.starts_with('-')
        || argument.before.is_some_and(|it| WRITTEN.contains(&it))
}
