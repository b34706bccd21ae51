//! Walks a path, one component at a time, from a directory handle.

use std::{io, sync::Arc};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use super::{
    FsError, MAX_DEPTH, MAX_LINKS,
    guest_path::GuestPath,
    path_text::is_within,
    scope::{Permit, Scope},
};

/// An open directory. Its real path is known, because every component was opened separately.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) dir: Dir,
    /// The real absolute path.
    pub(super) path: String,
    /// A deny pattern forbids writing here and below.
    pub(super) frozen: bool,
    parent: Option<Arc<Node>>,
    /// The number of folders between it and the base.
    depth: usize,
}

impl Node {
    pub(super) fn base(dir: Dir, path: String, frozen: bool) -> Arc<Self> {
        Arc::new(Self {
            dir,
            path,
            frozen,
            parent: None,
            depth: 0,
        })
    }

    /// The real path of a name in this directory.
    pub(super) fn child_path(&self, name: &str) -> String {
        let slash = if self.path.ends_with('/') { "" } else { "/" };
        format!("{}{slash}{name}", self.path)
    }

    /// Whether a name is a link.
    pub(super) fn has_link(&self, name: &str) -> bool {
        self.dir
            .symlink_metadata(name)
            .is_ok_and(|metadata| metadata.is_symlink())
    }
}

/// The end of a walk.
pub(super) enum Target {
    /// A directory, opened.
    Directory(Arc<Node>),
    /// A name that was checked and not yet accessed.
    Leaf(Spot),
}

/// A name in a directory, with the permitted operations.
pub(super) struct Spot {
    pub(super) node: Arc<Node>,
    pub(super) name: String,
    pub(super) permit: Permit,
    /// Whether a file lies there that is closed under another name. It can be replaced and removed, and nothing is said of it.
    pub(super) is_closed: bool,
}

impl Spot {
    /// # Errors
    /// [`FsError::NotFound`]: nothing is said of what lies there.
    pub(super) fn check_open(&self) -> Result<(), FsError> {
        match self.is_closed {
            true => Err(FsError::NotFound),
            false => Ok(()),
        }
    }
}

/// The tree that a walk must not leave.
pub(super) struct Ground<'a> {
    pub(super) base: &'a Arc<Node>,
    pub(super) scope: &'a mut Scope,
}

/// A walk in progress.
pub(super) struct Walk {
    node: Arc<Node>,
    /// The remaining components, the next one last.
    pending: Vec<String>,
    wants_directory: bool,
    make_parents: bool,
    links: usize,
}

impl Walk {
    /// Starts at the deepest directory shared with `cursor`'s path, else at the base.
    pub(super) fn start(
        base: &Arc<Node>,
        cursor: Option<&Arc<Node>>,
        path: &GuestPath<'_>,
        make_parents: bool,
    ) -> Self {
        let parents = match path.names.len() {
            n if path.wants_directory => n,
            n => n.saturating_sub(1),
        };
        let (node, done) = match cursor {
            Some(cursor) => shared_line(base, cursor, &path.names[..parents]),
            None => (Arc::clone(base), 0),
        };
        let pending = path.names[done..].iter().rev();
        Self {
            node,
            pending: pending.map(|&name| name.to_owned()).collect(),
            wants_directory: path.wants_directory,
            make_parents,
            links: 0,
        }
    }

    /// The directory reached so far, where the next walk may start.
    pub(super) fn reached(&self) -> &Arc<Node> {
        &self.node
    }

