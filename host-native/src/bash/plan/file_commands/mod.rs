//! Basic file commands: checked again before they start, and restricted to the approved files.
//!
//! `cp`, `mv`, `rm`, `mkdir` and `touch` open files by name, some time after the permission check. Commands that are
//! allowed only by the mode that accepts edits are therefore restricted by the kernel, where possible, to handles on
//! the approved files.

mod command;
mod error;
mod git;
mod handles;
mod made;

pub(super) use self::error::FileCommandError;

use std::{
    ffi::{OsStr, OsString},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use windlass_core::{
    permission::{Argument, closed_to, refused_file},
    tool::{Access, PlannedFile},
};
use windlass_shell::Runs;

use self::{
    command::{FileCommand, Kind, Landing},
    git::{GitMove, git_move},
    handles::{Changes, Operand},
    made::Made,
};
use super::{
    call::Call,
    change::Change,
    named::{in_scripts, started},
    restriction::Restriction,
    shell::Shell,
};
use crate::files::{Arrival, arrives, below, has_links, normalised, resolve};

impl<'p> Shell<'p> {
    /// The restriction for a program about to be started; `None` for no restriction.
    pub(super) fn restriction(
        &self,
        call: &Call<'p>,
        path: &Path,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Result<Option<Restriction>, FileCommandError> {
        let plain = Kind::named(name).map(|kind| (kind, arguments));
        // Behind `timeout` and similar programs, it is the same command.
        let inner = || wrapped(call, arguments);
        // A program of that name that a rule allows by its path.
        let by_path = || Some((Kind::at(path.as_os_str())?, arguments));
        let found = plain.or_else(inner).or_else(by_path);
        if let Some(moved) = found.and_then(|(_, arguments)| self.moved(arguments)) {
            return Err(FileCommandError::Moved(moved.clone()));
        }
        self.check_file_commands(call, name, arguments)?;
        let Some((kind, arguments)) = found else {
            return Ok(None);
        };
        let command = FileCommand::new(kind, arguments);
        let (context, mut operands) = (self.context, command.operands.iter());
        if !operands.all(|operand| self.is_allowed_by_mode(operand)) {
            let by_rule = !context.all_held || plain.is_none() && inner().is_none();
            return if by_rule {
                Ok(None)
            } else {
                Err(FileCommandError::NotApproved)
            };
        }
        if context.held.is_empty() {
            return Ok(None);
        }
        Restriction::to(self.changes(&command)?).map_err(FileCommandError::Failed)
    }

    /// Checks every file command that a command starts: also behind wrappers, in programs that run others, and in
    /// command lines for shells. Includes `git mv`.
    fn check_file_commands(
        &self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Result<(), FileCommandError> {
        let name = name.to_string_lossy();
        for started in started(call, &name, arguments) {
            let arguments: Vec<OsString> = started.arguments.into_iter().cloned().collect();
            self.check_file_command(started.program, &arguments, &mut Made::default())?;
        }
        for command in in_scripts(call.simple) {
            let words: Vec<OsString> = command.words.iter().map(|it| it.text().into()).collect();
            if let (Some(program), Some(arguments)) = (command.program(), words.get(1..)) {
                self.check_file_command(program, arguments, &mut Made::default())?;
            }
        }
        Ok(())
    }

    /// The same for the calls that `xargs` makes. If each call gets a part of the input, any item may become the
    /// target folder of those before it.
    pub(super) fn check_file_commands_of_input(
        &self,
        program: &str,
        calls: &[Vec<OsString>],
        is_in_parts: bool,
    ) -> Result<(), FileCommandError> {
        let mut made = Made::default();
        made.is_looked_at = calls.len() > 1;
        for arguments in calls {
            if is_in_parts
                && let Some((command, _)) = self.file_command(program, arguments)?
                && command.goes_into_its_last_operand()
            {
                return Err(FileCommandError::NotApproved);
            }
            self.check_file_command(program, arguments, &mut made)?;
        }
        Ok(())
    }

    /// A program with its arguments, if it is a basic file command or `git mv`, and its working directory.
    fn file_command<'a>(
        &self,
        program: &str,
        arguments: &'a [OsString],
    ) -> Result<Option<(FileCommand<'a>, PathBuf)>, FileCommandError> {
        let here = || self.directory.physical().map_err(FileCommandError::Failed);
        if let Some(kind) = Kind::at(OsStr::new(program)) {
            return Ok(Some((FileCommand::new(kind, arguments), here()?)));
        }
        if !is_git(program) {
            return Ok(None);
        }
        match git_move(arguments) {
            GitMove::None => Ok(None),
            GitMove::Unknown => Err(FileCommandError::NotApproved),
            GitMove::Moves { folders, operands } => {
                let folder = folders.iter().fold(here()?, |at, folder| at.join(folder));
                Ok(Some((FileCommand::new(Kind::Move, operands), folder)))
            }
        }
    }

    /// Checks that a command neither moves, copies nor removes a denied file, and creates or replaces no denied path.
    fn check_file_command(
        &self,
        program: &str,
        arguments: &[OsString],
        made: &mut Made,
    ) -> Result<(), FileCommandError> {
        let Some((command, directory)) = self.file_command(program, arguments)? else {
            return Ok(());
        };
        let access = match command.kind {
            // Writing through another name of a file changes the file.
            Kind::Copy if !command.makes_hard_links() => Access::Read,
            _ => Access::Write,
        };
        let closed = self.closed_to(access);
        for source in command.carried() {
            check_contents(&directory.join(source), source, &closed)?;
        }
        self.check_created(&command, &directory, made)
    }

    /// The patterns that are denied for an access, anywhere.
    fn closed_to(&self, access: Access) -> Vec<String> {
        let plan = self.context.plan;
        let (places, own) = (&plan.private_paths, &plan.own_directories);
        closed_to(access, &plan.deny, places, own)
    }

    /// Checks the paths that a copy or move would create.
    fn check_created(
        &self,
        command: &FileCommand<'_>,
        directory: &Path,
        made: &mut Made,
    ) -> Result<(), FileCommandError> {
        let plan = self.context.plan;
        let whole = command.kind == Kind::Move || command.takes_folders();
        let suffix = command.suffix().map(OsStr::to_string_lossy);
        let is_refused = |place: &Path| {
            let place = place.to_string_lossy();
            let refused =
                |place: &str| refused_file(plan, "cp", &Argument::default(), place).is_some();
            let before = suffix.as_ref().map(|suffix| [&*place, suffix].concat());
            refused(&place) || before.is_some_and(|before| refused(&before))
        };
        // An existing target is renamed.
        let is_put_away = command.puts_away_what_is_there();
        let closed = is_put_away.then(|| self.closed_to(Access::Write));
        let landings = command.landings(directory);
        made.is_looked_at |= landings.len() > 1;
        for Landing { source, target } in landings {
            if made.leads_to(&source) || made.leads_to(&target) {
                return Err(FileCommandError::Creates(target));
            }
            if command.follows_links() && has_links(&source) {
                return Err(FileCommandError::TooMuch(target));
            }
            if let Some(closed) = closed.as_ref().filter(|_| target.is_dir()) {
                check_contents(&target, target.as_os_str(), closed)?;
            }
            match arrives(&source, &target, whole, is_refused) {
                None => {}
                Some(Arrival::At(place)) => return Err(FileCommandError::Creates(place)),
                Some(Arrival::Unknown) => return Err(FileCommandError::TooMuch(target)),
            }
            made.add(&source, &target, whole);
        }
        Ok(())
    }

    /// An argument that names a file of the plan and now leads elsewhere.
    fn moved<'a>(&self, arguments: &'a [OsString]) -> Option<&'a OsString> {
        arguments.iter().find(|argument| {
            let written = normalised(self.directory.join(argument));
            let mut planned = self.context.files.iter();
            match planned
                .clone()
                .find(|file| written == normalised(&file.written))
            {
                Some(file) => resolve("/", &file.written).as_ref() != Ok(&file.real),
                // A path from a pattern was checked by its folder.
                None => planned.any(|folder| self.leaves(&written, folder)),
            }
        })
    }

    /// Whether a path is an entry of an approved folder that leads out of it and of the workspace.
    fn leaves(&self, written: &Path, folder: &PlannedFile) -> bool {
        if written.parent() != Some(&normalised(&folder.written)) {
            return false;
        }
        let Some(Ok(real)) = written.to_str().map(|written| resolve("/", written)) else {
            return true;
        };
        let mut inside = self.context.workspace.iter().chain([&folder.real]);
        !inside.any(|root| Path::new(&real).starts_with(root))
    }

    /// Whether an operand is a file that only the permission mode allows to change, or an entry of such a folder.
    fn is_allowed_by_mode(&self, operand: &OsStr) -> bool {
        let written = normalised(self.directory.join(operand));
        let mut held = self.context.held.iter();
        held.any(|held| {
            let held = normalised(held);
            written == held || written.parent() == Some(&held)
        })
    }

    /// Handles on everything that a command may change.
    fn changes(
        &self,
        command: &FileCommand<'_>,
    ) -> Result<Vec<(OwnedFd, Change)>, FileCommandError> {
        let approved =
            |operand: &&OsStr| self.approved(operand).ok_or(FileCommandError::NotApproved);
        let operands: Result<Vec<Operand>, FileCommandError> =
            command.operands.iter().map(approved).collect();
        let operands = operands?;
        let mut changes = Changes {
            workspace: self.context.workspace,
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
                let is_near = sources.iter().all(|source| source.is_on_disk_of(target));
                for source in sources {
                    let change = match source.written.is_dir() && !source.written.is_symlink() {
                        true => Change::Place,
                        false => Change::Take,
                    };
                    changes.add_folder_of(source, change)?;
                }
                // Across file systems, a move is a copy.
                let change = if is_near { Change::Place } else { Change::All };
                changes.add_target(target, command, change)?;
            }
            (Kind::Copy, Some((target, _))) => {
                // Without options, `cp` only creates files and writes to them.
                let change = match command.options.is_empty() {
                    true => Change::MakeFiles,
                    false => Change::All,
                };
                changes.add_target(target, command, change)?;
            }
        }
        Ok(changes.handles)
    }

    /// An operand, with its real path at the permission check.
    fn approved(&self, operand: &OsStr) -> Option<Operand> {
        let written = self.directory.join(operand);
        let lexical_path = normalised(&written);
        let files = || self.context.files.iter();
        let is_it = |file: &&PlannedFile| normalised(&file.written) == lexical_path;
        let is_above = |file: &&PlannedFile| {
            Some(normalised(&file.written).as_path()) == lexical_path.parent()
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

/// Checks that a folder to be moved, copied or removed contains nothing that is denied. An approved folder may
/// contain more by now, and other folders are not named in the command line.
fn check_contents(folder: &Path, named: &OsStr, closed: &[String]) -> Result<(), FileCommandError> {
    // Rules apply to the file itself, not to a link to its folder.
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let found = below(&folder, closed);
    match (found.brings, found.holds) {
        (Some(brought), _) => Err(FileCommandError::CarriesInstructions(
            named.to_owned(),
            brought,
        )),
        (None, Some(denied)) => Err(FileCommandError::ContainsDenied(named.to_owned(), denied)),
        (None, None) => Ok(()),
    }
}

/// Whether a program is a basic file command, or git, which can also move files.
pub(super) fn moves_files(program: &str) -> bool {
    Kind::at(OsStr::new(program)).is_some() || is_git(program)
}

fn is_git(program: &str) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("git"))
}

/// The basic file command behind wrapper programs, with its arguments.
fn wrapped<'a>(call: &Call<'_>, arguments: &'a [OsString]) -> Option<(Kind, &'a [OsString])> {
    let (name, arguments) = innermost(call, arguments)?;
    Some((Kind::named(OsStr::new(name))?, arguments))
}

/// The innermost program that a command starts, with its arguments.
fn innermost<'a, 'c>(
    call: &Call<'c>,
    arguments: &'a [OsString],
) -> Option<(&'c str, &'a [OsString])> {
    let simple = call.simple;
    let mut innermost = None;
    for runs in &simple.runs {
        // A program that runs anything but the rest of its line may do other things too.
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
    let name = simple.words.get(at)?.as_literal()?;
    // The offset is relative to the arguments after the program's name.
    let before = call.starts.get(at)?.checked_sub(call.program)?;
    Some((name, arguments.get(before..)?))
}
