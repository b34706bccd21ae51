//! The files that a call has open. What is written stays in memory until the file is synced, closed or looked at by its path, and
//! at the latest until the call ends: then the whole file is replaced in one step.

use std::collections::BTreeMap;

use super::{handles::FileId, place::Place};
use crate::files::{FsError, MAX_READ, Reach, WriteOptions};

/// How many bytes the files that are written have together at most.
const MAX_HELD: u64 = 64 << 20;

/// How many bytes one read gives at most; a shorter answer is usual for files.
const PIECE: u64 = 1 << 20;

/// A file that was written and cannot be kept. It ends the call, because closing a file has no answer.
#[derive(Debug, thiserror::Error)]
#[error("the file `{path}`, which it wrote, could not be kept: {source}")]
pub(super) struct NotKept {
    path: String,
    source: FsError,
}

/// The open files.
#[derive(Debug, Default)]
pub(in crate::plugins) struct OpenFiles {
    files: BTreeMap<FileId, OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    place: Place,
    /// Its content, from the first change on.
    content: Option<Vec<u8>>,
    changed: bool,
    /// Removed while it was open: nothing is kept any more.
    removed: bool,
    handles: u32,
}

impl OpenFiles {
    /// A file at a place, which exists; the one that is open there already, if there is one. A new one gets this number.
    pub(super) fn open(&mut self, place: Place, number: u64) -> FileId {
        let known = |(_, file): &(&FileId, &mut OpenFile)| !file.removed && file.place == place;
        if let Some((id, file)) = self.files.iter_mut().find(known) {
            file.handles += 1;
            return *id;
        }
        let id = FileId(number);
        let file = OpenFile {
            place,
            content: None,
            changed: false,
            removed: false,
            handles: 1,
        };
        self.files.insert(id, file);
        id
    }

    /// One more handle of an open file.
    pub(super) fn share(&mut self, id: FileId) {
        if let Some(file) = self.files.get_mut(&id) {
            file.handles += 1;
        }
    }

    /// A handle was dropped; with the last one, what was written is kept.
    pub(super) fn close(&mut self, id: FileId, reach: &mut Reach) -> Result<(), NotKept> {
        let Some(file) = self.files.get_mut(&id) else {
            return Ok(());
        };
        file.handles -= 1;
        if file.handles > 0 {
            return Ok(());
        }
        let kept = file.keep(reach);
        self.files.remove(&id);
        kept
    }

    /// Keeps what was written so far.
    pub(super) fn keep_all(&mut self, reach: &mut Reach) -> Result<(), NotKept> {
        self.files
            .values_mut()
            .try_for_each(|file| file.keep(reach))
    }

    /// The place of an open file.
    pub(super) fn place(&self, id: FileId) -> Result<&Place, FsError> {
        self.files
            .get(&id)
            .map(|file| &file.place)
            .ok_or(FsError::NotFound)
    }

    /// Bytes from a position; none at the end.
    pub(super) fn read(
        &self,
        id: FileId,
        at: u64,
        most: u64,
        reach: &mut Reach,
    ) -> Result<Vec<u8>, FsError> {
        let file = self.files.get(&id).ok_or(FsError::NotFound)?;
        let most = most.min(PIECE);
        let Some(content) = &file.content else {
            let most = u32::try_from(most).unwrap_or(MAX_READ);
            return reach.read(file.place.tree, &file.place.path, at, most);
        };
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(content.len());
        let rest = &content[from..];
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(rest[..rest.len().min(most)].to_vec())
    }

    /// The size of what was written and is not kept yet.
    pub(super) fn held_size(&self, id: FileId) -> Option<u64> {
        let content = self.files.get(&id)?.content.as_ref()?;
        u64::try_from(content.len()).ok()
    }

