//! Writes files atomically.

use std::{
    io::{self, Read, Write},
    sync::atomic::{AtomicU32, Ordering},
};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};
use sha2::{Digest, Sha256};

use super::{
    FsError,
    guest_path::GuestPath,
    reach::Reach,
    tree::open_for_reading,
    walk::{Spot, Target},
};

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

impl Reach {
    /// Replaces a file: readers see the old or the new content, never a part. A link is followed and its target
    /// replaced; the permissions of a replaced file are kept.
    ///
    /// # Errors
    /// [`FsError`]; the old content is unchanged then.
    pub fn write(
        &mut self,
        root: usize,
        path: &str,
        data: &[u8],
        options: &WriteOptions,
    ) -> Result<(), FsError> {
        let (tree, scope) = self.tree(root)?;
        let parsed = GuestPath::parse(path)?;
        tree.forget();
        let named = tree.named(&parsed);
        let written = if options.create_new {
            // As with `O_EXCL`, a link counts as existing, wherever it points.
            tree.at_name(scope, &parsed, options.create_parents, |spot| {
                may_write(spot)?;
                if spot.node.dir.symlink_metadata(&spot.name).is_ok() {
                    return Err(FsError::Exists);
                }
                put(spot, data, None, true)
            })
        } else {
            tree.at(scope, &parsed, options.create_parents, |target| {
                let Target::Leaf(spot) = target else {
                    return Err(FsError::IsDirectory);
                };
                replace(target, spot, data, options.expected_digest.as_deref())
            })
        };
        if written.is_ok() {
            self.handled.add(named);
        }
        written
    }

    /// Whether [`write`](Self::write) may replace a file, or create it. Changes nothing.
    ///
    /// # Errors
    /// [`FsError`]: why not.
    pub fn may_write(&mut self, root: usize, path: &str) -> Result<(), FsError> {
        let (tree, scope) = self.tree(root)?;
        let parsed = GuestPath::parse(path)?;
        tree.at(scope, &parsed, false, |target| match target {
            Target::Leaf(spot) => {
                replaceable(spot)?;
                may_write(spot)
            }
            Target::Directory(_) => Err(FsError::IsDirectory),
        })
    }
}

fn replace(
    target: &Target,
    spot: &Spot,
    data: &[u8],
    expected: Option<&str>,
) -> Result<(), FsError> {
    let existing = replaceable(spot)?;
    may_write(spot)?;
    if let Some(expected) = expected
        && (existing.is_none() || spot.is_closed || digest(target)? != expected)
    {
        return Err(FsError::Changed);
    }
    put(spot, data, existing.map(|m| m.permissions()), false)
}

/// What is at a name, if it is a regular file or nothing.
fn replaceable(spot: &Spot) -> Result<Option<Metadata>, FsError> {
    let existing = match spot.node.dir.symlink_metadata(&spot.name) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(metadata) = &existing {
        if metadata.is_dir() {
            return Err(FsError::IsDirectory);
        }
        // This includes links; the error makes the caller follow them.
        if !metadata.is_file() {
            return Err(FsError::Invalid);
        }
    }
    Ok(existing)
}

fn may_write(spot: &Spot) -> Result<(), FsError> {
    if spot.permit.write {
        Ok(())
    } else if spot.permit.transit {
        Err(FsError::NotFound)
    } else {
        Err(FsError::ReadOnly)
    }
}

/// Writes a temporary file in the same directory and renames it.
fn put(
    spot: &Spot,
    data: &[u8],
    permissions: Option<Permissions>,
    create_new: bool,
) -> Result<(), FsError> {
    let dir = &spot.node.dir;
    let beside = write_beside(dir, data, permissions)?;
    let moved = if create_new {
        move_to_free_name(dir, &beside, &spot.name)
    } else {
        dir.rename(&beside, dir, &spot.name)
    };
    if moved.is_err() {
        // The first error is reported; at worst, a temporary file is left.
        let _ = dir.remove_file(&beside);
    }
    Ok(moved?)
}

/// Replaces a file in an open folder: readers see the old or the new content. A link is replaced, not its target. The
/// data is synced to the disk; the permissions of a replaced file are kept.
///
/// # Errors
/// The error of the operating system; the old content is unchanged then.
pub(crate) fn replace_in(dir: &Dir, name: &str, data: &[u8]) -> io::Result<()> {
    let existing = dir.symlink_metadata(name).ok().filter(Metadata::is_file);
    let beside = write_beside(dir, data, existing.map(|found| found.permissions()))?;
    let moved = dir
        .open(&beside)
        .and_then(|file| file.sync_all())
        .and_then(|()| dir.rename(&beside, dir, name));
    if moved.is_err() {
        // As above.
        let _ = dir.remove_file(&beside);
    }
    moved
}

/// Renames a file only if the target name is free; atomic on file systems with hard links.
fn move_to_free_name(dir: &Dir, from: &str, to: &str) -> io::Result<()> {
    match dir.hard_link(from, dir, to) {
        Ok(()) => dir.remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if dir.symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => dir.rename(from, dir, to),
    }
}

/// A complete temporary file with the data.
fn write_beside(dir: &Dir, data: &[u8], permissions: Option<Permissions>) -> io::Result<String> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create_new(true)
        .follow(FollowSymlinks::No);
    if permissions.is_some() {
        // A file that was closed to others must not be open to them even briefly.
        crate::os::owner_only(&mut options);
    }
    let (name, mut file) = loop {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".windlass-{}-{count}.tmp", std::process::id());
        match dir.open_with(&name, &options) {
            Ok(file) => break (name, file),
            // Left over by an earlier process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    };
    let written = file.write_all(data).and_then(|()| match permissions {
        Some(permissions) => file.set_permissions(permissions),
        None => Ok(()),
    });
    if let Err(error) = written {
        // As above: the error of the write is reported.
        let _ = dir.remove_file(&name);
        return Err(error);
    }
    Ok(name)
}

/// The digest of a file's content, as used in observations.
fn digest(target: &Target) -> Result<String, FsError> {
    Ok(digest_of(open_for_reading(target)?)?)
}

/// The digest of a reader's content, as used in observations.
pub(crate) fn digest_of(mut file: impl Read) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut part = vec![0; 64 << 10];
    loop {
        match file.read(&mut part)? {
            0 => break,
            n => hash.update(&part[..n]),
        }
    }
    Ok(format!("sha256:{:x}", hash.finalize()))
}
