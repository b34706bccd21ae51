//! `<(…)`: a program reads the output of concurrently running commands as a file.
//!
//! Bash leaves them running when the program has ended. Here the command ends when they do as well: their reading end
//! is closed by then, so that commands that still write are ended.

use std::{ffi::OsString, io, thread::Builder};

use rustix::pipe::{PipeFlags, pipe_with};
use windlass_shell::{Part, Script, Simple, Word};

use super::{
    expand::Argument,
    shell::{Leave, Outcome, Shell},
};

/// Lets a shell run commands concurrently with the one whose words are expanded.
pub(super) type Beside<'a, 'p> = &'a mut dyn FnMut(Shell<'p>, &'p Script) -> io::Result<()>;

/// The commands of a word that is a process substitution.
pub(super) fn script_of(word: &Word) -> Option<&Script> {
    match word.parts.as_slice() {
        [Part::Process { script }] => Some(script),
        _ => None,
    }
}

impl<'p> Shell<'p> {
    /// Runs a simple command that contains process substitutions.
    pub(super) fn with_processes(&mut self, simple: &'p Simple, is_last: bool) -> Outcome {
        let before = self.descriptors.processes();
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut beside = |mut shell: Shell<'p>, script: &'p Script| {
                let builder = Builder::new().name("process substitution".to_owned());
                // Its result is ignored.
                let run = move || {
                    let _ = shell.script(script, true);
                };
                threads.push(builder.spawn_scoped(scope, run)?);
                Ok(())
            };
            let call = self.call(simple, Some(&mut beside));
            let outcome = call.and_then(|call| self.run(call, is_last));
            self.descriptors.keep_processes(before);
            for thread in threads {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            outcome
        })
    }

    /// Starts a process substitution, and returns its argument.
    pub(super) fn process(
        &mut self,
        script: &'p Script,
        beside: Beside<'_, 'p>,
    ) -> Result<Argument, Leave> {
        match self.started(script, beside) {
            Ok(number) => Ok(Argument {
                text: OsString::from(format!("/dev/fd/{number}")),
                expanded: false,
            }),
            Err(error) => {
                self.not_built("cannot make pipe for process substitution", &error)?;
                Err(Leave::Exit)
            }
        }
    }

    fn started(&mut self, script: &'p Script, beside: Beside<'_, 'p>) -> io::Result<u8> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let mut inner = self.clone();
        inner.is_substitution = true;
        inner.descriptors.set(1, writer);
        beside(inner, script)?;
        let number = self.descriptors.add_process(reader);
        number.ok_or_else(|| io::Error::other("too many of them"))
    }
}
