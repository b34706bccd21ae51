//! Reads, lists and removes in one directory tree.

use std::{
    io::{Read, Seek, SeekFrom},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};
use windlass_core::tool::Access;

use super::{
    Entry, EntryKind, FsError, MAX_ENTRIES, MAX_READ, PAGE_ENTRIES, Page, Reach, Stat,
    guest_path::GuestPath,
    reach::Scope,
    walk::{Ground, Node, Spot, Target, Walk},
};

/// A directory tree of a call, opened once.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) access: Access,
    base: Arc<Node>,
    /// Where the last walk ended, since consecutive paths are often close together.
    cursor: Option<Arc<Node>>,
    /// The file read last, so that consecutive reads see the same content.
    reading: Option<(String, File)>,
    /// The directory listed last, so that its pages are consistent.
    listing: Option<(String, Vec<Name>)>,
}

#[derive(Debug)]
struct Name {
    name: String,
    kind: EntryKind,
}

impl Reach {
    /// The metadata of a path; links are followed.
    ///
    /// # Errors
    /// [`FsError`]; denied and missing are indistinguishable.
    pub fn stat(&mut self, root: usize, path: &str) -> Result<Stat, FsError> {
        let (tree, scope) = self.tree(root)?;
        let path = GuestPath::parse(path)?;
        tree.at(scope, &path, false, |target| match target {
            Target::Directory(node) => Ok(stat_of(&node.dir.dir_metadata()?)),
            Target::Leaf(spot) => {
                let metadata = spot.node.dir.symlink_metadata(&spot.name)?;
                match kind_of(metadata.file_type()) {
                    // The link's target is looked up next.
                    EntryKind::Symlink => Err(FsError::NotFound),
                    kind if spot.permit.transit && kind != EntryKind::Directory => {
                        Err(FsError::NotFound)
                    }
                    _ => Ok(stat_of(&metadata)),
                }
            }
        })
    }

    /// At most `max` bytes of a file from `offset`; fewer only at its end.
    ///
    /// # Errors
    /// [`FsError`]; [`FsError::TooLarge`] if more than [`MAX_READ`] bytes would have to be returned.
    pub fn read(
        &mut self,
        root: usize,
        path: &str,
        offset: u64,
        max: u32,
    ) -> Result<Vec<u8>, FsError> {
        let (tree, scope) = self.tree(root)?;
        let known = tree.reading.take().filter(|(p, _)| offset > 0 && p == path);
        let mut file = if let Some((_, file)) = known {
            file
        } else {
            let parsed = GuestPath::parse(path)?;
            let file = tree.at(scope, &parsed, false, open_for_reading)?;
            scope.check_other_names(&tree.base.child_path(path), &file)?;
            file
        };
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let bytes = read_part(&mut file, offset, max)?;
        tree.reading = Some((path.to_owned(), file));
        Ok(bytes)
    }

    /// A page of a directory's entries, sorted by name. Denied entries are left out, and so are names that are not
    /// UTF-8, which a component could not use.
    ///
    /// # Errors
    /// [`FsError`]; [`FsError::TooLarge`] beyond [`MAX_ENTRIES`] entries.
    pub fn list(
        &mut self,
        root: usize,
        path: &str,
        cursor: Option<u32>,
        details: bool,
    ) -> Result<Page, FsError> {
        let (tree, scope) = self.tree(root)?;
        let mut parsed = GuestPath::parse(path)?;
        parsed.wants_directory = true;
        let node = tree.at(scope, &parsed, false, |target| match target {
            Target::Directory(node) => Ok(Arc::clone(node)),
            Target::Leaf(_) => Err(FsError::NotDirectory),
        })?;
        let known = tree.listing.take();
        let names = match known {
            Some((p, names)) if cursor.is_some() && p == path => names,
            _ => tree.names(scope, &node)?,
        };
        let first = cursor.map_or(Some(0), |c| usize::try_from(c).ok());
        let rest = first.and_then(|f| names.get(f..)).unwrap_or_default();
        let page = &rest[..rest.len().min(PAGE_ENTRIES)];
        let entries = page.iter().filter_map(|n| n.entry(&node.dir, details));
        let entries = entries.collect();
        let end = names.len() - rest.len() + page.len();
        let next = (end < names.len()).then(|| u32::try_from(end).unwrap_or(u32::MAX));
        tree.listing = next.map(|_| (path.to_owned(), names));
        Ok(Page { entries, next })
    }

