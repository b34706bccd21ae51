//! A shell as a value; runs lists, groups and loops.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use windlass_core::tool::{CommandPlan, PlannedFile};
use windlass_shell::{AndOr, Choice, Command, Compound, Junction, Script, Word};

use super::{
    Ending,
    control::Control,
    descriptors::Descriptors,
    directory::Directory,
    message::Voice,
    session::Session,
    stream::{Broken, write_all},
    variables::Variables,
};

/// SIGINT; a non-interactive shell prints nothing about it.
const INTERRUPTED: i32 = 2;

/// SIGPIPE, which ends a process that writes to a pipe without readers.
pub(super) const BROKEN_PIPE: i32 = 13;

/// SIGTERM.
const TERMINATED: i32 = 15;

/// What does not change while a plan runs.
#[derive(Debug)]
pub(super) struct LineContext<'p> {
    pub(super) plan: &'p CommandPlan,
    pub(super) files: &'p [PlannedFile],
    /// Where an unapproved `cd` may lead; empty for anywhere.
    pub(super) workspace: &'p [String],
    /// Files that file commands may change only because of the permission mode.
    pub(super) held: &'p [String],
    /// Whether no rule allows a file command.
    pub(super) all_held: bool,
    pub(super) session: &'p Session,
    pub(super) control: &'p Control,
    /// Whether rules have prevented something.
    pub(super) withheld: AtomicBool,
}

/// A shell. A clone is a subshell.
#[derive(Debug, Clone)]
pub(super) struct Shell<'p> {
    pub(super) context: &'p LineContext<'p>,
    pub(super) variables: Variables,
    pub(super) directory: Directory,
    pub(super) descriptors: Descriptors,
    /// `$?`
    pub(super) status: i32,
    /// The number of enclosing loops.
    pub(super) loops: u32,
    /// Whether this is the shell of a substitution, which prints no messages about programs ended by a signal.
    pub(super) is_substitution: bool,
    /// The size of the command's expanded words so far, in bytes.
    pub(super) expanded: usize,
    pub(super) voice: Arc<Voice>,
}

/// Why the following commands are not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// This many loops end.
    Break(u32),
    /// All but the last of this many loops end, and the last one continues.
    Continue(u32),
    /// The shell exits with its status.
    Exit,
    /// A signal ends the shell.
    Killed(i32),
    /// The plan is being stopped.
    Stopped,
}

pub(super) type Outcome = Result<(), Leave>;

impl<'p> Shell<'p> {
    pub(super) fn new(context: &'p LineContext<'p>, descriptors: Descriptors) -> Self {
        Self {
            context,
            variables: context.session.variables.clone(),
            directory: context.session.directory.clone(),
            descriptors,
            status: 0,
            loops: 0,
            is_substitution: false,
            expanded: 0,
            voice: Arc::new(Voice::bash()),
        }
    }

    /// Runs commands. With `is_last`, the last of them replaces the shell.
    pub(super) fn script(&mut self, script: &'p Script, is_last: bool) -> Outcome {
        let count = script.lists.len();
        for (index, list) in script.lists.iter().enumerate() {
            self.list(list, is_last && index + 1 == count)?;
        }
        Ok(())
    }

    fn list(&mut self, list: &'p AndOr, is_last: bool) -> Outcome {
        self.pipeline(&list.first, is_last && list.rest.is_empty())?;
        let count = list.rest.len();
        for (index, (junction, pipeline)) in list.rest.iter().enumerate() {
            let runs = match junction {
                Junction::And => self.status == 0,
                Junction::Or => self.status != 0,
            };
            if runs {
                self.pipeline(pipeline, is_last && index + 1 == count)?;
            }
        }
        Ok(())
    }

