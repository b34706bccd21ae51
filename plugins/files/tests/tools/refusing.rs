//! A host that refuses.

use windlass_plugin::testing::MemoryTree;
use windlass_plugin::{Access, ErrorCode, Page, Root, Stat, Tree, Workspace, WriteOptions};

/// A tree that may only be read, and whose directory `closed` cannot be listed.
pub(crate) struct Refusing(MemoryTree);

impl Refusing {
    pub(crate) fn new(tree: MemoryTree) -> Self {
        Self(tree)
    }

    pub(crate) fn into_workspace(self) -> Workspace<Self> {
        let root = Root {
            path: "/work".to_owned(),
            access: Access::Read,
            tree: self,
        };
        Workspace::new(vec![root], "/work")
    }
}

impl Tree for Refusing {
    fn stat(&self, path: &str) -> Result<Stat, ErrorCode> {
        self.0.stat(path)
    }

    fn read(&self, path: &str, offset: u64, max: u32) -> Result<Vec<u8>, ErrorCode> {
        self.0.read(path, offset, max)
    }

    fn list(&self, path: &str, cursor: Option<u32>, details: bool) -> Result<Page, ErrorCode> {
        match path {
            "closed" => Err(ErrorCode::Io),
            path => self.0.list(path, cursor, details),
        }
    }

    fn write(&self, _: &str, _: &[u8], _: &WriteOptions) -> Result<(), ErrorCode> {
        Err(ErrorCode::ReadOnly)
    }

    fn create_directory(&self, _: &str) -> Result<(), ErrorCode> {
        Err(ErrorCode::ReadOnly)
    }

    fn remove(&self, _: &str) -> Result<(), ErrorCode> {
        Err(ErrorCode::ReadOnly)
    }
}
