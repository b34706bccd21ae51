//! A directory of the host, narrowed to the grant of one call.
//!
//! The host confines the component to its directories; the permission rules of the session narrow this further for each call.
//! A file that a rule excludes does not exist for the call.

use windlass_core::tool::{Access, FsGrant};
use windlass_plugin::{ErrorCode, Page, Stat, Tree, WriteOptions};

/// A tree restricted to what `grant` allows.
#[derive(Debug)]
pub(crate) struct GrantedTree<'a, T> {
    pub(crate) tree: &'a T,
    /// The absolute path of the tree.
    pub(crate) path: &'a str,
    pub(crate) grant: &'a FsGrant,
}

impl<T> GrantedTree<'_, T> {
    fn access(&self, relative: &str) -> Result<Access, ErrorCode> {
        // Rules refer to normalised paths, and the tools use no others.
        if relative.split('/').any(|name| matches!(name, "." | "..")) {
            return Err(ErrorCode::NotFound);
        }
        let absolute = match relative {
            "" => self.path.to_owned(),
            relative => format!("{}/{relative}", self.path.trim_end_matches('/')),
        };
        self.grant.access(&absolute).ok_or(ErrorCode::NotFound)
    }

    fn writable(&self, relative: &str) -> Result<(), ErrorCode> {
        match self.access(relative)? {
            Access::Write => Ok(()),
            Access::Read => Err(ErrorCode::ReadOnly),
        }
    }
}

impl<T: Tree> Tree for GrantedTree<'_, T> {
    fn stat(&self, path: &str) -> Result<Stat, ErrorCode> {
        self.access(path)?;
        self.tree.stat(path)
    }

    fn read(&self, path: &str, offset: u64, max: u32) -> Result<Vec<u8>, ErrorCode> {
        self.access(path)?;
        self.tree.read(path, offset, max)
    }

    fn list(&self, path: &str, cursor: Option<u32>, details: bool) -> Result<Page, ErrorCode> {
        self.access(path)?;
        let mut page = self.tree.list(path, cursor, details)?;
        let prefix = if path.is_empty() {
            String::new()
        } else {
            format!("{path}/")
        };
        page.entries
            .retain(|entry| self.access(&format!("{prefix}{}", entry.name)).is_ok());
        Ok(page)
    }

    fn write(&self, path: &str, data: &[u8], options: &WriteOptions) -> Result<(), ErrorCode> {
        self.writable(path)?;
        self.tree.write(path, data, options)
    }

    fn create_directory(&self, path: &str) -> Result<(), ErrorCode> {
        self.writable(path)?;
        self.tree.create_directory(path)
    }

    fn remove(&self, path: &str) -> Result<(), ErrorCode> {
        self.writable(path)?;
        self.tree.remove(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_core::tool::{DenyPattern, GrantRoot};
    use windlass_plugin::testing::MemoryTree;

    #[test]
    fn what_a_rule_closes_is_missing_and_what_it_freezes_is_read_only() {
        let tree = MemoryTree::new()
            .with_file("a.txt", "a")
            .with_file(".env", "secret")
            .with_file("gen/b.txt", "b");
        let deny = |pattern: &str, access| DenyPattern {
            pattern: pattern.to_owned(),
            access,
        };
        let grant = FsGrant {
            cwd: "/w".to_owned(),
            roots: vec![GrantRoot {
                path: "/w".to_owned(),
                access: Access::Write,
            }],
            deny: vec![
                deny("/w/**/.env", Access::Read),
                deny("/w/gen", Access::Write),
            ],
        };
        let granted = GrantedTree {
            tree: &tree,
            path: "/w",
            grant: &grant,
        };
        let options = WriteOptions {
            expected_digest: None,
            create_new: false,
            create_parents: true,
        };
        let names = granted.list("", None, false).unwrap().entries;
        let names: Vec<_> = names.into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, ["a.txt", "gen"]);
        assert_eq!(granted.read(".env", 0, 9), Err(ErrorCode::NotFound));
        assert_eq!(granted.read("gen/../.env", 0, 9), Err(ErrorCode::NotFound));
        assert_eq!(
            granted.write(".env", b"", &options),
            Err(ErrorCode::NotFound)
        );
        assert_eq!(
            granted.write("gen/b.txt", b"", &options),
            Err(ErrorCode::ReadOnly)
        );
        assert_eq!(granted.write("a.txt", b"", &options), Ok(()));
    }
}
