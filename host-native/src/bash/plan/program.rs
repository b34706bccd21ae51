//! Starts programs: each is looked up once, started by its path, and gets only the variables meant for it.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{ffi::OsStrExt as _, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use windlass_shell::Runs;

use super::{
    call::Call,
    control::{NotStarted, Running},
    expand::Argument,
    file_commands::FileCommandError,
    locale::Locale,
    message::{reason, with_name},
    named::starts,
    quote::shown,
    repository,
    restriction::Restriction,
    shell::{Leave, Shell},
    xargs::RefusedInput,
};
use crate::child;

/// The status if the program was not found.
const NOT_FOUND: i32 = 127;

/// The status if the program was found but cannot be executed.
const NOT_EXECUTED: i32 = 126;

/// The number of bytes that bash inspects to see whether a file is a script.
const BEGINNING: usize = 80;

impl<'p> Shell<'p> {
    /// Starts a program. If it is not started, the status to use is returned.
    pub(super) fn spawn(
        &mut self,
        call: &Call<'p>,
        is_last: bool,
    ) -> Result<Result<Running, i32>, Leave> {
        let line = call.simple.line;
        let mut arguments = self.for_program(call).into_iter();
        let name = arguments.next().unwrap_or_default();
        let Some(path) = self.program_path(&name) else {
            let text = match self.voice.is_dash() {
                true => with_name("", name, ": not found"),
                false => {
                    let name = shown(name.as_bytes(), Locale::of(&self.variables));
                    with_name("", OsStr::from_bytes(&name), ": command not found")
                }
            };
            self.complain(line, &text);
            return Ok(Err(NOT_FOUND));
        };
        let arguments: Vec<OsString> = arguments.collect();
        if let Some(refused) = self.refused_argument(call, &name, &arguments) {
            self.withhold(line, &refused.words(&name));
            return Ok(Err(NOT_EXECUTED));
        }
        if starts(call, &name, "xargs") {
            match self.refused_by_xargs(call, &name, &arguments)? {
                None => {}
                Some(RefusedInput::Argument(refused)) => {
                    self.withhold(line, &refused.words(&name));
                    return Ok(Err(NOT_EXECUTED));
                }
                Some(RefusedInput::Files(why)) => {
                    self.withhold(line, &file_command_refused(&name, &why));
                    return Ok(Err(1));
                }
            }
        }
        self.start_program(call, (path, name), &arguments, is_last)
    }

    /// Starts a program whose arguments were checked.
    fn start_program(
        &mut self,
        call: &Call<'p>,
        (path, name): (PathBuf, OsString),
        arguments: &[OsString],
        is_last: bool,
    ) -> Result<Result<Running, i32>, Leave> {
        let line = call.simple.line;
        let restriction = match self.restriction(call, &path, &name, arguments) {
            Ok(restriction) => restriction,
            Err(why) => {
                self.withhold(line, &file_command_refused(&name, &why));
                return Ok(Err(1));
            }
        };
        let mut variables = self.variables.clone();
        for (name, value) in &call.assignments {
            variables.export(name, value.clone());
        }
        if !self.voice.is_dash() {
            if is_last {
                variables.one_level_up();
            }
            variables.export("_", path.clone().into());
        }
        if starts(call, &name, "git") {
            let only = self.context.session.repositories.as_deref();
            repository::restrict(&mut variables, only);
        }
        let mut command = child::command(&path);
        command.arg0(&name).args(arguments);
        command.env_clear().envs(variables.exported());
        let started = match self.start_here(&mut command, restriction) {
            Err(NotStarted::Failed(error))
                if is(&error, Errno::NOEXEC)
                    && is_script(&self.directory.join(path.as_os_str())) =>
            {
                // Bash interprets such a file itself.
                variables.one_level_up();
                let bash = self.context.session.find(OsStr::new("bash"));
                let mut command = child::command(bash.unwrap_or_else(|| "/bin/bash".into()));
                command.arg("--").arg(&path).args(arguments);
                command.env_clear().envs(variables.exported());
                match self.restriction(call, &path, &name, arguments) {
                    Ok(restriction) => self.start_here(&mut command, restriction),
                    Err(why) => {
                        self.withhold(line, &file_command_refused(&name, &why));
                        return Ok(Err(1));
                    }
                }
            }
            other => other,
        };
        match started {
            Ok(running) => Ok(Ok(running)),
            Err(NotStarted::Stopped) => Err(Leave::Stopped),
            Err(NotStarted::Failed(error)) => Ok(Err(self.not_started(line, &path, &error))),
        }
    }

