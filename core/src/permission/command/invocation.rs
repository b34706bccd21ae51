//! What a program does with the files that its arguments name: what git is told to do, which programs only read what they are given,
//! and what they write beside it.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use super::{files::leaves_files_alone, named::Argument};

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

/// What the arguments of a program say together.
#[derive(Debug, Clone, Copy, Default)]
pub struct Invocation<'a> {
    /// What git is told to do, and where that stands; none where it is not sure.
    subcommand: Option<(usize, &'a str)>,
    /// It changes nothing that it is given by name.
    only_reads: bool,
    /// It changes what it is given by name from this argument on.
    changes_from: usize,
}

impl<'a> Invocation<'a> {
    /// Of a program with these arguments.
    #[must_use]
    pub fn of(program: &str, arguments: &[&'a str]) -> Self {
        let has_letter = |letter: char| {
            let is_letters = |it: &&&str| it.starts_with('-') && !it.starts_with("--");
            (arguments.iter().filter(is_letters)).any(|it| it.contains(letter))
        };
        let has_long = |option: &str| arguments.iter().any(|it| is_cut_short(it, option));
        let mut invocation = Self::default();
        match program {
            "git" => invocation.subcommand = subcommand(arguments),
            "find" => invocation.only_reads = !find_changes(arguments),
            "sort" | "base64" | "base32" | "tree" => {
                invocation.only_reads = !has_letter('o') && !has_long("--output");
            }
            "sed" => invocation.only_reads = !has_letter('i') && !has_long("--in-place"),
            "awk" | "gawk" | "mawk" => invocation.only_reads = awk_reads(arguments),
            // All but the last are read.
            "cp" if !has_letter('t') && !has_long("--target-directory") => {
                invocation.changes_from = arguments.len().saturating_sub(1);
            }
            _ => {}
        }
        invocation
    }
}

impl Invocation<'_> {
    /// The same for each of several calls that get these arguments and a part of others.
    #[must_use]
    pub fn of_each_part(self) -> Self {
        Self {
            only_reads: false,
            changes_from: 0,
            ..self
        }
    }
}

/// Whether a word is a long option, which may be cut short and have a value.
fn is_cut_short(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

/// What git is told to do. None where an option stands before it that is not known: its value could be taken for it.
fn subcommand<'a>(arguments: &[&'a str]) -> Option<(usize, &'a str)> {
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

/// Whether `find` does more with what it finds than to name it.
fn find_changes(arguments: &[&str]) -> bool {
    arguments.iter().enumerate().any(|(at, argument)| {
        let runs = matches!(*argument, "-exec" | "-execdir" | "-ok" | "-okdir");
        let program = || arguments.get(at + 1).copied().unwrap_or_default();
        let writes = *argument == "-delete" || argument.starts_with("-f") && is_output(argument);
        writes || runs && !leaves_files_alone(program())
    })
}

/// Actions of `find` that write into a file.
fn is_output(argument: &str) -> bool {
    argument.starts_with("-fprint") || argument.starts_with("-fls")
}

/// Whether a program of awk has nothing in it that writes or runs.
fn awk_reads(arguments: &[&str]) -> bool {
    arguments.iter().all(|argument| {
        let is_option = argument.starts_with('-');
        let is_known = argument.starts_with("-F") || argument.starts_with("-v");
        !argument.contains(['>', '|', '@'])
            && !argument.contains("system")
            && (!is_option || is_known)
    })
}

/// Suffixes of which each is tried with every operand.
const MOST_SUFFIXES: usize = 8;

/// Files that a program makes beside those that it is given: by a suffix for what was there before, or by unpacking.
#[must_use]
pub fn made_names(program: &str, arguments: &[&str]) -> Vec<String> {
    let operands = || arguments.iter().filter(|it| !it.starts_with('-'));
    match program {
        "gunzip" | "gzip" | "unxz" | "xz" | "unlzma" | "lzma" | "bunzip2" | "bzip2" | "unzstd"
        | "zstd" | "uncompress" | "unlz4" | "lz4" => {
            let stems = operands().filter_map(|it| it.rsplit_once('.'));
            stems.map(|(stem, _)| stem.to_string()).collect()
        }
        "sed" | "cp" | "mv" | "ln" | "install" | "patch" => {
            let suffixes = suffixes(program, arguments);
            let with = |suffix: &str| -> Vec<String> {
                operands().map(|it| suffixed(it, suffix)).collect()
            };
            suffixes
                .iter()
                .take(MOST_SUFFIXES)
                .flat_map(|it| with(it))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// What may be a suffix among a program's options.
fn suffixes<'a>(program: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    let (letter, long) = match program {
        "sed" => ('i', "--in-place"),
        "patch" => ('z', "--suffix"),
        _ => ('S', "--suffix"),
    };
    let mut found = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let next = arguments.get(at + 1).copied();
        if is_cut_short(argument, long) {
            found.extend(argument.split_once('=').map(|(_, value)| value).or(next));
        } else if argument.starts_with('-') && !argument.starts_with("--") {
            let attached = argument.split_once(letter).map(|(_, suffix)| suffix);
            // A suffix of sed is never the next word.
            found.extend(match attached {
                Some("") if program != "sed" => next,
                attached => attached.filter(|it| !it.is_empty()),
            });
        }
    }
    found
}

/// The name of what was there before: `*` in a suffix of sed stands for it.
fn suffixed(operand: &str, suffix: &str) -> String {
    match suffix.contains('*') {
        true => suffix.replace('*', operand),
        false => [operand, suffix].concat(),
    }
}

/// Whether a program may change what this argument names.
pub(super) fn may_change(program: &str, argument: &Argument<'_>) -> bool {
    let invocation = &argument.invocation;
    if invocation.only_reads
        || argument.at < invocation.changes_from && !argument.text.starts_with('-')
    {
        return false;
    }
    match program {
        "test" | "[" | "printf" | "true" | "false" | ":" => false,
        "tar" | "rsync" if argument.text.starts_with("--exclude=") => false,
        "tar" | "rsync" if argument.before == Some("--exclude") => false,
        "git" => may_git_change(argument),
        program => !leaves_files_alone(program),
    }
}

/// Git keeps its own files as it likes, but not what an argument makes it write.
fn may_git_change(argument: &Argument<'_>) -> bool {
    let subcommand = argument.invocation.subcommand;
    // Behind what it is told to do these words may be anything.
    let is_before = subcommand.is_some_and(|(at, _)| argument.at < at);
    let names_repository = |text: &str| {
        let named = |option: &&str| {
            (text.strip_prefix(*option))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        REPOSITORY.iter().any(named)
    };
    let is_named = || argument.before.is_some_and(|it| REPOSITORY.contains(&it));
    let looks = subcommand.is_some_and(|(_, word)| LOOKS.contains(&word));
    if is_before {
        return !looks && !names_repository(argument.text) && !is_named();
    }
    let is_recorded = looks || subcommand.is_some_and(|(_, word)| RECORDED.contains(&word));
    !is_recorded
        || argument.text.starts_with('-')
        || argument.before.is_some_and(|it| WRITTEN.contains(&it))
}
