//! Reads the checked-out branch of a folder from git's own files: starting git would take longer than a whole turn.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::regular::{self, Link};

/// The branch; `HEAD` if it is detached; `None` outside of a repository.
pub(crate) fn git_branch(cwd: &Path) -> Option<String> {
    let folder = cwd.ancestors().find_map(git_folder)?;
    let head = read(&folder.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/");
    Some(branch.unwrap_or("HEAD").to_owned())
}

/// The git directory: `.git` in a folder or, in a worktree, the directory that it points to.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    // Most folders have no `.git`.
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let text = read(&git)?;
    let target = text.trim().strip_prefix("gitdir:")?;
    Some(folder.join(target.trim()))
}

/// The maximum size in bytes: such files hold one line.
const LONGEST: u64 = 4096;

/// Reads a small git file. `None` if it is longer, or not a regular file (a pipe would block, a device never ends).
fn read(path: &Path) -> Option<String> {
    regular::read_text(path, Link::Followed, LONGEST).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn conf_12_what_is_no_file_of_git_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let git = root.path().join(".git");
        let pipe = |path: &Path| {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        };
        pipe(&git);
        assert_eq!(git_branch(root.path()), None);
        fs::remove_file(&git).unwrap();
        fs::create_dir(&git).unwrap();
        pipe(&git.join("HEAD"));
        assert_eq!(git_branch(root.path()), None);
        fs::remove_file(git.join("HEAD")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", git.join("HEAD")).unwrap();
        assert_eq!(git_branch(root.path()), None);
        fs::remove_file(git.join("HEAD")).unwrap();
        fs::write(git.join("HEAD"), "x".repeat(5000)).unwrap();
        assert_eq!(git_branch(root.path()), None);
    }

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