    pub(super) fn command(&mut self, command: &'p Command, is_last: bool) -> Outcome {
        if self.context.control.is_stopping() {
            return Err(Leave::Stopped);
        }
        match command {
            Command::Simple(simple) => self.simple(simple, is_last),
            Command::Compound { body, redirections } if redirections.is_empty() => {
                self.compound(body)
            }
            Command::Compound { body, redirections } => {
                self.redirected(redirections, |shell| shell.compound(body))
            }
        }
    }

    fn compound(&mut self, body: &'p Compound) -> Outcome {
        match body {
            Compound::Group(script) => self.script(script, false),
            Compound::Subshell(script) => {
                let ending = self.subshell(|shell| shell.script(script, true))?;
                self.ended(ending, None);
                Ok(())
            }
            Compound::For { name, words, body } => self.for_each(name, words, body),
            Compound::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.script(condition, false)?;
                    if self.status == 0 {
                        return self.script(body, false);
                    }
                }
                match otherwise {
                    Some(body) => self.script(body, false),
                    None => {
                        self.status = 0;
                        Ok(())
                    }
                }
            }
            Compound::While {
                until,
                condition,
                body,
            } => self.while_holds(*until, condition, body),
            Compound::Case { word, choices } => self.case(word, choices),
        }
    }

    /// Runs a closure in a clone of this shell.
    pub(super) fn subshell(&self, run: impl FnOnce(&mut Self) -> Outcome) -> Result<Ending, Leave> {
        let mut copy = self.clone();
        copy.loops = 0;
        copy.is_substitution = false;
        let outcome = run(&mut copy);
        copy.ending(outcome)
    }

    /// How this shell ends after its last command's outcome.
    pub(super) fn ending(&self, outcome: Outcome) -> Result<Ending, Leave> {
        match outcome {
            Err(Leave::Stopped) => Err(Leave::Stopped),
            Err(Leave::Killed(signal)) => Ok(Ending::Signal(signal)),
            _ => Ok(Ending::Code(self.status)),
        }
    }

    fn for_each(&mut self, name: &'p str, words: &'p [Word], body: &'p Script) -> Outcome {
        // Errors in the words are reported for line 1, since the tree has no line for them.
        let values = self.words(words, 1)?;
        if values.is_empty() {
            self.status = 0;
        }
        self.loops += 1;
        let mut outcome = Ok(());
        for value in values {
            self.set(name, value, 1)?;
            outcome = self.script(body, false);
            if let Some(end) = goes_on(&mut outcome) {
                outcome = end;
                break;
            }
        }
        self.loops -= 1;
        outcome
    }

    fn while_holds(&mut self, until: bool, condition: &'p Script, body: &'p Script) -> Outcome {
        let mut last = 0;
        self.loops += 1;
        let outcome = loop {
            // A loop that contains no command would otherwise never check this.
            if self.context.control.is_stopping() {
                break Err(Leave::Stopped);
            }
            let mut outcome = self.script(condition, false);
            if let Some(end) = goes_on(&mut outcome) {
                break end;
            }
            if (self.status == 0) == until {
                self.status = last;
                break Ok(());
            }
            outcome = self.script(body, false);
            if let Some(end) = goes_on(&mut outcome) {
                break end;
            }
            last = self.status;
        };
        self.loops -= 1;
        outcome
    }

    fn case(&mut self, word: &'p Word, choices: &'p [Choice]) -> Outcome {
        let value = self.one_word(word, 1)?;
        let chosen = choices.iter().find(|choice| {
            let mut patterns = choice.patterns.iter();
            patterns.any(|pattern| self.matches(value.as_bytes(), pattern))
        });
        match chosen {
            Some(choice) if !choice.body.lists.is_empty() => self.script(&choice.body, false),
            _ => {
                self.status = 0;
                Ok(())
            }
        }
    }

    /// Sets the status from an ended program, and prints a message about a signal if bash would.
    pub(super) fn ended(&mut self, ending: Ending, program: Option<(u32, u32, &str)>) {
        self.status = match ending {
            Ending::Code(code) => code,
            Ending::Signal(signal) => 128 + signal,
            // The message is printed by whoever stops the plan.
            Ending::Stopped => 130,
        };
        let (Ending::Signal(signal), Some((line, id, text))) = (ending, program) else {
            return;
        };
        match signal {
            INTERRUPTED | BROKEN_PIPE => {}
            _ if self.is_substitution => {}
            TERMINATED => self.say(b"Terminated\n"),
            signal => {
                let what = rustix::process::Signal::from_named_raw(signal)
                    .map_or_else(|| format!("Unknown signal {signal}"), described);
                self.complain(line, format!("{id:5} {what:<24}{text}").as_bytes());
            }
        }
    }

    /// Prints an error on standard error.
    pub(super) fn complain(&self, line: u32, text: &[u8]) {
        self.say(&self.voice.line(line, text));
    }

    /// Prints that rules have prevented something.
    pub(super) fn withhold(&self, line: u32, text: &[u8]) {
        self.context.withheld.store(true, Ordering::Relaxed);
        self.complain(line, text);
    }

    /// Writes to standard error.
    pub(super) fn say(&self, bytes: &[u8]) {
        if let Some(stderr) = self.descriptors.get(2) {
            // If standard error fails, there is nowhere to report it.
            let _ = write_all(stderr, bytes, self.context.control);
        }
    }

    /// Writes the output of a builtin; on failure, the status is 1.
    pub(super) fn print(&mut self, line: u32, builtin: &str, bytes: &[u8]) -> Outcome {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = match self.descriptors.get(1) {
            Some(stdout) => write_all(stdout, bytes, self.context.control),
            None => Err(Broken::Failed(rustix::io::Errno::BADF)),
        };
        match written {
            Ok(()) => Ok(()),
            Err(Broken::Stopped) => Err(Leave::Stopped),
            Err(Broken::Failed(rustix::io::Errno::PIPE)) => Err(Leave::Killed(BROKEN_PIPE)),
            Err(Broken::Failed(errno)) => {
                let why = super::message::reason(&errno.into());
                let text = if self.voice.is_dash() {
                    format!("{builtin}: I/O error")
                } else {
                    format!("{builtin}: write error: {why}")
                };
                self.complain(line, text.as_bytes());
                self.status = 1;
                Ok(())
            }
            // Only occurs when reading.
            Err(Broken::TooMuch) => Ok(()),
        }
    }

    pub(super) fn home(&self) -> Option<&OsStr> {
        self.variables.get("HOME")
    }
}