    /// Puts bytes at a position, or at the end without one; returns the position after them.
    pub(super) fn write(
        &mut self,
        id: FileId,
        at: Option<u64>,
        bytes: &[u8],
        reach: &mut Reach,
    ) -> Result<u64, FsError> {
        let added = u64::try_from(bytes.len()).map_err(|_| FsError::TooLarge)?;
        let held = self.held_by_others(id);
        let content = self.content(id, reach)?;
        let size = u64::try_from(content.len()).map_err(|_| FsError::TooLarge)?;
        let at = at.unwrap_or(size);
        let end = at.checked_add(added).ok_or(FsError::TooLarge)?;
        // A position far beyond the end would make a file as large as the guest likes.
        if end.max(size).saturating_add(held) > MAX_HELD {
            return Err(FsError::TooLarge);
        }
        let (from, to) = (index(at)?, index(end)?);
        if content.len() < to {
            content.resize(to, 0);
        }
        content[from..to].copy_from_slice(bytes);
        Ok(end)
    }

    /// Cuts or lengthens a file.
    pub(super) fn set_size(
        &mut self,
        id: FileId,
        size: u64,
        reach: &mut Reach,
    ) -> Result<(), FsError> {
        if size.saturating_add(self.held_by_others(id)) > MAX_HELD {
            return Err(FsError::TooLarge);
        }
        let size = index(size)?;
        if size == 0 {
            // What is thrown away need not be read first.
            let file = self.files.get_mut(&id).ok_or(FsError::NotFound)?;
            file.content = Some(Vec::new());
            file.changed = true;
            return Ok(());
        }
        self.content(id, reach)?.resize(size, 0);
        Ok(())
    }

    /// A file was removed: handles of it lead nowhere.
    pub(super) fn removed(&mut self, place: &Place) {
        for file in self.files.values_mut().filter(|file| file.place == *place) {
            file.removed = true;
        }
    }

    /// A file was moved: handles of it follow.
    pub(super) fn moved(&mut self, from: &Place, to: &Place) {
        let of_it = |file: &&mut OpenFile| !file.removed && file.place == *from;
        for file in self.files.values_mut().filter(of_it) {
            file.place = to.clone();
        }
    }

    fn held_by_others(&self, id: FileId) -> u64 {
        let others = self.files.iter().filter(|(other, _)| **other != id);
        let sizes = others.filter_map(|(_, file)| Some(file.content.as_ref()?.len()));
        u64::try_from(sizes.sum::<usize>()).unwrap_or(u64::MAX)
    }

    /// The content of a file, to be changed.
    fn content(&mut self, id: FileId, reach: &mut Reach) -> Result<&mut Vec<u8>, FsError> {
        let held = self.held_by_others(id);
        let file = self.files.get_mut(&id).ok_or(FsError::NotFound)?;
        if file.content.is_none() {
            let whole = read_whole(&file.place, MAX_HELD.saturating_sub(held), reach)?;
            file.content = Some(whole);
        }
        file.changed = true;
        file.content.as_mut().ok_or(FsError::Io)
    }
}

impl OpenFile {
    fn keep(&mut self, reach: &mut Reach) -> Result<(), NotKept> {
        let Some(content) = self
            .content
            .as_ref()
            .filter(|_| self.changed && !self.removed)
        else {
            return Ok(());
        };
        let place = &self.place;
        reach
            .write(place.tree, &place.path, content, &WriteOptions::default())
            .map_err(|source| NotKept {
                path: place.path.clone(),
                source,
            })?;
        self.changed = false;
        Ok(())
    }
}

/// The content of a file of at most so many bytes.
pub(super) fn read_whole(place: &Place, most: u64, reach: &mut Reach) -> Result<Vec<u8>, FsError> {
    let size = reach.stat(place.tree, &place.path)?.size;
    if size > most {
        return Err(FsError::TooLarge);
    }
    let mut whole = Vec::new();
    loop {
        let at = u64::try_from(whole.len()).map_err(|_| FsError::TooLarge)?;
        let piece = reach.read(place.tree, &place.path, at, MAX_READ)?;
        if at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX)) > most {
            return Err(FsError::TooLarge);
        }
        whole.extend_from_slice(&piece);
        if piece.len() < usize::try_from(MAX_READ).unwrap_or(usize::MAX) {
            return Ok(whole);
        }
    }
}

/// The most that files which are written have together.
pub(super) const fn most_held() -> u64 {
    MAX_HELD
}

fn index(size: u64) -> Result<usize, FsError> {
    usize::try_from(size).map_err(|_| FsError::TooLarge)
}
