//! The plain file commands: looked at once more before they start, and held to the files that were judged.
//!
//! `cp`, `mv`, `rm`, `mkdir` and `touch` open files by name, some time after they were judged. What only the mode that accepts
//! edits lets run is therefore restricted by the kernel, where that can be done, to handles of what was judged.

use std::{
    ffi::{OsStr, OsString},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{FileType, OFlags, fstat},
    io::Errno,
};
use windlass_core::tool::PlannedFile;
use windlass_shell::Runs;

use super::{
    open::without_links,
    restriction::{Change, Restriction},
    shell::Shell,
    simple::Call,
};
use crate::files::{brings_along, resolve};

/// Why a program is not started.
pub(super) enum NotHeld {
    /// An argument names a file that leads elsewhere now.
    Moved(OsString),
    /// Nobody judged the files that it names.
    NotJudged,
    /// A folder brings along a file that becomes authority.
    Brings(OsString, String),
    /// The system refuses.
    Failed(std::io::Error),
}

/// Which of them a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Copy,
    Move,
    Remove,
    MakeFolder,
    Touch,
}

impl Kind {
    fn named(name: &OsStr) -> Option<Self> {
        Some(match name.as_bytes() {
            b"cp" => Self::Copy,
            b"mv" => Self::Move,
            b"rm" => Self::Remove,
            b"mkdir" => Self::MakeFolder,
            b"touch" => Self::Touch,
            _ => return None,
        })
    }

    /// The letters of options that have a value.
    fn valued(self) -> &'static [u8] {
        match self {
            Self::MakeFolder => b"m",
            Self::Touch => b"dt",
            _ => b"",
        }
    }
}

/// A command with its arguments taken apart.
struct FileCommand<'a> {
    kind: Kind,
    options: Vec<&'a OsStr>,
    operands: Vec<&'a OsStr>,
}

impl<'a> FileCommand<'a> {
    fn new(kind: Kind, arguments: &'a [OsString]) -> Self {
        let mut command = Self {
            kind,
            options: Vec::new(),
            operands: Vec::new(),
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_bytes() {
                b"--" => {
                    command
                        .operands
                        .extend(rest.by_ref().map(OsString::as_os_str));
                }
                [b'-', letters @ ..] if !letters.is_empty() => {
                    command.options.push(argument);
                    let valued = letters.iter().position(|l| kind.valued().contains(l));
                    // The value is the rest of the word, or the next one.
                    if letters[0] != b'-' && valued == Some(letters.len() - 1) {
                        rest.next();
                    }
                }
                _ => command.operands.push(argument),
            }
        }
        command
    }

    fn has_letter(&self, letter: u8) -> bool {
        let mut options = self.options.iter().map(|option| option.as_bytes());
        options.any(|option| !option.starts_with(b"--") && option.contains(&letter))
    }

    /// Folders that go elsewhere with all that is in them.
    fn carried(&self) -> &[&'a OsStr] {
        let copies = || {
            let long = |option: &&OsStr| *option == "--recursive" || *option == "--archive";
            [b'r', b'R', b'a']
                .into_iter()
                .any(|letter| self.has_letter(letter))
                || self.options.iter().any(long)
        };
        match (self.kind, self.operands.split_last()) {
            (Kind::Move, Some((_, sources))) => sources,
            (Kind::Copy, Some((_, sources))) if copies() => sources,
            _ => &[],
        }
    }
}