    /// Creates a directory; its parent must exist.
    ///
    /// # Errors
    /// [`FsError`]; [`FsError::Exists`] if the path exists.
    pub fn create_directory(&mut self, root: usize, path: &str) -> Result<(), FsError> {
        let (tree, scope) = self.tree(root)?;
        let mut parsed = GuestPath::parse(path)?;
        // `new/` names a directory that does not exist yet.
        parsed.wants_directory = false;
        tree.at_name(scope, &parsed, false, |spot| {
            if !spot.permit.make {
                return Err(FsError::ReadOnly);
            }
            Ok(spot.node.dir.create_dir(&spot.name)?)
        })
    }

    /// Removes a file, a link (not its target) or an empty directory.
    ///
    /// # Errors
    /// [`FsError`]; [`FsError::Exists`] for a directory that is not empty.
    pub fn remove(&mut self, root: usize, path: &str) -> Result<(), FsError> {
        let (tree, scope) = self.tree(root)?;
        let mut parsed = GuestPath::parse(path)?;
        let wants_directory = std::mem::take(&mut parsed.wants_directory);
        tree.forget();
        tree.at_name(scope, &parsed, false, |spot| {
            let file_type = spot.node.dir.symlink_metadata(&spot.name)?.file_type();
            match (spot.permit.write, file_type.is_dir()) {
                (false, _) if spot.permit.transit => Err(FsError::NotFound),
                (false, _) => Err(FsError::ReadOnly),
                (true, true) => Ok(spot.node.dir.remove_dir(&spot.name)?),
                (true, false) if wants_directory => Err(FsError::NotDirectory),
                (true, false) => Ok(spot.node.dir.remove_file(&spot.name)?),
            }
        })
    }
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
            Target::Leaf(spot) => act(&spot),
            // The root of a tree itself cannot be changed.
            Target::Directory(_) => Err(FsError::Invalid),
        }
    }

    /// The visible names of a directory, sorted.
    fn names(&self, scope: &mut Scope, node: &Node) -> Result<Vec<Name>, FsError> {
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

impl Name {
    /// The entry; `None` if details were requested and it no longer exists.
    fn entry(&self, dir: &Dir, details: bool) -> Option<Entry> {
        let stat = if details {
            stat_of(&dir.symlink_metadata(&self.name).ok()?)
        } else {
            Stat {
                kind: self.kind,
                size: 0,
                modified: 0.0,
            }
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
        Ok(file)
    }
}

fn read_part(file: &mut File, offset: u64, max: u32) -> Result<Vec<u8>, FsError> {
    let size = file.metadata()?.len();
    let wanted = match size {
        // Generated files (`/proc`) report size 0.
        0 => u64::from(max.min(MAX_READ)),
        _ => u64::from(max).min(size.saturating_sub(offset)),
    };
    if wanted > u64::from(MAX_READ) {
        return Err(FsError::TooLarge);
    }
    // The buffer is sized by the file, never by the request alone.
    let expected = wanted.min(size);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0));
    file.take(wanted).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn stat_of(metadata: &Metadata) -> Stat {
    let modified = metadata
        .modified()
        .ok()
        .map(cap_std::time::SystemTime::into_std);
    let since = modified.and_then(|t: SystemTime| t.duration_since(UNIX_EPOCH).ok());
    Stat {
        kind: kind_of(metadata.file_type()),
        size: metadata.len(),
        modified: since.map_or(0.0, |d| d.as_secs_f64() * 1000.0),
    }
}

fn kind_of(file_type: FileType) -> EntryKind {
    if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Other
    }
}