    /// The arguments after `command`. Names of programs that the program starts are replaced by their paths.
    fn for_program(&self, call: &Call<'p>) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = (call.arguments.iter().cloned())
            .map(Argument::for_programs)
            .collect();
        let session = self.context.session;
        for runs in &call.simple.runs {
            let (Runs::Program { at, .. } | Runs::Script { at, .. }) = runs;
            let start = usize::try_from(*at).ok().and_then(|at| call.starts.get(at));
            // What `command` runs is the program itself.
            let inner = start.filter(|start| **start > call.program);
            let Some(word) = inner.and_then(|start| arguments.get_mut(*start)) else {
                continue;
            };
            match runs {
                Runs::Program { .. } => {
                    if let Some(path) = session.find(word) {
                        *word = path.into();
                    }
                }
                Runs::Script { script, .. } => {
                    let find = |name: &str| session.find_text(name);
                    *word = windlass_shell::print(script, &find).into();
                }
            }
        }
        arguments.split_off(call.program)
    }

    /// The file to start: a path is used as it is, a name is looked up.
    fn program_path(&self, name: &OsStr) -> Option<PathBuf> {
        if name.as_bytes().contains(&b'/') {
            return Some(name.into());
        }
        self.context.session.find(name)
    }

    /// Starts a program in this shell's directory, with its descriptors.
    fn start_here(
        &self,
        command: &mut Command,
        restriction: Option<Restriction>,
    ) -> Result<Running, NotStarted> {
        command.current_dir(self.directory.for_programs());
        let prepared = || -> io::Result<(Vec<OwnedFd>, Vec<FdMapping>)> {
            let mut further = Vec::new();
            for (child_fd, open) in self.descriptors.above_standard() {
                let parent_fd = open.try_clone_to_owned()?;
                further.push(FdMapping {
                    parent_fd,
                    child_fd,
                });
            }
            let standard: io::Result<_> = (0..3).map(|number| self.standard(number)).collect();
            Ok((standard?, further))
        };
        let (standard, further) = prepared().map_err(NotStarted::Failed)?;
        let mut standard = standard.into_iter().map(Stdio::from);
        let mut next = || standard.next().unwrap_or_else(Stdio::null);
        command.stdin(next()).stdout(next()).stderr(next());
        if further.is_empty() {
            return self.begin(command, restriction);
        }
        // The pipe that reports the result of exec must not use a number that is about to be replaced.
        let highest = further.iter().map(|further| further.child_fd).max();
        let taken = numbers_up_to(highest.unwrap_or(0)).map_err(NotStarted::Failed)?;
        if command.fd_mappings(further).is_err() {
            return Err(NotStarted::Failed(io::ErrorKind::InvalidInput.into()));
        }
        let started = self.begin(command, restriction);
        drop(taken);
        started
    }

    fn begin(
        &self,
        command: &mut Command,
        restriction: Option<Restriction>,
    ) -> Result<Running, NotStarted> {
        let control = self.context.control;
        match restriction {
            None => control.start(command),
            Some(restriction) => restriction
                .around(|| control.start(command))
                .map_err(NotStarted::Failed)?,
        }
    }