/// `None` if the loop continues; otherwise its outcome.
fn goes_on(outcome: &mut Outcome) -> Option<Outcome> {
    match *outcome {
        Ok(()) | Err(Leave::Continue(0 | 1)) => {
            *outcome = Ok(());
            None
        }
        Err(Leave::Break(0 | 1)) => Some(Ok(())),
        Err(Leave::Break(count)) => Some(Err(Leave::Break(count - 1))),
        Err(Leave::Continue(count)) => Some(Err(Leave::Continue(count - 1))),
        Err(other) => Some(Err(other)),
    }
}

/// The system's description of a signal.
fn described(signal: rustix::process::Signal) -> String {
    use rustix::process::Signal;
    match signal {
        Signal::HUP => "Hangup",
        Signal::QUIT => "Quit",
        Signal::ILL => "Illegal instruction",
        Signal::TRAP => "Trace/breakpoint trap",
        Signal::ABORT => "Aborted",
        Signal::BUS => "Bus error",
        Signal::FPE => "Floating point exception",
        Signal::KILL => "Killed",
        Signal::USR1 => "User defined signal 1",
        Signal::SEGV => "Segmentation fault",
        Signal::USR2 => "User defined signal 2",
        Signal::ALARM => "Alarm clock",
        other => return format!("Unknown signal {}", other.as_raw()),
    }
    .to_owned()
}
