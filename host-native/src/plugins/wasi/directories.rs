//! Paths below an open directory, and what happens to names in it.

use super::{
    bindings::wasi::filesystem::types::ErrorCode,
    open_files::{most_held, read_whole},
    place::Place,
};
use crate::{
    files::{EntryKind, FsError, MAX_PATH, WriteOptions},
    plugins::call_state::CallState,
};

impl Place {
    /// A place below this directory. `..` is worked out by name and does not lead out of the granted directory.
    pub(super) fn below(&self, path: &str) -> Result<Self, ErrorCode> {
        // Before it is taken apart, which takes more memory than the path.
        if path.len() > MAX_PATH {
            return Err(ErrorCode::NameTooLong);
        }
        if path.is_empty() || path.starts_with('/') {
            return Err(ErrorCode::NoEntry);
        }
        let mut names: Vec<&str> = self
            .path
            .split('/')
            .filter(|name| !name.is_empty())
            .collect();
        let mut wants_directory = false;
        for name in path.split('/') {
            wants_directory = matches!(name, "" | "." | "..");
            match name {
                "" | "." => {}
                ".." => {
                    names.pop().ok_or(ErrorCode::NoEntry)?;
                }
                name => names.push(name),
            }
        }
        let mut path = names.join("/");
        if wants_directory && !path.is_empty() {
            // Only a directory matches then.
            path.push('/');
        }
        Ok(Self {
            tree: self.tree,
            path,
        })
    }
}

impl CallState {
    /// Removes a file or a link, but no directory.
    pub(super) fn unlink(&mut self, place: &Place) -> Result<(), ErrorCode> {
        let stat = self.call.reach.stat_name(place.tree, &place.path)?;
        if stat.kind == EntryKind::Directory {
            return Err(ErrorCode::IsDirectory);
        }
        self.call.reach.remove(place.tree, &place.path)?;
        self.call.files.removed(place);
        Ok(())
    }

    /// Removes an empty directory.
    pub(super) fn remove_directory(&mut self, place: &Place) -> Result<(), ErrorCode> {
        let stat = self.call.reach.stat_name(place.tree, &place.path)?;
        if stat.kind != EntryKind::Directory {
            return Err(ErrorCode::NotDirectory);
        }
        match self.call.reach.remove(place.tree, &place.path) {
            Err(FsError::Exists) => Err(ErrorCode::NotEmpty),
            done => Ok(done?),
        }
    }

    /// Moves a file: it is written at the new place in one step, and then removed at the old one. Directories, links and files
    /// that are too large for it are told to lie on another device, so that whoever moves them copies them; so is a link at the new
    /// place. Where both are names of one file, nothing is done.
    pub(super) fn rename(&mut self, from: &Place, to: &Place) -> Result<(), ErrorCode> {
        let stat = self.call.reach.stat_name(from.tree, &from.path)?;
        // Before anything is written: what may not be removed is not moved.
        if stat.kind != EntryKind::File || stat.size > most_held() {
            return Err(ErrorCode::CrossDevice);
        }
        self.call.reach.may_write(from.tree, &from.path)?;
        if from == to {
            return Ok(());
        }
        match self.call.reach.stat_name(to.tree, &to.path) {
            // It would be written through, and may lead to the file itself.
            Ok(there) if there.kind == EntryKind::Symlink => return Err(ErrorCode::CrossDevice),
            // Another name of the same file: POSIX does nothing then, and both names stay.
            Ok(_)
                if self
                    .call
                    .reach
                    .is_same_file((from.tree, &from.path), (to.tree, &to.path))? =>
            {
                return Ok(());
            }
            _ => {}
        }
        let content = read_whole(from, most_held(), &mut self.call.reach)?;
        let options = WriteOptions::default();
        self.call
            .reach
            .write(to.tree, &to.path, &content, &options)?;
        self.call.files.removed(to);
        self.call.reach.remove(from.tree, &from.path)?;
        self.call.files.moved(from, to);
        Ok(())
    }
}
