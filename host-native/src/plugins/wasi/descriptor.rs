//! Opening files and directories, and what is told of them.

use std::{sync::Arc, time::Duration};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Resource;

use super::{
    bindings::wasi::{
        clocks::wall_clock::Datetime,
        filesystem::types::{
            DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue,
            OpenFlags,
        },
    },
    handles::{Descriptor, Directory, FileId},
    place::Place,
};
use crate::{
    files::{EntryKind, FsError, Reach, Stat, WriteOptions},
    plugins::call_state::CallState,
};

impl From<FsError> for ErrorCode {
    fn from(error: FsError) -> Self {
        match error {
            FsError::NotFound => Self::NoEntry,
            FsError::Exists => Self::Exist,
            FsError::NotDirectory => Self::NotDirectory,
            FsError::IsDirectory => Self::IsDirectory,
            FsError::ReadOnly => Self::ReadOnly,
            FsError::Invalid => Self::Invalid,
            FsError::TooLarge => Self::FileTooLarge,
            FsError::Changed => Self::Busy,
            FsError::Io => Self::Io,
        }
    }
}

impl CallState {
    /// The directory that a handle stands for, if this call was granted its tree.
    pub(super) fn directory(
        &mut self,
        handle: &Resource<Descriptor>,
    ) -> wasmtime::Result<Result<Place, ErrorCode>> {
        Ok(match self.instance.handles.get(handle)? {
            Descriptor::Directory(directory) => place_in(directory, &mut self.call.reach),
            Descriptor::File { .. } => Err(ErrorCode::NotDirectory),
        })
    }

    /// The file that a handle stands for, and whether it was opened for writing.
    pub(super) fn file(
        &self,
        handle: &Resource<Descriptor>,
    ) -> wasmtime::Result<Result<(FileId, bool), ErrorCode>> {
        Ok(match self.instance.handles.get(handle)? {
            Descriptor::File { id, writes } => Ok((*id, *writes)),
            Descriptor::Directory(_) => Err(ErrorCode::IsDirectory),
        })
    }

    /// Where what a handle stands for lies.
    pub(super) fn place_of(
        &mut self,
        handle: &Resource<Descriptor>,
    ) -> wasmtime::Result<Result<Place, ErrorCode>> {
        Ok(match self.instance.handles.get(handle)? {
            Descriptor::Directory(directory) => place_in(directory, &mut self.call.reach),
            Descriptor::File { id, .. } => {
                self.call.files.place(*id).cloned().map_err(ErrorCode::from)
            }
        })
    }

