//! How a program uses the files that its arguments name, in particular which programs only read them.

use super::{
    files::leaves_files_alone,
    git::{changes_files, is_option, may_git_change, subcommand},
    named::Argument,
};

/// The combined meaning of a program's arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Invocation<'a> {
    /// The subcommand of git and its index; none if uncertain.
    subcommand: Option<(usize, &'a str)>,
    /// Whether git is given a repository but no folder to write to: it then writes to its working directory.
    writes_folder: bool,
    /// Whether it changes none of the files it is given.
    only_reads: bool,
    /// The index of the first argument whose file it changes.
    changes_from: usize,
}

impl<'a> Invocation<'a> {
    /// The meaning of these arguments for this program.
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
                let writes = changes_files(invocation.subcommand);
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
    /// The subcommand of git and its index; none if uncertain.
    pub(super) fn subcommand(&self) -> Option<(usize, &str)> {
        self.subcommand
    }

    /// Whether git writes to its working directory, whatever the repository.
    pub(super) fn writes_folder(&self) -> bool {
        self.writes_folder
    }

    /// The same for several runs, each with these arguments and some of other ones.
    #[must_use]
    pub fn of_each_part(self) -> Self {
        Self {
            only_reads: false,
            changes_from: 0,
            ..self
        }
    }
}

/// Options of `cp` without a value, or with one only after `=`. `--link` is not among them: writing to another name of a file
/// changes the file.
const PLAIN_OF_COPY: [&str; 22] = [
    "--archive",
    "--attributes-only",
    "--backup",
    "--copy-contents",
    "--debug",
    "--dereference",
    "--force",
    "--interactive",
    "--keep-directory-symlink",
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

/// The index of the last operand of `cp`, the target: the operands before it are only read. 0 if an option may take the next word
/// as its value, or names another target.
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
                    .all(|letter| b"abdfHiLnPpRrsTuvxZ".contains(&letter))
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

/// Whether a word is this long option, possibly abbreviated and with a value.
pub(super) fn is_cut_short(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

/// Whether `find` does more than list what it finds.
fn find_changes(arguments: &[&str]) -> bool {
    arguments.iter().enumerate().any(|(at, argument)| {
        let runs = matches!(*argument, "-exec" | "-execdir" | "-ok" | "-okdir");
        let program = || arguments.get(at + 1).copied().unwrap_or_default();
        let writes = *argument == "-delete" || argument.starts_with("-f") && is_output(argument);
        writes || runs && !leaves_files_alone(program())
    })
}

/// Actions of `find` that write to a file.
fn is_output(argument: &str) -> bool {
    argument.starts_with("-fprint") || argument.starts_with("-fls")
}

/// Whether an awk program neither writes nor runs anything.
fn awk_reads(arguments: &[&str]) -> bool {
    arguments.iter().all(|argument| {
        let is_option = argument.starts_with('-');
        let is_known = argument.starts_with("-F") || argument.starts_with("-v");
        !argument.contains(['>', '|', '@'])
            && !argument.contains("system")
            && (!is_option || is_known)
    })
}

/// Whether a program may change the file that this argument names.
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
