//! What one call may access: its directory trees, opened on first use.

use std::sync::Arc;

use windlass_core::tool::Access;

use super::{
    FsError,
    exact::Deepest,
    grant::Grant,
    handled::Handled,
    path_text::slashed,
    scope::{Refusal, Scope},
    tree::Tree,
};

/// The directory trees that one call may access. Created by [`super::Files::reach`], dropped with the call.
///
/// Directories are opened on first use.
#[derive(Debug)]
pub struct Reach {
    pub(super) scope: Scope,
    pub(super) trees: Vec<Tree>,
    pub(super) handled: Handled,
    opened: bool,
}

/// A directory tree as seen by the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its real absolute path.
    pub path: String,
    /// The most permissive access anywhere in it.
    pub access: Access,
}

impl Reach {
    pub(super) fn new(grant: Arc<Grant>) -> Self {
        Self {
            scope: Scope::new(grant),
            trees: Vec::new(),
            handled: Handled::default(),
            opened: false,
        }
    }

    /// The directory to which paths are relative; absolute.
    #[must_use]
    pub fn working_directory(&self) -> &str {
        &self.scope.grant.source.cwd
    }

    /// The trees, the same on every call. The other operations refer to a tree by its index.
    ///
    /// A granted single file appears as its directory with only that file in it, and a granted path that does not
    /// exist yet as its nearest existing parent.
    pub fn roots(&mut self) -> impl ExactSizeIterator<Item = Root> + '_ {
        self.open();
        self.trees.iter().map(|tree| Root {
            path: tree.path().to_owned(),
            access: tree.access,
        })
    }

    /// The index of the tree with this path, if there is one.
    #[must_use]
    pub fn tree_of(&mut self, path: &str) -> Option<usize> {
        self.open();
        self.trees.iter().position(|tree| tree.path() == path)
    }

    /// Whether the call has read something of a file, or has written it, by this absolute path.
    #[must_use]
    pub fn has_handled(&self, path: &str) -> bool {
        self.handled.has(path)
    }

    /// The refusals so far.
    #[must_use]
    pub fn refusals(&self) -> &[Refusal] {
        self.scope.refusals()
    }

    /// Opens the granted paths exactly as they were checked, without following links.
    fn open(&mut self) {
        if self.opened {
            return;
        }
        self.opened = true;
        let grant = Arc::clone(&self.scope.grant);
        let mut opened = Vec::new();
        for root in &grant.source.roots {
            match self.scope.open(&root.path) {
                Ok(deepest) => {
                    self.scope.add_area(&root.path, root.access);
                    opened.push((deepest, root.access));
                }
                Err(reason) => self.scope.refuse(&root.path, reason),
            }
        }
        for (Deepest { dir, path }, access) in opened {
            let path = slashed(&path).into_owned();
            match self.trees.iter_mut().find(|tree| tree.path() == path) {
                Some(known) => known.access = known.access.max(access),
                None => self.trees.push(Tree::new(dir, path, access, &self.scope)),
            }
        }
    }

    pub(super) fn tree(&mut self, root: usize) -> Result<(&mut Tree, &mut Scope), FsError> {
        self.open();
        let tree = self.trees.get_mut(root).ok_or(FsError::NotFound)?;
        Ok((tree, &mut self.scope))
    }
}