    /// A standard descriptor. A closed one is replaced by a file opened in the wrong direction, for which the system
    /// reports the same error.
    fn standard(&self, number: u8) -> io::Result<OwnedFd> {
        match self.descriptors.get(number) {
            Some(open) => open.try_clone_to_owned(),
            None if number == 0 => Ok(File::options().write(true).open("/dev/null")?.into()),
            None => Ok(File::open("/dev/null")?.into()),
        }
    }

    /// Prints why a program was not started, and returns the status.
    fn not_started(&self, line: u32, path: &Path, error: &io::Error) -> i32 {
        // Relative to this shell's directory, not to that of the process.
        let seen = self.directory.join(path.as_os_str());
        let found = std::fs::metadata(seen);
        let is_directory = found.as_ref().is_ok_and(std::fs::Metadata::is_dir);
        let (text, status) = if self.voice.is_dash() {
            let status = if is(error, Errno::NOENT) {
                NOT_FOUND
            } else {
                NOT_EXECUTED
            };
            let text = match status {
                NOT_FOUND => "not found".to_owned(),
                _ => reason(error),
            };
            (text, status)
        } else if is(error, Errno::NOENT) && found.is_ok() {
            (
                "cannot execute: required file not found".to_owned(),
                NOT_FOUND,
            )
        } else if is(error, Errno::NOENT) {
            (reason(error), NOT_FOUND)
        } else if is_directory {
            ("Is a directory".to_owned(), NOT_EXECUTED)
        } else if is(error, Errno::NOEXEC) {
            let text = format!("cannot execute binary file: {}", reason(error));
            (text, NOT_EXECUTED)
        } else {
            (reason(error), NOT_EXECUTED)
        };
        self.complain(line, &with_name("", path, &format!(": {text}")));
        status
    }
}

/// The message for a program that is not started although a rule allows it.
fn file_command_refused(name: &OsStr, why: &FileCommandError) -> Vec<u8> {
    let name = name.to_string_lossy();
    match why {
        FileCommandError::Moved(moved) => with_name(
            &format!("{name}: `"),
            moved,
            "' leads elsewhere than when it was judged; nothing was done",
        ),
        FileCommandError::NotApproved => {
            format!("{name}: nobody judged the files that it names; nothing was done").into_bytes()
        }
        FileCommandError::CarriesInstructions(folder, brought) => with_name(
            &format!("{name}: `"),
            folder,
            &format!(
                "' has {brought} in it, from which programs and later sessions take orders, so only a person can let that happen; \
                 nothing was done"
            ),
        ),
        FileCommandError::ContainsDenied(folder, denied) => with_name(
            &format!("{name}: `"),
            folder,
            &format!("' holds {denied}, which is closed by a rule; nothing was done"),
        ),
        FileCommandError::Creates(place) => with_name(
            &format!("{name}: `"),
            place.as_os_str(),
            "' would be written, which is closed by a rule, or a place from which programs and later sessions take orders; nothing was \
             done",
        ),
        FileCommandError::TooMuch(target) => with_name(
            &format!("{name}: what goes to `"),
            target.as_os_str(),
            "' is more than can be held against the rules, or leads nowhere; nothing was done",
        ),
        FileCommandError::Failed(error) => format!(
            "{name}: it cannot be held to what was judged: {}",
            reason(error)
        )
        .into_bytes(),
    }
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

/// Whether bash would interpret a file that the system cannot execute: there is no NUL in its first line.
fn is_script(path: &OsStr) -> bool {
    let mut beginning = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(BEGINNING as u64).read_to_end(&mut beginning));
    let first = beginning.split(|b| *b == b'\n').next().unwrap_or_default();
    read.is_ok() && !first.contains(&0)
}

/// Reserves all free descriptors up to this number.
fn numbers_up_to(highest: i32) -> io::Result<Vec<OwnedFd>> {
    let nothing = File::open("/dev/null")?;
    let mut taken = Vec::new();
    loop {
        let copy = nothing.as_fd().try_clone_to_owned()?;
        if std::os::fd::AsRawFd::as_raw_fd(&copy) > highest {
            return Ok(taken);
        }
        taken.push(copy);
    }
}
