//! `$(…)`: the output of commands as text.

use rustix::pipe::{PipeFlags, pipe_with};
use windlass_shell::{Command, Script, Simple};

use super::{
    Ending,
    message::reason,
    shell::{Leave, Shell},
    simple::is_plain_program,
    stream::{Broken, read_all},
};

impl<'p> Shell<'p> {
    /// Runs commands in a subshell and returns their output. Sets this shell's status to theirs.
    pub(super) fn substitute(&mut self, script: &'p Script, line: u32) -> Result<Vec<u8>, Leave> {
        let (reader, writer) = match pipe_with(PipeFlags::CLOEXEC) {
            Ok(pipe) => pipe,
            Err(errno) => {
                self.not_built("cannot make pipe for command substitution", &errno.into())?;
                return Ok(Vec::new());
            }
        };
        let mut inner = self.clone();
        inner.is_substitution = true;
        inner.descriptors.set(1, writer);
        let control = self.context.control;
        let (output, ending) = match only_program(script) {
            Some(simple) => {
                let started = inner.start_last(simple);
                // Drops this copy of the writing end, so that only the program holds it.
                drop(inner);
                let output = read_all(&reader, control);
                drop(reader);
                let ending = match started {
                    Ok(Ok(running)) => Ok(control.wait(running)),
                    Ok(Err(status)) => Ok(Ending::Code(status)),
                    Err(Leave::Stopped) => Err(Leave::Stopped),
                    Err(_) => Ok(Ending::Code(1)),
                };
                (output, ending)
            }
            None => std::thread::scope(|scope| {
                let run = move || {
                    let outcome = inner.script(script, true);
                    inner.ending(outcome)
                };
                let builder = std::thread::Builder::new().name("substitution".to_owned());
                let thread = match builder.spawn_scoped(scope, run) {
                    Ok(thread) => thread,
                    Err(error) => {
                        let what = "cannot start a thread for command substitution";
                        let outcome = self.not_built(what, &error);
                        return (Ok(Vec::new()), self.ending(outcome));
                    }
                };
                let output = read_all(&reader, control);
                drop(reader);
                match thread.join() {
                    Ok(ending) => (output, ending),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }),
        };
        self.ended(ending?, None);
        match output {
            Ok(output) => Ok(self.without_nul(output, line)),
            Err(Broken::Stopped) => Err(Leave::Stopped),
            Err(Broken::TooMuch) => {
                self.complain(line, b"command substitution: more output than fits");
                self.status = 1;
                Err(Leave::Exit)
            }
            Err(Broken::Failed(errno)) => {
                let text = format!("command substitution: {}", reason(&errno.into()));
                self.complain(line, text.as_bytes());
                Ok(Vec::new())
            }
        }
    }

    fn without_nul(&self, mut output: Vec<u8>, line: u32) -> Vec<u8> {
        if output.contains(&0) {
            if !self.voice.is_dash() {
                let text = "warning: command substitution: ignored null byte in input";
                self.complain(line, text.as_bytes());
            }
            output.retain(|b| *b != 0);
        }
        output
    }
}

/// The program of a script that consists of a single one.
fn only_program(script: &Script) -> Option<&Simple> {
    let [list] = script.lists.as_slice() else {
        return None;
    };
    let first = &list.first;
    match first.commands.as_slice() {
        [Command::Simple(simple)]
            if list.rest.is_empty()
                && !first.negated
                && !first.timed
                && is_plain_program(simple) =>
        {
            Some(simple)
        }
        _ => None,
    }
}
