//! The folders in which a program may take the names among its arguments, because options of it say where to work.

use std::{
    ffi::OsStr,
    path::{Component, Path, PathBuf},
};

/// Options by which programs are told to work elsewhere.
const ELSEWHERE: [&str; 7] = [
    "-C",
    "--directory",
    "--base-directory",
    "--git-dir",
    "--work-tree",
    "--prefix",
    "--cwd",
];

/// Whether a word is an option behind which a program is told where to work.
pub(super) fn leads_elsewhere(word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        ELSEWHERE.contains(&word)
            || letters.is_some_and(|letters| letters.ends_with('C'))
            || word.starts_with("--dir")
    })
}

/// Programs that are told to work elsewhere in many ways: by options that stand together, are cut short, or count for what follows.
const CHANGES_FOLDER: [&str; 7] = ["bsdtar", "gmake", "gtar", "make", "ninja", "star", "tar"];

/// More folders than one command names.
const MOST_FOLDERS: usize = 256;

/// More folders than a program is told to work in.
const MOST_BASES: usize = 64;

/// Where the names that a program is given may begin: in the working directory, in folders where its options tell it to work, and of
/// git at the top of the repository. None if they are too many.
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
            // One behind the other (`git -C a -C b`), or each by itself.
            let more: Vec<PathBuf> = bases.iter().map(|base| base.join(folder)).collect();
            for base in more {
                // Of a repository that is named also the folder in which it lies.
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
        // In whatever way it is told so, any folder among its arguments may be the one.
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

/// Whether git would take a folder for a repository without a work tree around it: which folder the names in it mean, only its
/// settings say.
pub(super) fn is_repository_of_elsewhere(folder: &Path) -> bool {
    let is_named_git = folder.components().next_back() == Some(Component::Normal(".git".as_ref()));
    !is_named_git && folder.join("HEAD").exists() && folder.join("objects").is_dir()
}

/// The folder of the repository around a folder.
fn top_of(folder: &Path) -> Option<PathBuf> {
    let top = folder.ancestors().find(|it| it.join(".git").exists())?;
    (top != folder).then(|| top.to_path_buf())
}
