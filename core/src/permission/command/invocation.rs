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
    /// Git is told which repository is meant, and not which folder it writes: that is the one in which it works.
    writes_folder: bool,
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
            "git" => {
                invocation.subcommand = subcommand(arguments);
                let names = |option: &str| arguments.iter().any(|it| is_option(it, option));
                let writes = invocation
                    .subcommand
                    .is_none_or(|(_, word)| !LOOKS.contains(&word));
                invocation.writes_folder = writes && names("--git-dir") && !names("--work-tree");
            }
            "find" => invocation.only_reads = !find_changes(arguments),
            "sort" | "base64" | "base32" | "tree" => {
                invocation.only_reads = !has_letter('o') && !has_long("--output");
            }
            "sed" => invocation.only_reads = !has_letter('i') && !has_long("--in-place"),
            "awk" | "gawk" | "mawk" => invocation.only_reads = awk_reads(arguments),
            "cp" => invocation.changes_from = target_of_copy(arguments),
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

/// Whether a word is this option, by itself or with a value behind `=`.
fn is_option(word: &str, option: &str) -> bool {
    (word.strip_prefix(option)).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Options of `cp` that have no value, or only one behind `=`.
const PLAIN_OF_COPY: [&str; 23] = [
    "--archive",
    "--attributes-only",
    "--backup",
    "--copy-contents",
    "--debug",
    "--dereference",
    "--force",
    "--interactive",
    "--keep-directory-symlink",
    "--link",
    "--no-clobber",
    "--no-dereference",
    "--no-target-directory",
    "--one-file-system",
    "--parents",
    "--preserve",
    "--recursive",
    "--reflink",
    "--remove-destination",
    "--strip-trailing-slashes",
    "--symbolic-link",
    "--update",
    "--verbose",
];

/// Which argument of `cp` is the last operand: those before it are read. The first where an option may have a value in the next word,
/// or names another target.
fn target_of_copy(arguments: &[&str]) -> usize {
    let mut last = 0;
    for (at, argument) in arguments.iter().enumerate() {
        if *argument == "--" {
            return arguments.len() - 1;
        }
        let is_plain = match argument.strip_prefix("--") {
            Some(_) => {
                let name = argument.split('=').next().unwrap_or_default();
                PLAIN_OF_COPY.contains(&name)
            }
            None => (argument.strip_prefix('-')).is_some_and(|letters| {
                letters
                    .bytes()
                    .all(|letter| b"abdfHiLlnPpRrsTuvxZ".contains(&letter))
            }),
        };
        match (argument.starts_with('-'), is_plain) {
            (true, true) => {}
            (true, false) => return 0,
            (false, _) => last = at,
        }
    }
    last
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

/// More names than are made of the arguments of one command.
const MOST_MADE: usize = 4096;

/// Files that a program makes or changes beside those that it is given by name: where in a folder it puts them, by a suffix for what was
/// there before, by unpacking, or because it works on the whole folder in which it runs (`.`). None if they are too many to be looked
/// at.
#[must_use]
pub fn made_names(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let operands: Vec<&str> = (arguments.iter().copied())
        .filter(|it| !it.starts_with('-'))
        .collect();
    let mut made = Vec::new();
    match program {
        "gunzip" | "gzip" | "unxz" | "xz" | "unlzma" | "lzma" | "bunzip2" | "bzip2" | "unzstd"
        | "zstd" | "uncompress" | "unlz4" | "lz4" => {
            let suffixes = values(arguments, 'S', "--suffix", true);
            for operand in &operands {
                made.extend(operand.rsplit_once('.').map(|(stem, _)| stem.to_string()));
                let stems = suffixes.iter().filter_map(|it| operand.strip_suffix(it));
                made.extend(stems.map(ToString::to_string));
            }
        }
        "sed" | "cp" | "mv" | "ln" | "install" | "patch" => {
            if program == "patch" {
                let prefixes = values(arguments, 'B', "--prefix", true);
                let of_names = values(arguments, 'Y', "--basename-prefix", true);
                made_of_each(&mut made, &prefixes, &operands, |it, prefix| {
                    [prefix, it].concat()
                })?;
                made_of_each(&mut made, &of_names, &operands, |it, prefix| {
                    let (folder, name) = it
                        .rsplit_once('/')
                        .map_or(("", it), |(folder, name)| (folder, name));
                    let folder = if folder.is_empty() {
                        String::new()
                    } else {
                        [folder, "/"].concat()
                    };
                    [&folder, prefix, name].concat()
                })?;
            }
            let suffixes = match program {
                "sed" => values(arguments, 'i', "--in-place", false),
                "patch" => values(arguments, 'z', "--suffix", true),
                _ => values(arguments, 'S', "--suffix", true),
            };
            made_of_each(&mut made, &suffixes, &operands, suffixed)?;
            if matches!(program, "cp" | "mv" | "ln" | "install") {
                let mut targets = values(arguments, 't', "--target-directory", true);
                targets.extend(operands.last());
                made_of_each(&mut made, &targets, &operands, landed)?;
            }
        }
        "git" if Invocation::of(program, arguments).writes_folder => made.push(".".to_string()),
        _ => {}
    }
    (made.len() <= MOST_MADE).then_some(made)
}

/// What is made of each operand and each of these; none if that is too much.
fn made_of_each(
    made: &mut Vec<String>,
    each: &[&str],
    operands: &[&str],
    make: fn(&str, &str) -> String,
) -> Option<()> {
    if made.len() + each.len().saturating_mul(operands.len()) > MOST_MADE {
        return None;
    }
    for one in each {
        made.extend(operands.iter().map(|operand| make(operand, one)));
    }
    Some(())
}

/// Where an operand lies in a folder into which it is put.
fn landed(operand: &str, folder: &str) -> String {
    let name = operand.trim_end_matches('/').rsplit('/').next();
    [folder, "/", name.unwrap_or_default()].concat()
}

/// The values of an option: attached to it, or where it takes that for one the next word.
fn values<'a>(arguments: &[&'a str], letter: char, long: &str, takes_next: bool) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let next = || arguments.get(at + 1).copied().filter(|_| takes_next);
        if is_cut_short(argument, long) {
            let value = argument.split_once('=').map(|(_, value)| value);
            found.extend(value.or_else(next));
        } else if argument.starts_with('-') && !argument.starts_with("--") {
            found.extend(match argument.split_once(letter) {
                Some((_, "")) => next(),
                Some((_, value)) => Some(value),
                None => None,
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
        let mut options = REPOSITORY.iter();
        let names = options.any(|option| is_option(text, option));
        // What it writes then is a folder, not a repository.
        names && !(argument.invocation.writes_folder && text.starts_with("-C"))
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
