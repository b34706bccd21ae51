//! A directory tree of a call: walks to a path in it, and the handles that are kept between operations.

use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions};
use windlass_core::tool::Access;

use super::{
    FsError, MAX_ENTRIES,
    guest_path::GuestPath,
    metadata::{Entry, EntryKind, Stat, kind_of, stat_of},
    scope::Scope,
    walk::{Ground, Node, Spot, Target, Walk},
};

/// A directory tree of a call, opened once.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) access: Access,
    pub(super) base: Arc<Node>,
    /// Where the last walk ended, since consecutive paths are often close together.
    cursor: Option<Arc<Node>>,
    /// The file read last, so that consecutive reads see the same content.
    pub(super) reading: Option<(String, File)>,
    /// The directory listed last, so that its pages are consistent.
    pub(super) listing: Option<(String, Vec<Name>)>,
}

/// A name in a directory, as it was when the directory was listed.
#[derive(Debug)]
pub(super) struct Name {
    name: String,
    kind: EntryKind,
}

impl Tree {
    pub(super) fn new(dir: Dir, path: String, access: Access, scope: &Scope) -> Self {
        let frozen = scope.grant.denied_anywhere_above(&path) == Some(Access::Write);
        Self {
            base: Node::base(dir, path, frozen),
            access,
            cursor: None,
            reading: None,
            listing: None,
        }
    }

    /// Its real path.
    pub(super) fn path(&self) -> &str {
        &self.base.path
    }

    /// The absolute path that a path in it has by name, whatever links it leads through.
    pub(super) fn named(&self, path: &GuestPath<'_>) -> String {
        self.base.child_path(&path.names.join("/"))
    }

    /// Drops handles that a change by this call may have made stale.
    pub(super) fn forget(&mut self) {
        self.cursor = None;
        self.reading = None;
        self.listing = None;
    }

    fn ground<'a>(&'a self, scope: &'a mut Scope) -> Ground<'a> {
        Ground {
            base: &self.base,
            scope,
        }
    }

    /// Walks to a path and runs an operation there; if it fails on a link, the link is followed.
    pub(super) fn at<T>(
        &mut self,
        scope: &mut Scope,
        path: &GuestPath<'_>,
        make_parents: bool,
        mut act: impl FnMut(&Target) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        let mut walk = Walk::start(&self.base, self.cursor.as_ref(), path, make_parents);
        let mut ground = self.ground(scope);
        let done = loop {
            let target = walk.advance(&mut ground)?;
            match (act(&target), &target) {
                (Err(error), Target::Leaf(spot)) if spot.is_closed => {
                    break Err(refused(ground.scope, spot, error));
                }
                (Err(_), Target::Leaf(spot)) if spot.node.has_link(&spot.name) => {
                    walk.follow(&mut ground, &spot.name)?;
                }
                (done, _) => break done,
            }
        };
        self.cursor = Some(Arc::clone(walk.reached()));
        done
    }

    /// Walks to a name and runs an operation on the name itself, without following a link.
    pub(super) fn at_name<T>(
        &mut self,
        scope: &mut Scope,
        path: &GuestPath<'_>,
        make_parents: bool,
        act: impl FnOnce(&Spot) -> Result<T, FsError>,
    ) -> Result<T, FsError> {
        let mut walk = Walk::start(&self.base, self.cursor.as_ref(), path, make_parents);
        let mut ground = self.ground(scope);
        match walk.advance(&mut ground)? {
            Target::Leaf(spot) => act(&spot).map_err(|error| match spot.is_closed {
                true => refused(ground.scope, &spot, error),
                false => error,
            }),
            // The root of a tree itself cannot be changed.
            Target::Directory(_) => Err(FsError::Invalid),
        }
    }

    /// The visible names of a directory, sorted.
    pub(super) fn names(&self, scope: &mut Scope, node: &Node) -> Result<Vec<Name>, FsError> {
        let ground = self.ground(scope);
        let mut names = Vec::new();
        for entry in node.dir.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if !ground.scope.shows(&node.child_path(&name)) {
                continue;
            }
            if names.len() == MAX_ENTRIES {
                return Err(FsError::TooLarge);
            }
            let kind = kind_of(entry.file_type()?);
            names.push(Name { name, kind });
        }
        names.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(names)
    }
}

/// Notes that an operation failed at a file that is closed under another name.
fn refused(scope: &mut Scope, spot: &Spot, error: FsError) -> FsError {
    scope.refuse_other_name(&spot.node.child_path(&spot.name));
    error
}

impl Name {
    /// The entry; `None` if it is a file that is closed under another name, or details were requested and it no longer exists.
    pub(super) fn entry(&self, dir: &Dir, details: bool, scope: &Scope) -> Option<Entry> {
        let may_be_closed = self.kind == EntryKind::File && scope.closes_anything();
        let metadata = match details || may_be_closed {
            true => dir.symlink_metadata(&self.name).ok(),
            false => None,
        };
        if (metadata.as_ref()).is_some_and(|it| may_be_closed && scope.is_closed_file(it)) {
            return None;
        }
        let stat = match details {
            true => stat_of(&metadata?),
            false => Stat {
                kind: self.kind,
                size: 0,
                modified: 0.0,
            },
        };
        Some(Entry {
            name: self.name.clone(),
            kind: stat.kind,
            size: stat.size,
            modified: stat.modified,
        })
    }
}

/// Opens a regular file, without blocking on anything else.
pub(super) fn open_for_reading(target: &Target) -> Result<File, FsError> {
    let spot = match target {
        Target::Leaf(spot) => spot,
        Target::Directory(_) => return Err(FsError::IsDirectory),
    };
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    crate::os::open_without_waiting(&mut options);
    let file = spot.node.dir.open_with(&spot.name, &options)?;
    let file_type = file.metadata()?.file_type();
    if file_type.is_dir() {
        Err(FsError::IsDirectory)
    } else if !file_type.is_file() {
        Err(FsError::Invalid)
    } else if spot.permit.transit {
        Err(FsError::NotFound)
    } else {
        spot.check_open()?;
        Ok(file)
    }
}
