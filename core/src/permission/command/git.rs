//! Git's command line: the repository, the subcommand, and which arguments may be written to.

use super::options::{is_cut_short, is_option};

/// Options of git that name a file or folder to write, as the next word.
const WRITTEN: [&str; 5] = [
    "--export-marks",
    "--output",
    "--output-directory",
    "--prefix",
    "-o",
];

/// Options before the subcommand that select the repository. The folder named by `--work-tree` is written to.
const REPOSITORY: [&str; 2] = ["-C", "--git-dir"];

/// Options before the subcommand that take a value: the next word, or after `=`.
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

/// Options before the subcommand without a value.
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

/// Subcommands that change no files except git's own.
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

/// Subcommands whose operands are references, and files to record: they do not change these files, but may change others in the
/// work tree.
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

/// A command line of git.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GitCommand<'a> {
    /// The subcommand and its index; none if uncertain.
    subcommand: Option<(usize, &'a str)>,
    /// Whether it writes to its working directory, whatever the repository: it is given a repository but no folder to write to.
    writes_folder: bool,
}

impl<'a> GitCommand<'a> {
    /// The command line with these arguments.
    pub(super) fn of(arguments: &[&'a str]) -> Self {
        let subcommand = subcommand(arguments);
        let names = |option: &str| arguments.iter().any(|it| is_option(it, option));
        // Whether it may change files other than git's own.
        let writes = subcommand.is_none_or(|(_, word)| !LOOKS.contains(&word));
        Self {
            subcommand,
            writes_folder: writes && names("--git-dir") && !names("--work-tree"),
        }
    }

    /// Whether it writes to its working directory, whatever the repository.
    pub(super) fn writes_folder(self) -> bool {
        self.writes_folder
    }

    /// Whether it may change the file that the argument at this index names; `before` is the argument before it. Git's changes to
    /// its own files are its own matter, but not writes to files named by an argument.
    pub(super) fn may_change(self, at: usize, text: &str, before: Option<&str>) -> bool {
        let subcommand = self.subcommand;
        // After the subcommand these words may mean something else.
        let is_before = subcommand.is_some_and(|(of_subcommand, _)| at < of_subcommand);
        let names_repository = |text: &str| {
            let mut options = REPOSITORY.iter();
            let names = options.any(|option| is_option(text, option));
            // It then writes to a folder, not to a repository.
            names && !(self.writes_folder && text.starts_with("-C"))
        };
        let is_named = || {
            let before = before.filter(|it| REPOSITORY.contains(it));
            before.is_some_and(names_repository)
        };
        let looks = subcommand.is_some_and(|(_, word)| LOOKS.contains(&word));
        if is_before {
            return !looks && !names_repository(text) && !is_named();
        }
        if looks && text.starts_with('-') {
            return is_cut_short(text, "--output") || text.starts_with("--output");
        }
        let is_recorded = looks || subcommand.is_some_and(|(_, word)| RECORDED.contains(&word));
        !is_recorded || text.starts_with('-') || before.is_some_and(|it| WRITTEN.contains(&it))
    }
}

/// The subcommand and its index. None if an unknown option precedes it, whose value could be mistaken for it.
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
