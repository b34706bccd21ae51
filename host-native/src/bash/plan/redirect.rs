//! Descriptors as values: changed by `<`, `>` and `>&`, and passed to programs.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::Arc,
};

use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};
use windlass_core::tool::Access;
use windlass_shell::{Redirection, Target};

use super::{
    Streams,
    message::{reason, with_name},
    open::{self, OpenError},
    shell::{Leave, Shell},
    stream::PIECE,
};

/// The open descriptors of a shell.
#[derive(Debug, Clone)]
pub(super) struct Descriptors {
    /// Descriptors 0 to 9; `None` is closed.
    numbered: [Option<Arc<OwnedFd>>; 10],
    /// The reading ends of process substitutions, from [`HIGHEST`] downwards.
    processes: Vec<Arc<OwnedFd>>,
}

/// The descriptor of the first process substitution, the same as in bash.
pub(super) const HIGHEST: u8 = 63;

impl Descriptors {
    pub(super) fn new(streams: Streams) -> Self {
        let mut all = Self {
            numbered: Default::default(),
            processes: Vec::new(),
        };
        all.set(0, streams.stdin);
        all.set(1, streams.stdout);
        all.set(2, streams.stderr);
        all
    }

    pub(super) fn get(&self, number: u8) -> Option<BorrowedFd<'_>> {
        let descriptor = self.numbered.get(usize::from(number))?;
        descriptor.as_ref().map(|open| open.as_fd())
    }

    pub(super) fn set(&mut self, number: u8, to: OwnedFd) {
        self.put(number, Some(Arc::new(to)));
    }

    /// Takes over the standard input of another set.
    pub(super) fn take_input_of(&mut self, others: Self) {
        let [input, ..] = others.numbered;
        self.numbered[0] = input;
    }

    fn put(&mut self, number: u8, to: Option<Arc<OwnedFd>>) {
        if let Some(place) = self.numbered.get_mut(usize::from(number)) {
            *place = to;
        }
    }

    /// Adds the reading end of a process substitution and returns its number; `None` if no numbers are left.
    pub(super) fn add_process(&mut self, from: OwnedFd) -> Option<u8> {
        let number = HIGHEST - u8::try_from(self.processes.len()).ok()?;
        if number < 10 {
            return None;
        }
        self.processes.push(Arc::new(from));
        Some(number)
    }

    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Closes all process substitutions after the first `count`.
    pub(super) fn keep_processes(&mut self, count: usize) {
        self.processes.truncate(count);
    }

    /// All descriptors above the three standard ones, with their numbers.
    pub(super) fn above_standard(&self) -> impl Iterator<Item = (i32, BorrowedFd<'_>)> {
        let numbered = (3..).zip(self.numbered.iter().skip(3));
        let numbered = numbered.filter_map(|(number, open)| Some((number, open.as_ref()?.as_fd())));
        let processes = self.processes.iter().zip(0..);
        numbered.chain(processes.map(|(open, at)| (i32::from(HIGHEST) - at, open.as_fd())))
    }
}

/// Why a redirection failed. The message was already printed.
pub(super) enum Refusal {
    /// The command is not run, and has this status.
    Status(i32),
    /// The shell ends.
    Leave(Leave),
}

impl From<Leave> for Refusal {
    fn from(leave: Leave) -> Self {
        Self::Leave(leave)
    }
}

impl<'p> Shell<'p> {
    /// Applies the redirections in order.
    pub(super) fn redirect(&mut self, all: &'p [Redirection]) -> Result<(), Refusal> {
        for redirection in all {
            let descriptor = redirection.descriptor;
            let opened = match &redirection.to {
                Target::Read(path) => self.open(path, Access::Read, false, redirection.line)?,
                Target::Write { path, append } => {
                    self.open(path, Access::Write, *append, redirection.line)?
                }
                Target::Duplicate(from) => self.duplicate(*from, redirection.line)?,
                Target::Close => {
                    self.descriptors.put(descriptor, None);
                    continue;
                }
                Target::Text(word) => {
                    let text = self.one_word(word, redirection.line)?;
                    let text = std::os::unix::ffi::OsStringExt::into_vec(text);
                    match holding(&text) {
                        Ok(file) => Arc::new(file),
                        Err(error) => {
                            let text = with_name(
                                "cannot create temp file for here-document: ",
                                reason(&error),
                                "",
                            );
                            return Err(self.refused(redirection.line, &text));
                        }
                    }
                }
            };
            self.descriptors.put(descriptor, Some(opened));
        }
        Ok(())
    }

    fn open(
        &mut self,
        path: &str,
        access: Access,
        append: bool,
        line: u32,
    ) -> Result<Arc<OwnedFd>, Refusal> {
        if let Some(number) = open::own_stream(path, access) {
            return self.duplicate(number, line);
        }
        let written = self.directory.join(path.as_ref());
        let context = self.context;
        match open::planned(context, &written, access, append) {
            Ok(file) => Ok(Arc::new(file)),
            Err(OpenError::Stopped) => Err(Leave::Stopped.into()),
            Err(OpenError::NotPlanned) => {
                let after = ": it was not opened, for nobody judged this file";
                Err(self.withheld(line, &with_name("", path, after)))
            }
            Err(OpenError::Moved) => {
                let after = ": it was not opened, for it leads elsewhere than when it was judged";
                Err(self.withheld(line, &with_name("", path, after)))
            }
            Err(OpenError::Failed(errno)) => {
                let text = self.cannot_open(path, access, errno);
                Err(self.refused(line, &text))
            }
        }
    }

    fn cannot_open(&self, path: &str, access: Access, errno: Errno) -> Vec<u8> {
        let reason = reason(&io::Error::from(errno));
        if !self.voice.is_dash() {
            return with_name("", path, &format!(": {reason}"));
        }
        let (verb, reason) = match (access, errno) {
            (Access::Read, Errno::NOENT) => ("open", "No such file".to_owned()),
            (Access::Read, _) => ("open", reason),
            (Access::Write, Errno::NOENT) => ("create", "Directory nonexistent".to_owned()),
            (Access::Write, _) => ("create", reason),
        };
        with_name(&format!("cannot {verb} "), path, &format!(": {reason}"))
    }

    fn duplicate(&mut self, from: u8, line: u32) -> Result<Arc<OwnedFd>, Refusal> {
        let open = self.descriptors.numbered.get(usize::from(from)).cloned();
        match open.flatten() {
            Some(open) => Ok(open),
            None => Err(self.refused(line, format!("{from}: Bad file descriptor").as_bytes())),
        }
    }

    fn refused(&mut self, line: u32, text: &[u8]) -> Refusal {
        self.complain(line, text);
        self.refusal()
    }

    fn withheld(&mut self, line: u32, text: &[u8]) -> Refusal {
        self.withhold(line, text);
        self.refusal()
    }

    fn refusal(&self) -> Refusal {
        Refusal::Status(if self.voice.is_dash() { 2 } else { 1 })
    }
}

/// A readable file that contains the text: a pipe that holds all of it, or an anonymous file.
pub(super) fn holding(text: &[u8]) -> io::Result<OwnedFd> {
    if text.len() <= PIECE {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        File::from(writer).write_all(text)?;
        return Ok(reader);
    }
    let mut file = nameless()?;
    file.write_all(text)?;
    io::Seek::rewind(&mut file)?;
    Ok(file.into())
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(memfd_create(c"here-document", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    tempfile::tempfile()
}