    /// Opens what is at a place. Whether it may be written is asked here, not when it is first written.
    pub(super) fn open(
        &mut self,
        place: Place,
        follows: bool,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Descriptor, ErrorCode> {
        let (tree, path) = (place.tree, place.path.as_str());
        let writes = flags.contains(DescriptorFlags::WRITE);
        let changes = writes || how.contains(OpenFlags::TRUNCATE);
        let must_be_new = how.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
        let mut found = self.call.reach.stat_name(tree, path);
        if matches!(found, Ok(stat) if stat.kind == EntryKind::Symlink) && !must_be_new {
            if !follows {
                return Err(ErrorCode::Loop);
            }
            found = self.call.reach.stat(tree, path);
        }
        match found.map(|stat| stat.kind) {
            Ok(_) if must_be_new => return Err(ErrorCode::Exist),
            Ok(EntryKind::Directory) if changes => return Err(ErrorCode::IsDirectory),
            Ok(EntryKind::Directory) => {
                let directory = Directory {
                    tree: self.tree_name(tree).ok_or(ErrorCode::NoEntry)?,
                    path: place.path,
                };
                return Ok(Descriptor::Directory(directory));
            }
            Ok(EntryKind::File) if how.contains(OpenFlags::DIRECTORY) => {
                return Err(ErrorCode::NotDirectory);
            }
            Ok(EntryKind::File) if changes => self.call.reach.may_write(tree, path)?,
            Ok(EntryKind::File) => {}
            Ok(EntryKind::Symlink | EntryKind::Other) => return Err(ErrorCode::Invalid),
            Err(FsError::NotFound)
                if how.contains(OpenFlags::CREATE) && !how.contains(OpenFlags::DIRECTORY) =>
            {
                let options = WriteOptions {
                    create_new: must_be_new,
                    ..WriteOptions::default()
                };
                self.call.reach.write(tree, path, &[], &options)?;
            }
            Err(error) => return Err(error.into()),
        }
        let number = self.instance.number();
        let id = self.call.files.open(place, number);
        if how.contains(OpenFlags::TRUNCATE) {
            self.call.files.set_size(id, 0, &mut self.call.reach)?;
        }
        Ok(Descriptor::File { id, writes })
    }

    /// The path of a directory tree that this call was granted.
    pub(super) fn tree_name(&mut self, tree: usize) -> Option<Arc<str>> {
        let root = self.call.reach.roots().nth(tree)?;
        Some(root.path.into())
    }

    /// What is told of an open file or directory.
    pub(super) fn stat_of(&mut self, descriptor: &Descriptor) -> Result<DescriptorStat, ErrorCode> {
        let (place, held) = match descriptor {
            Descriptor::Directory(directory) => (place_in(directory, &mut self.call.reach)?, None),
            Descriptor::File { id, .. } => {
                let files = &self.call.files;
                (files.place(*id)?.clone(), files.held_size(*id))
            }
        };
        let mut stat = self.call.reach.stat(place.tree, &place.path)?;
        stat.size = held.unwrap_or(stat.size);
        Ok(told(stat))
    }

    /// Tells files apart, by their paths. A link that leads nowhere is one, too, unless it is followed: C libraries ask for this of each
    /// name in a directory that they list.
    pub(super) fn hash_of(
        &mut self,
        place: &Place,
        follows: bool,
    ) -> Result<MetadataHashValue, ErrorCode> {
        match follows {
            true => self.call.reach.stat(place.tree, &place.path)?,
            false => self.call.reach.stat_name(place.tree, &place.path)?,
        };
        let root = self.tree_name(place.tree).ok_or(ErrorCode::NoEntry)?;
        let path = format!("{root}/{}", place.path.trim_end_matches('/'));
        let digest = Sha256::digest(path);
        let mut halves = digest.chunks_exact(8).map(|half| {
            half.iter()
                .fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
        });
        Ok(MetadataHashValue {
            lower: halves.next().unwrap_or_default(),
            upper: halves.next().unwrap_or_default(),
        })
    }
}

/// Where a directory lies in what a call was granted; nowhere, if its tree was not.
fn place_in(directory: &Directory, reach: &mut Reach) -> Result<Place, ErrorCode> {
    let tree = reach.tree_of(&directory.tree).ok_or(ErrorCode::NoEntry)?;
    Ok(Place {
        tree,
        path: directory.path.clone(),
    })
}

/// The metadata as WASI has it. Only the time of change is told.
pub(super) fn told(stat: Stat) -> DescriptorStat {
    // What is no time (before 1970, or not a number) is none.
    let modified = Duration::try_from_secs_f64(stat.modified / 1000.0);
    let modified = modified.ok().filter(|since| !since.is_zero());
    let modified = modified.map(|since| Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    });
    DescriptorStat {
        type_: kind(stat.kind),
        link_count: 1,
        size: stat.size,
        data_access_timestamp: modified,
        data_modification_timestamp: modified,
        status_change_timestamp: modified,
    }
}

pub(super) fn kind(kind: EntryKind) -> DescriptorType {
    match kind {
        EntryKind::File => DescriptorType::RegularFile,
        EntryKind::Directory => DescriptorType::Directory,
        EntryKind::Symlink => DescriptorType::SymbolicLink,
        EntryKind::Other => DescriptorType::Unknown,
    }
}