    /// Walks to the end of the remaining components.
    ///
    /// # Errors
    /// The refusal of a component on the path, or the error of the operating system.
    pub(super) fn advance(&mut self, ground: &mut Ground<'_>) -> Result<Target, FsError> {
        loop {
            let Some(name) = self.pending.pop() else {
                return Ok(Target::Directory(Arc::clone(&self.node)));
            };
            // Only link targets contain `..`; it is refused in a component's own path.
            if name == ".." {
                let parent = self.node.parent.clone();
                self.node = parent.ok_or_else(|| leads_out(ground, &self.node.path))?;
                continue;
            }
            let path = self.node.child_path(&name);
            let permit = ground.scope.permit(&path, self.node.frozen)?;
            if self.pending.is_empty() && !self.wants_directory {
                let lies_there = || self.node.dir.symlink_metadata(&name);
                let is_closed = ground.scope.closes_anything()
                    && lies_there().is_ok_and(|it| ground.scope.is_closed_file(&it));
                return Ok(Target::Leaf(Spot {
                    node: Arc::clone(&self.node),
                    name,
                    permit,
                    is_closed,
                }));
            }
            // Link targets can make the walk longer than the path.
            if self.node.depth == MAX_DEPTH {
                ground.scope.refuse(&path, "it lies too deep");
                return Err(FsError::NotFound);
            }
            match self.enter(&name, permit) {
                Ok(dir) => {
                    self.node = Arc::new(Node {
                        dir,
                        path,
                        frozen: permit.frozen,
                        parent: Some(Arc::clone(&self.node)),
                        depth: self.node.depth + 1,
                    });
                }
                Err(_) if self.node.has_link(&name) => self.follow(ground, &name)?,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Replaces a name in the reached directory by its link target.
    ///
    /// # Errors
    /// [`FsError::NotFound`] if the link leads out of the tree, or there are too many links.
    pub(super) fn follow(&mut self, ground: &mut Ground<'_>, name: &str) -> Result<(), FsError> {
        self.links += 1;
        let path = self.node.child_path(name);
        if self.links > MAX_LINKS {
            ground.scope.refuse(&path, "too many links on the way");
            return Err(FsError::NotFound);
        }
        let target = self.node.dir.read_link_contents(name)?;
        let target = target.to_str().ok_or(FsError::NotFound)?;
        let relative = if target.starts_with('/') {
            // An absolute link is followed if it points into the same tree.
            let base = ground.base.path.as_str();
            let below = is_within(target, base)
                .then(|| target.strip_prefix(base))
                .flatten();
            self.node = Arc::clone(ground.base);
            below.ok_or_else(|| leads_out(ground, &path))?
        } else {
            target
        };
        if self.pending.is_empty() {
            let ends_as_directory = relative.ends_with('/') || relative.ends_with("/.");
            self.wants_directory |= ends_as_directory;
        }
        let names = relative.split('/').rev();
        self.pending.extend(
            names
                .filter(|name| !matches!(*name, "" | "."))
                .map(str::to_owned),
        );
        Ok(())
    }

    /// Opens a directory that is not a link, and creates it if requested and missing.
    fn enter(&self, name: &str, permit: Permit) -> io::Result<Dir> {
        let opened = self.node.dir.open_dir_nofollow(name);
        match opened {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.make_parents && permit.make =>
            {
                match self.node.dir.create_dir(name) {
                    // If it was created concurrently, it exists.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    _ => self.node.dir.open_dir_nofollow(name),
                }
            }
            opened => opened,
        }
    }
}

fn leads_out(ground: &mut Ground<'_>, path: &str) -> FsError {
    ground.scope.refuse(path, "its link leads out of the tree");
    FsError::NotFound
}

/// The deepest directory at or above `cursor` that `names` pass through, and how many of them lead there.
fn shared_line(base: &Arc<Node>, cursor: &Arc<Node>, names: &[&str]) -> (Arc<Node>, usize) {
    let below = cursor.path.strip_prefix(base.path.as_str()).unwrap_or("");
    let depth = below.split('/').filter(|n| !n.is_empty()).count();
    let shared = below
        .split('/')
        .filter(|n| !n.is_empty())
        .zip(names)
        .take_while(|(a, b)| a == *b)
        .count();
    let mut node = cursor;
    for _ in shared..depth {
        match &node.parent {
            Some(parent) => node = parent,
            None => return (Arc::clone(base), 0),
        }
    }
    (Arc::clone(node), shared)
}
