//! The folders to which a program's relative arguments may refer, because its options set another directory.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

/// Options that make a program work in another directory.
const ELSEWHERE: [&str; 7] = [
    "-C",
    "--directory",
    "--base-directory",
    "--git-dir",
    "--work-tree",
    "--prefix",
    "--cwd",
];

/// Whether a word is an option whose value is the directory to work in.
pub(super) fn leads_elsewhere(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        ELSEWHERE.contains(&word)
            || letters.is_some_and(|letters| letters.ends_with('C'))
            || word.starts_with("--dir")
    })
}

/// Programs with many ways to set the directory: by combined options, abbreviated options, or options that apply to
/// the following arguments.
const CHANGES_FOLDER: [&str; 7] = ["bsdtar", "gmake", "gtar", "make", "ninja", "star", "tar"];

/// The maximum number of folders named by one command.
const MOST_FOLDERS: usize = 256;

/// The maximum number of directories that options can set.
const MOST_BASES: usize = 64;

/// The directories to which a program's arguments may be relative: the working directory, directories set by options,
/// and for git also the top of the repository. `None` if there are too many.
pub(super) fn bases(program: &str, arguments: &[&str], directory: &Path) -> Option<Vec<PathBuf>> {
    let mut bases = vec![directory.to_path_buf()];
    let mut before = "";
    let works_elsewhere = CHANGES_FOLDER.contains(&program);
    for argument in arguments.iter().copied() {
        let attached = ELSEWHERE.iter().find_map(|option| {
            let rest = argument.strip_prefix(option)?;
            Some(rest.strip_prefix('=').unwrap_or(rest))
        });
        let cut_short = || {
            let is_told = works_elsewhere && argument.starts_with("--dir");
            is_told.then(|| argument.split_once('=').map(|(_, folder)| folder))?
        };
        let is_told =
            ELSEWHERE.contains(&before) || works_elsewhere && leads_elsewhere(before.as_ref());
        let folder = match is_told {
            true => Some(argument),
            false => attached
                .or_else(cut_short)
                .filter(|folder| !folder.is_empty()),
        };
        if let Some(folder) = folder {
            // Options can be cumulative (`git -C a -C b`) or independent.
            let more: Vec<PathBuf> = bases.iter().map(|base| base.join(folder)).collect();
            for base in more {
                // For a named repository, also its parent folder.
                let outer = (before == "--git-dir" || argument.starts_with("--git-dir="))
                    .then(|| base.parent().map(Path::to_path_buf))
                    .flatten();
                for base in [Some(base), outer].into_iter().flatten() {
                    if !bases.contains(&base) {
                        bases.push(base);
                    }
                }
            }
            if bases.len() > MOST_BASES {
                return None;
            }
        }
        before = argument;
    }
    if works_elsewhere {
        // Since there are many ways to set it, any folder among the arguments may be the directory.
        let folders: Vec<PathBuf> = (arguments.iter())
            .flat_map(|text| [Some(*text), text.split_once('=').map(|(_, value)| value)])
            .flatten()
            .map(|text| directory.join(text))
            .filter(|folder| folder.is_dir())
            .collect();
        bases.extend(folders);
        bases.truncate(MOST_FOLDERS);
    }
    if program == "git" {
        let tops: Vec<PathBuf> = bases.iter().filter_map(|base| top_of(base)).collect();
        bases.extend(tops);
    }
    Some(bases)
}

/// Whether git would treat a folder as a repository without a work tree around it: then only its settings determine
/// the folder to which paths refer.
pub(super) fn is_repository_of_elsewhere(folder: &Path) -> bool {
    let is_named_git = folder.components().next_back() == Some(Component::Normal(".git".as_ref()));
    !is_named_git && folder.join("HEAD").exists() && folder.join("objects").is_dir()
}

/// The top folder of the repository that contains a folder.
fn top_of(folder: &Path) -> Option<PathBuf> {
    let top = folder.ancestors().find(|it| it.join(".git").exists())?;
    (top != folder).then(|| top.to_path_buf())
}