impl<'p> Shell<'p> {
    /// What a program may change that is about to start: none for as much as this process may.
    pub(super) fn held(
        &self,
        call: &Call<'p>,
        path: &Path,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Result<Option<Restriction>, NotHeld> {
        let plain = Kind::named(name).map(|kind| (kind, arguments));
        // What stands behind `timeout` and its like is the same command.
        let inner = || wrapped(call, arguments);
        let (kind, arguments) = match plain.or_else(inner) {
            Some(found) => found,
            // A program of that name that a rule allows by its path.
            None => match path.file_name().and_then(Kind::named) {
                Some(kind) => (kind, arguments),
                None => return Ok(None),
            },
        };
        if let Some(moved) = self.moved(arguments) {
            return Err(NotHeld::Moved(moved.clone()));
        }
        let command = FileCommand::new(kind, arguments);
        for source in command.carried() {
            if let Some(brought) = brings_along(Path::new(&self.directory.join(source))) {
                return Err(NotHeld::Brings((*source).to_owned(), brought));
            }
        }
        let (surroundings, mut operands) = (self.surroundings, command.operands.iter());
        if !operands.all(|operand| self.is_held(operand)) {
            let by_rule = !surroundings.all_held || plain.is_none() && inner().is_none();
            return if by_rule {
                Ok(None)
            } else {
                Err(NotHeld::NotJudged)
            };
        }
        if surroundings.held.is_empty() {
            return Ok(None);
        }
        Restriction::to(self.changes(&command)?).map_err(NotHeld::Failed)
    }

    /// An argument that names a file of the plan and leads elsewhere now.
    fn moved<'a>(&self, arguments: &'a [OsString]) -> Option<&'a OsString> {
        arguments.iter().find(|argument| {
            let written = lexical(&self.directory.join(argument));
            let mut planned = self.surroundings.files.iter();
            match planned
                .clone()
                .find(|file| written == lexical(OsStr::new(&file.written)))
            {
                Some(file) => resolve("/", &file.written).as_ref() != Ok(&file.real),
                // What a pattern gives was judged by its folder.
                None => planned.any(|folder| self.leaves(&written, folder)),
            }
        })
    }

    /// Whether a path is an entry of a folder that was judged, and leads out of it and of the workspace.
    fn leaves(&self, written: &Path, folder: &PlannedFile) -> bool {
        if written.parent() != Some(&lexical(OsStr::new(&folder.written))) {
            return false;
        }
        let Some(Ok(real)) = written.to_str().map(|written| resolve("/", written)) else {
            return true;
        };
        let mut inside = self.surroundings.workspace.iter().chain([&folder.real]);
        !inside.any(|root| Path::new(&real).starts_with(root))
    }

    /// Whether an operand is a file that only the mode lets be changed, or an entry of such a folder.
    fn is_held(&self, operand: &OsStr) -> bool {
        let written = lexical(&self.directory.join(operand));
        let mut held = self.surroundings.held.iter();
        held.any(|held| {
            let held = lexical(OsStr::new(held));
            written == held || written.parent() == Some(&held)
        })
    }

    /// Handles of all that a command may change.
    fn changes(&self, command: &FileCommand<'_>) -> Result<Vec<(OwnedFd, Change)>, NotHeld> {
        let judged = |operand: &&OsStr| self.judged(operand).ok_or(NotHeld::NotJudged);
        let operands: Result<Vec<Operand>, NotHeld> = command.operands.iter().map(judged).collect();
        let operands = operands?;
        let mut changes = Changes {
            workspace: self.surroundings.workspace,
            handles: Vec::new(),
        };
        match (command.kind, operands.split_last()) {
            (_, None) => {}
            (Kind::Remove, _) => {
                for operand in &operands {
                    changes.add_folder_of(operand, Change::Remove)?;
                }
            }
            (Kind::MakeFolder, _) => {
                for operand in &operands {
                    changes.add_folder_of(operand, Change::MakeFolders)?;
                }
            }
            (Kind::Touch, _) => {
                for operand in &operands {
                    changes.add_touched(operand)?;
                }
            }
            (Kind::Move, Some((target, sources))) => {
                for source in sources {
                    changes.add_folder_of(source, Change::All)?;
                }
                changes.add_target(target, command)?;
            }
            (Kind::Copy, Some((target, _))) => changes.add_target(target, command)?,
        }
        Ok(changes.handles)
    }

    /// An operand, with where it led when it was judged.
    fn judged(&self, operand: &OsStr) -> Option<Operand> {
        let written = self.directory.join(operand);
        let lexical_path = lexical(&written);
        let files = || self.surroundings.files.iter();
        let is_it = |file: &&PlannedFile| lexical(OsStr::new(&file.written)) == lexical_path;
        let is_above = |file: &&PlannedFile| {
            Some(lexical(OsStr::new(&file.written)).as_path()) == lexical_path.parent()
        };
        let (real, is_entry) = match files().find(is_it) {
            Some(file) => (PathBuf::from(&file.real), false),
            None => {
                let folder = Path::new(&files().find(is_above)?.real);
                (folder.join(lexical_path.file_name()?), true)
            }
        };
        Some(Operand {
            written: written.into(),
            real,
            is_entry,
        })
    }
}

/// A file that a command names.
struct Operand {
    /// As the program will open it: absolute, and nothing taken out.
    written: PathBuf,
    /// Where that led when it was judged.
    real: PathBuf,
    /// Only the folder in which it lies was judged.
    is_entry: bool,
}

impl Operand {
    fn moved(&self) -> NotHeld {
        NotHeld::Moved(self.written.clone().into())
    }
}

/// Handles that are opened one after the other.
struct Changes<'a> {
    workspace: &'a [String],
    handles: Vec<(OwnedFd, Change)>,
}

impl Changes<'_> {
    /// A file that gets another time, or is made.
    fn add_touched(&mut self, operand: &Operand) -> Result<(), NotHeld> {
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
    fn add_target(&mut self, target: &Operand, command: &FileCommand<'_>) -> Result<(), NotHeld> {
        let Ok(real) = std::fs::canonicalize(&target.written) else {
            return self.add_folder_of(target, Change::All);
        };
        let is_folder = real.is_dir();
        if is_folder && !command.has_letter(b'T') {
            return match real == target.real {
                true => self.add(target, &real, Change::All),
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
        self.add_folder_of(target, Change::All)
    }

    /// The folder in which an entry lies: the nearest that is there.
    fn add_folder_of(&mut self, operand: &Operand, change: Change) -> Result<(), NotHeld> {
        // What ends in `..` is a folder itself.
        let names = usize::from(operand.written.file_name().is_some());
        let as_written = lexical(operand.written.as_os_str());
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

/// The plain file command that stands behind programs which only start another, with its arguments.
fn wrapped<'a>(call: &Call<'_>, arguments: &'a [OsString]) -> Option<(Kind, &'a [OsString])> {
    let simple = call.simple;
    let mut innermost = None;
    for runs in &simple.runs {
        // What starts more than the rest of its line may do other things too.
        let Runs::Program { at, end } = runs else {
            return None;
        };
        let (at, end) = (usize::try_from(*at).ok()?, usize::try_from(*end).ok()?);
        if end != simple.words.len() {
            return None;
        }
        innermost = innermost.max(Some(at));
    }
    let at = innermost?;
    let kind = Kind::named(OsStr::new(simple.words.get(at)?.as_literal()?))?;
    // Of the arguments the program's own name is not among these.
    let before = call.starts.get(at)?.checked_sub(call.program)?;
    Some((kind, arguments.get(before..)?))
}

/// A path without `.` and `..`, as it was judged: by its text.
fn lexical(path: &OsStr) -> PathBuf {
    let mut out = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
