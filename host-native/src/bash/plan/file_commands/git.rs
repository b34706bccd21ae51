//! `git mv`, which moves files like `mv`.

use std::ffi::{OsStr, OsString};

/// What a git command moves.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GitMove<'a> {
    /// Nothing.
    None,
    /// It uses options that are not supported here.
    Unknown,
    /// It moves files.
    Moves {
        /// The directories to change to first, in order (`-C`).
        folders: Vec<&'a OsStr>,
        /// The options and operands of `mv`.
        operands: &'a [OsString],
    },
}

/// Options before the subcommand that do not change which files are moved.
const PLAIN: [&str; 8] = [
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--no-optional-locks",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--no-advice",
];

/// Parses the arguments of git.
pub(super) fn git_move(arguments: &[OsString]) -> GitMove<'_> {
    let mut folders = Vec::new();
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        let Some(text) = argument.to_str() else {
            break;
        };
        match text {
            "mv" => {
                let operands = &arguments[at + 1..];
                return GitMove::Moves { folders, operands };
            }
            "-C" => {
                folders.extend(arguments.get(at + 1).map(OsString::as_os_str));
                at += 2;
            }
            "-c" => at += 2,
            text if PLAIN.contains(&text) => at += 1,
            text if text.starts_with('-') => break,
            // Another subcommand.
            _ => return GitMove::None,
        }
    }
    let rest = arguments.get(at..).unwrap_or_default();
    match rest.iter().any(|it| it == "mv") {
        true => GitMove::Unknown,
        false => GitMove::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_moves_is_told_by_its_options() {
        for (line, expected) in [
            ("mv a b", Some((0, 2))),
            ("-C d mv a b", Some((1, 2))),
            ("-C d -C e -c x.y=z --no-pager mv a b", Some((2, 2))),
            ("mv", Some((0, 0))),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = match git_move(&words) {
                GitMove::Moves { folders, operands } => Some((folders.len(), operands.len())),
                _ => None,
            };
            assert_eq!(found, expected, "{line}");
        }
        for (line, expected) in [
            ("add mv", GitMove::None),
            ("-C mv status", GitMove::None),
            ("--work-tree=x mv a b", GitMove::Unknown),
            ("--git-dir x mv a b", GitMove::Unknown),
            ("--git-dir x status", GitMove::None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(git_move(&words), expected, "{line}");
        }
    }
}
