//! File handles for the paths that a file command may change.

use std::{
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, OFlags, fstat},
    io::Errno,
};

use super::{
    FileCommandError,
    command::{FileCommand, Kind},
};
use crate::{
    bash::plan::{change::Change, open::without_links},
    files::normalised,
};

/// A file that a command names.
pub(super) struct Operand {
    /// The path that the program will open: absolute, not normalized.
    pub(super) written: PathBuf,
    /// The real path at the permission check.
    pub(super) real: PathBuf,
    /// Only its parent folder was checked.
    pub(super) is_entry: bool,
}

impl Operand {
    /// Whether its path is on the same file system as another one.
    pub(super) fn is_on_disk_of(&self, other: &Self) -> bool {
        let disk = |path: &Path| {
            let mut there = path.ancestors();
            there.find_map(|path| Some(path.symlink_metadata().ok()?.dev()))
        };
        disk(&self.written) == disk(&other.real)
    }

    fn moved(&self) -> FileCommandError {
        FileCommandError::Moved(self.written.clone().into())
    }
}

/// Collects the handles, opened one by one.
pub(super) struct Changes<'a> {
    pub(super) workspace: &'a [String],
    pub(super) handles: Vec<(OwnedFd, Change)>,
}

impl Changes<'_> {
    /// A file whose time stamp changes, or that is created.
    pub(super) fn add_touched(&mut self, operand: &Operand) -> Result<(), FileCommandError> {
        match std::fs::canonicalize(&operand.written) {
            Ok(real) if real.is_dir() => Ok(()),
            // A link found by a pattern.
            Ok(real) if operand.is_entry => self.add(operand, &real, Change::Write),
            Ok(real) if real == operand.real => self.add(operand, &real, Change::Write),
            Ok(_) => Err(operand.moved()),
            // For a dangling link, the link's target is created.
            Err(_) if operand.written.is_symlink() => match operand.real.parent() {
                Some(folder) => self.add(operand, folder, Change::MakeFiles),
                None => Err(operand.moved()),
            },
            Err(_) => self.add_folder_of(operand, Change::MakeFiles),
        }
    }

    /// The target of a copy or move.
    pub(super) fn add_target(
        &mut self,
        target: &Operand,
        command: &FileCommand<'_>,
        change: Change,
    ) -> Result<(), FileCommandError> {
        let Ok(real) = std::fs::canonicalize(&target.written) else {
            return self.add_folder_of(target, change);
        };
        let is_folder = real.is_dir();
        if is_folder && !command.has_letter(b'T') {
            return match real == target.real {
                true => self.add(target, &real, change),
                false => Err(target.moved()),
            };
        }
        if command.kind == Kind::Copy && !is_folder {
            if real != target.real {
                return Err(target.moved());
            }
            self.add(target, &real, Change::Write)?;
            // With options, it may be removed first and created again.
            if command.options.is_empty() {
                return Ok(());
            }
        }
        self.add_folder_of(target, change)
    }

    /// The folder that contains an entry: the nearest existing one.
    pub(super) fn add_folder_of(
        &mut self,
        operand: &Operand,
        change: Change,
    ) -> Result<(), FileCommandError> {
        // A path that ends in `..` names a folder itself.
        let names = usize::from(operand.written.file_name().is_some());
        let as_written = normalised(&operand.written);
        let judged = operand.real.ancestors().skip(names);
        let named = as_written.ancestors().skip(names);
        let mut folders = operand
            .written
            .ancestors()
            .skip(names)
            .zip(judged.zip(named));
        let found = folders.find_map(|(folder, judged)| {
            let real = std::fs::canonicalize(folder).ok()?;
            Some((real, judged))
        });
        match found {
            // A link as the last component leads elsewhere than its parent folder.
            Some((real, (judged, named))) if real == judged || real == named => {
                self.add(operand, &real, change)
            }
            _ => Err(operand.moved()),
        }
    }

    /// A file or folder in the workspace, opened without following a link.
    fn add(
        &mut self,
        operand: &Operand,
        real: &Path,
        change: Change,
    ) -> Result<(), FileCommandError> {
        if !self.workspace.iter().any(|root| real.starts_with(root)) {
            return Err(operand.moved());
        }
        let text = real.to_str().ok_or_else(|| operand.moved())?;
        let handle = match without_links(text, OFlags::PATH | OFlags::CLOEXEC) {
            // The program will report it.
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::LOOP) => return Err(operand.moved()),
            other => other.map_err(|errno| FileCommandError::Failed(errno.into()))?,
        };
        let mode = fstat(&handle)
            .map_err(|errno| FileCommandError::Failed(errno.into()))?
            .st_mode;
        let change = match FileType::from_raw_mode(mode) {
            FileType::Symlink => return Err(operand.moved()),
            FileType::Directory => change,
            // A file has no entries.
            _ => Change::Write,
        };
        self.handles.push((handle, change));
        Ok(())
    }
}
