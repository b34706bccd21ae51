//! The repositories that existed before the first confined command.
//!
//! A confined command may create a repository, and with it a git configuration that names programs. Git follows it,
//! and outside of the sandbox those programs would not be confined. The sandbox protects the configuration of the
//! repositories known here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use windlass_core::tool::FsGrant;

/// For each folder that was ever granted, the repository that contained it at that time.
#[derive(Debug, Default)]
pub(super) struct Repositories(Mutex<BTreeMap<String, Option<PathBuf>>>);

impl Repositories {
    /// The repositories of a grant's folders. To be called before a command starts that may write there.
    pub(super) fn of(&self, grant: &FsGrant) -> Vec<PathBuf> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = grant.roots.iter().map(|root| &root.path);
        let folders = roots.chain([&grant.cwd]);
        let found = folders.filter_map(|folder| {
            let first = || around(Path::new(folder));
            known.entry(folder.clone()).or_insert_with(first).clone()
        });
        found.collect()
    }
}

/// The repository that contains a folder.
fn around(folder: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(folder).ok()?;
    let mut above = real.ancestors();
    let found = above.find(|folder| folder.join(".git").exists());
    found.map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_is_made_later_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (old, new) = (root.join("old"), root.join("new"));
        std::fs::create_dir_all(old.join(".git")).unwrap();
        std::fs::create_dir_all(old.join("sub")).unwrap();
        std::fs::create_dir_all(&new).unwrap();
        let grant = |cwd: &Path| FsGrant {
            cwd: cwd.display().to_string(),
            ..FsGrant::default()
        };
        let all = Repositories::default();
        assert_eq!(all.of(&grant(&new)), Vec::<PathBuf>::new());
        std::fs::create_dir(new.join(".git")).unwrap();
        assert_eq!(all.of(&grant(&new)), Vec::<PathBuf>::new());
        assert_eq!(all.of(&grant(&old.join("sub"))), [old]);
    }
}
