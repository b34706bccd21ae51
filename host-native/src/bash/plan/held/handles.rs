//! Handles of what a plain file command may change.

use std::{
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, OFlags, fstat},
    io::Errno,
};

use super::{
    NotHeld,
    command::{FileCommand, Kind},
};
use crate::{
    bash::plan::{change::Change, open::without_links},
    files::normalised,
};

/// A file that a command names.
pub(super) struct Operand {
    /// As the program will open it: absolute, and nothing taken out.
    pub(super) written: PathBuf,
    /// Where that led when it was judged.
    pub(super) real: PathBuf,
    /// Only the folder in which it lies was judged.
    pub(super) is_entry: bool,
}

impl Operand {
    /// Whether it lies, or will lie, on the disk on which another does.
    pub(super) fn is_on_disk_of(&self, other: &Self) -> bool {
        let disk = |path: &Path| {
            let mut there = path.ancestors();
            there.find_map(|path| Some(path.symlink_metadata().ok()?.dev()))
        };
        disk(&self.written) == disk(&other.real)
    }

    fn moved(&self) -> NotHeld {
        NotHeld::Moved(self.written.clone().into())
    }
}

/// Handles that are opened one after the other.
pub(super) struct Changes<'a> {
    pub(super) workspace: &'a [String],
    pub(super) handles: Vec<(OwnedFd, Change)>,
}

impl Changes<'_> {
    /// A file that gets another time, or is made.
    pub(super) fn add_touched(&mut self, operand: &Operand) -> Result<(), NotHeld> {
        match std::fs::canonicalize(&operand.written) {
            Ok(real) if real.is_dir() => Ok(()),
            // Behind a link that a pattern has found.
            Ok(real) if operand.is_entry => self.add(operand, &real, Change::Write),
            Ok(real) if real == operand.real => self.add(operand, &real, Change::Write),
            Ok(_) => Err(operand.moved()),
            // Behind a link to nothing it is made where that leads.
            Err(_) if operand.written.is_symlink() => match operand.real.parent() {
                Some(folder) => self.add(operand, folder, Change::MakeFiles),
                None => Err(operand.moved()),
            },
            Err(_) => self.add_folder_of(operand, Change::MakeFiles),
        }
    }

    /// Where files are copied or moved to.
    pub(super) fn add_target(
        &mut self,
        target: &Operand,
        command: &FileCommand<'_>,
        change: Change,
    ) -> Result<(), NotHeld> {
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
            // With options it may be removed first and made anew.
            if command.options.is_empty() {
                return Ok(());
            }
        }
        self.add_folder_of(target, change)
    }

    /// The folder in which an entry lies: the nearest that is there.
    pub(super) fn add_folder_of(
        &mut self,
        operand: &Operand,
        change: Change,
    ) -> Result<(), NotHeld> {
        // What ends in `..` is a folder itself.
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
            // A link at the end leads elsewhere than to the folder in which it lies.
            Some((real, (judged, named))) if real == judged || real == named => {
                self.add(operand, &real, change)
            }
            _ => Err(operand.moved()),
        }
    }

    /// A file or folder in the workspace, opened without following a link.
    fn add(&mut self, operand: &Operand, real: &Path, change: Change) -> Result<(), NotHeld> {
        if !self.workspace.iter().any(|root| real.starts_with(root)) {
            return Err(operand.moved());
        }
        let text = real.to_str().ok_or_else(|| operand.moved())?;
        let handle = match without_links(text, OFlags::PATH | OFlags::CLOEXEC) {
            // The program will say so.
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::LOOP) => return Err(operand.moved()),
            other => other.map_err(|errno| NotHeld::Failed(errno.into()))?,
        };
        let mode = fstat(&handle)
            .map_err(|errno| NotHeld::Failed(errno.into()))?
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
