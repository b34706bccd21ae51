//! The operations at a path: metadata, reading, listing, creating directories, removing. For writing see `write.rs`.

use std::{
    io::{Read, Seek, SeekFrom},
    sync::Arc,
};

use cap_std::fs::File;

use super::{
    FsError, MAX_READ, PAGE_ENTRIES,
    guest_path::GuestPath,
    metadata::{EntryKind, Page, Stat, kind_of, stat_of},
    other_names::Identity,
    reach::Reach,
    tree::open_for_reading,
    walk::Target,
};

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
                spot.check_open()?;
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

    /// The metadata of a path; a link is not followed if it is the last name of it.
    ///
    /// # Errors
    /// [`FsError`]; denied and missing are indistinguishable.
    pub fn stat_name(&mut self, root: usize, path: &str) -> Result<Stat, FsError> {
        let parsed = GuestPath::parse(path)?;
        if parsed.names.is_empty() || parsed.wants_directory {
            return self.stat(root, path);
        }
        let (tree, scope) = self.tree(root)?;
        tree.at_name(scope, &parsed, false, |spot| {
            spot.check_open()?;
            let stat = stat_of(&spot.node.dir.symlink_metadata(&spot.name)?);
            match spot.permit.transit && stat.kind != EntryKind::Directory {
                true => Err(FsError::NotFound),
                false => Ok(stat),
            }
        })
    }

    /// Whether two names, each of a tree and a path in it, are names of one file. Links are not followed.
    ///
    /// # Errors
    /// [`FsError`]; denied and missing are indistinguishable.
    pub(crate) fn is_same_file(
        &mut self,
        one: (usize, &str),
        other: (usize, &str),
    ) -> Result<bool, FsError> {
        Ok(self.identity(one)? == self.identity(other)?)
    }

    fn identity(&mut self, (root, path): (usize, &str)) -> Result<Identity, FsError> {
        let (tree, scope) = self.tree(root)?;
        let parsed = GuestPath::parse(path)?;
        tree.at_name(scope, &parsed, false, |spot| {
            spot.check_open()?;
            Ok(Identity::of(&spot.node.dir.symlink_metadata(&spot.name)?))
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
        let parsed = GuestPath::parse(path)?;
        let (tree, scope) = self.tree(root)?;
        let known = tree.reading.take().filter(|(p, _)| offset > 0 && p == path);
        let mut file = if let Some((_, file)) = known {
            file
        } else {
            let file = tree.at(scope, &parsed, false, open_for_reading)?;
            scope.check_other_names(&tree.base.child_path(path), &file)?;
            file
        };
        if offset > 0 {
            file.seek(SeekFrom::Start(offset))?;
        }
        let bytes = read_part(&mut file, offset, max)?;
        tree.reading = Some((path.to_owned(), file));
        // Asking for nothing, or for what is behind the end, is not reading. An empty file is read by finding that out.
        if !bytes.is_empty() || (offset == 0 && max > 0) {
            let path = tree.named(&parsed);
            self.handled.add(path);
        }
        Ok(bytes)
    }

    /// A page of a directory's entries, sorted by name. Denied entries are left out, and so are names that are not
    /// UTF-8, which a component could not use.
    ///
    /// # Errors
    /// [`FsError`]; [`FsError::TooLarge`] beyond [`MAX_ENTRIES`](super::MAX_ENTRIES) entries.
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
        let entries = page
            .iter()
            .filter_map(|n| n.entry(&node.dir, details, scope));
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
