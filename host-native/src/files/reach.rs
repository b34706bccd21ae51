//! What one call may access, and the file operations for a component.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::File;
use windlass_core::tool::Access;

use super::{
    FsError,
    exact::{Deepest, deepest_directory},
    grant::{Grant, is_within, slashed},
    other_names::{ClosedFiles, Identity},
    tree::Tree,
};

/// The maximum number of refusals recorded per call, to bound memory.
const MAX_REFUSALS: usize = 64;

/// The directory trees that one call may access. Created by [`super::Files::reach`], dropped with the call.
///
/// Directories are opened on first use.
#[derive(Debug)]
pub struct Reach {
    pub(super) scope: Scope,
    pub(super) trees: Vec<Tree>,
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

/// Metadata of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stat {
    /// The kind; links are followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in milliseconds since 1970, with fraction; 0 if unknown.
    pub modified: f64,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

/// A directory entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The kind; links are not followed.
    pub kind: EntryKind,
    /// Size in bytes; 0 unless details were requested.
    pub size: u64,
    /// Modification time in milliseconds since 1970; 0 unless details were requested.
    pub modified: f64,
}

/// A part of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Entries sorted by name.
    pub entries: Vec<Entry>,
    /// The cursor for the next page; `None` on the last page.
    pub next: Option<u32>,
}

/// Options for writing a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Replace the file only if its content has this digest (`sha256:<hex>`).
    pub expected_digest: Option<String>,
    /// Fail instead of replacing.
    pub create_new: bool,
    /// Create missing parent directories.
    pub create_parents: bool,
}

/// A refused operation: for the host's log, never for the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The absolute path.
    pub path: String,
    /// The reason.
    pub reason: &'static str,
}

impl Reach {
    pub(super) fn new(grant: Arc<Grant>) -> Self {
        Self {
            scope: Scope {
                grant,
                areas: Vec::new(),
                closed_files: OnceCell::new(),
                refusals: Vec::new(),
            },
            trees: Vec::new(),
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

    /// The refusals so far.
    #[must_use]
    pub fn refusals(&self) -> &[Refusal] {
        &self.scope.refusals
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
                    self.scope.areas.push(Area {
                        path: tidied(&root.path),
                        access: root.access,
                    });
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

/// A granted path; it need not exist.
#[derive(Debug)]
struct Area {
    path: String,
    access: Access,
}

/// A path without redundant slashes.
fn tidied(path: &str) -> String {
    slashed(&Path::new(path).components().collect::<PathBuf>()).into_owned()
}

/// Decides about paths: the granted areas, the deny patterns, and the recorded refusals.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) grant: Arc<Grant>,
    areas: Vec<Area>,
    /// Determined when the first file with several names is read.
    closed_files: OnceCell<ClosedFiles>,
    refusals: Vec<Refusal>,
}

/// The permitted operations at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Permit {
    /// Create, change, remove.
    pub(super) write: bool,
    /// Create a directory here, also on the path to something that may be written.
    pub(super) make: bool,
    /// A deny pattern forbids writing here and below.
    pub(super) frozen: bool,
    /// Only a parent of something granted; does not exist as a file.
    pub(super) transit: bool,
}

impl Scope {
    fn open(&self, granted: &str) -> Result<Deepest, &'static str> {
        if self.grant.denied_anywhere_above(granted) == Some(Access::Read) {
            return Err("it lies where nothing is handed out");
        }
        deepest_directory(Path::new(granted))
    }

    /// Checks a path whose parent was checked before.
    pub(super) fn permit(&mut self, path: &str, frozen_above: bool) -> Result<Permit, FsError> {
        let denied = self.grant.denied(path);
        if denied == Some(Access::Read) {
            self.refuse(path, "a deny rule closes it");
            return Err(FsError::NotFound);
        }
        let frozen = frozen_above || denied == Some(Access::Write);
        let granted = self.granted(path).ok_or_else(|| {
            self.refuse(path, "it is outside what was granted");
            FsError::NotFound
        })?;
        Ok(Permit {
            write: granted.write && !frozen,
            make: granted.make && !frozen,
            frozen,
            transit: granted.transit,
        })
    }

    /// Whether a name appears in a listing: the same check without recording a refusal.
    pub(super) fn shows(&self, path: &str) -> bool {
        self.grant.denied(path) != Some(Access::Read) && self.granted(path).is_some()
    }

    /// Checks an opened file by its identity: one of its other names may be denied.
    pub(super) fn check_other_names(&mut self, path: &str, file: &File) -> Result<(), FsError> {
        if self.grant.beginnings_of_closed().next().is_none() {
            return Ok(());
        }
        let Some(file) = Identity::of_several_names(&file.metadata()?) else {
            return Ok(());
        };
        let closed = self.closed_files.get_or_init(|| {
            let granted: Vec<&str> = self.areas.iter().map(|area| area.path.as_str()).collect();
            ClosedFiles::find(&self.grant, &granted)
        });
        if closed.has(file) {
            self.refuse(path, "a deny rule closes the file under another name");
            return Err(FsError::NotFound);
        }
        Ok(())
    }

    /// What the areas grant at a path, before deny patterns.
    fn granted(&self, path: &str) -> Option<Permit> {
        let mut found: Option<Permit> = None;
        for area in &self.areas {
            let within = is_within(path, &area.path);
            if !within && !is_within(&area.path, path) {
                continue;
            }
            let permit = found.get_or_insert(Permit {
                write: false,
                make: false,
                frozen: false,
                transit: true,
            });
            let writes = area.access == Access::Write;
            permit.transit &= !within;
            permit.make |= writes;
            permit.write |= writes && within;
        }
        found
    }

    pub(super) fn refuse(&mut self, path: &str, reason: &'static str) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(Refusal {
                path: path.to_owned(),
                reason,
            });
        }
    }
}
