//! The branch that is checked out around a folder, read from git's own files: starting a program for it would cost more
//! than a whole turn.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The branch; `HEAD` where none is checked out; none outside of a repository.
pub(crate) fn git_branch(cwd: &Path) -> Option<String> {
    let folder = cwd.ancestors().find_map(git_folder)?;
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    let branch = head.trim().strip_prefix("ref: refs/heads/");
    Some(branch.unwrap_or("HEAD").to_owned())
}

/// What `.git` in a folder is or, in a worktree, points to.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    let target = text.trim().strip_prefix("gitdir:")?;
    Some(folder.join(target.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sess_2_the_branch_is_read_from_repositories_and_worktrees() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("repo/.git/worktrees/w")).unwrap();
        fs::create_dir_all(at("repo/deep")).unwrap();
        fs::create_dir_all(at("w")).unwrap();
        assert_eq!(git_branch(&at("w")), None);
        fs::write(at("repo/.git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        assert_eq!(git_branch(&at("repo/deep")).as_deref(), Some("feature/x"));
        fs::write(at("repo/.git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(git_branch(&at("repo")).as_deref(), Some("HEAD"));
        fs::write(at("w/.git"), "gitdir: ../repo/.git/worktrees/w\n").unwrap();
        fs::write(at("repo/.git/worktrees/w/HEAD"), "ref: refs/heads/w\n").unwrap();
        assert_eq!(git_branch(&at("w")).as_deref(), Some("w"));
    }
}
