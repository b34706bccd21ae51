//! Redirections: what `<`, `>` and `>&` change in the descriptors of a shell.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    sync::Arc,
};

use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};
use windlass_core::tool::Access;
use windlass_shell::{Redirection, Target};

use super::{
    message::{reason, with_name},
    open::{self, OpenError},
    shell::{Leave, Outcome, Shell},
    stream::PIECE,
};

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
    /// Runs a closure with redirections applied.
    pub(super) fn redirected(
        &mut self,
        redirections: &'p [Redirection],
        run: impl FnOnce(&mut Self) -> Outcome,
    ) -> Outcome {
        let before = self.descriptors.clone();
        let outcome = match self.redirect(redirections) {
            Ok(()) => run(self),
            Err(Refusal::Status(status)) => {
                self.status = status;
                Ok(())
            }
            Err(Refusal::Leave(leave)) => Err(leave),
        };
        let ended = std::mem::replace(&mut self.descriptors, before);
        // Input that was read and replaced stays replaced, unless it was redirected here.
        if redirections.iter().all(|it| it.descriptor != 0) {
            self.descriptors.take_input_of(ended);
        }
        outcome
    }

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
        match self.descriptors.shared(from) {
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
