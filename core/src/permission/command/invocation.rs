//! How a program uses the files that its arguments name, in particular which programs only read them.

use super::{files::leaves_files_alone, git::GitCommand, options::is_cut_short};

/// The combined meaning of a program's arguments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Invocation<'a> {
    /// The command line, if it is one of git.
    git: GitCommand<'a>,
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
            "git" => invocation.git = GitCommand::of(arguments),
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

impl<'a> Invocation<'a> {
    /// The command line of git.
    pub(super) fn git(&self) -> GitCommand<'a> {
        self.git
    }

    /// Whether the program only reads the file that the argument at this index names.
    pub(super) fn only_reads(&self, at: usize, text: &str) -> bool {
        self.only_reads || at < self.changes_from && !text.starts_with('-')
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
