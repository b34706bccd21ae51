//! Simple commands: assignments, builtins, programs, and inner shells.

use std::sync::Arc;

use windlass_shell::{Part, Runs, Script, Simple, Target, Word, takes_number};

use super::{
    Ending,
    builtins::Builtin,
    call::Call,
    control::Running,
    expand::{Argument, Field, NOT_STARTED},
    message::{Dialect, Voice, command_text},
    process::{self, Beside},
    redirect::Refusal,
    session::Session,
    shell::{Leave, Outcome, Shell},
};

/// The word that runs the next word as a builtin or a program, but not as a function.
const COMMAND: &str = "command";

/// The kind of a simple command, from its literal words.
pub(super) enum Kind<'p> {
    /// Only assignments and redirections.
    Nothing,
    Builtin(Builtin),
    /// `bash -c LINE`: a shell that needs no separate process.
    Shell(&'p Script),
    Program,
}

/// The index of the word that names what is run.
pub(super) fn program_word(simple: &Simple) -> usize {
    let literal = |at: usize| simple.words.get(at).and_then(Word::as_literal);
    let mut at = 0;
    // Alone it does nothing, and with `-v` it runs nothing.
    while literal(at) == Some(COMMAND) && literal(at + 1).is_some_and(|word| word != "-v") {
        at += 1;
    }
    at
}

/// The kind of a command.
pub(super) fn kind(simple: &Simple) -> Kind<'_> {
    if simple.words.is_empty() {
        return Kind::Nothing;
    }
    let name = simple
        .words
        .get(program_word(simple))
        .and_then(Word::as_literal);
    if let Some(builtin) = name.and_then(Builtin::named) {
        return Kind::Builtin(builtin);
    }
    match own_script(simple) {
        Some(script) => Kind::Shell(script),
        None => Kind::Program,
    }
}

/// The line of a command that is only a shell with `-c LINE`.
fn own_script(simple: &Simple) -> Option<&Script> {
    let program = program_word(simple);
    let name = simple.words.get(program)?.as_literal()?;
    let name = name.rsplit('/').next()?;
    let option = simple.words.get(program + 1)?.as_literal()?;
    if !matches!(name, "bash" | "dash" | "sh")
        || option != "-c"
        || simple.words.len() != program + 3
    {
        return None;
    }
    simple.runs.iter().find_map(|runs| match runs {
        Runs::Script { at, script } if usize::try_from(*at) == Ok(program + 2) => Some(script),
        _ => None,
    })
}

/// Whether a command is a program that needs nothing to be run before it starts.
pub(super) fn is_plain_program(simple: &Simple) -> bool {
    let is_plain = |word: &Word| {
        let runs = |part: &Part| matches!(part, Part::Substitution { .. } | Part::Process { .. });
        !word.parts.iter().any(runs)
    };
    matches!(kind(simple), Kind::Program)
        && simple.words.iter().all(is_plain)
        && simple.assignments.iter().all(|a| is_plain(&a.value))
        // Opening a named pipe blocks, and other stages must continue meanwhile.
        && simple.redirections.iter().all(|redirection| match &redirection.to {
            Target::Text(word) => is_plain(word),
            Target::Read(_) | Target::Write { .. } => false,
            Target::Duplicate(_) | Target::Close => true,
        })
}

impl<'p> Shell<'p> {
    pub(super) fn simple(&mut self, simple: &'p Simple, is_last: bool) -> Outcome {
        if simple.words.is_empty() {
            return self.assign(simple);
        }
        // Bash stays if it has descriptors to restore.
        let is_last = is_last && simple.redirections.is_empty();
        if simple
            .words
            .iter()
            .any(|word| process::script_of(word).is_some())
        {
            return self.with_processes(simple, is_last);
        }
        let call = self.call(simple, None)?;
        self.run(call, is_last)
    }

    /// Runs a command whose words are expanded.
    pub(super) fn run(&mut self, call: Call<'p>, is_last: bool) -> Outcome {
        let simple = call.simple;
        self.redirected(&simple.redirections, |shell| match kind(simple) {
            Kind::Nothing => Ok(()),
            Kind::Builtin(builtin) => shell.builtin(builtin, call),
            Kind::Shell(script) => shell.inner_shell(script, &call, is_last),
            Kind::Program => shell.program(&call, is_last),
        })
    }

    /// Sets shell variables.
    fn assign(&mut self, simple: &'p Simple) -> Outcome {
        let before = self.status;
        self.expanded = 0;
        // The status is that of the last substitution, if there is one.
        let mut substituted = false;
        for assignment in &simple.assignments {
            substituted |= has_substitution(&assignment.value);
            let value = self.one_word(&assignment.value, simple.line)?;
            self.set(&assignment.name, value, simple.line)?;
        }
        if !substituted {
            self.status = 0;
        }
        let status = self.status;
        if !simple.redirections.is_empty() {
            self.status = before;
            self.redirected(&simple.redirections, |shell| {
                shell.status = status;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Expands the words, then the assignments.
    pub(super) fn call(
        &mut self,
        simple: &'p Simple,
        mut beside: Option<Beside<'_, 'p>>,
    ) -> Result<Call<'p>, Leave> {
        self.expanded = 0;
        let mut arguments = Vec::with_capacity(simple.words.len());
        let mut starts = Vec::with_capacity(simple.words.len());
        // For a builtin, it is an ordinary word.
        let is_program = !matches!(kind(simple), Kind::Builtin(_));
        let mut expanded = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            expanded.push(match (process::script_of(word), &mut beside) {
                (Some(script), Some(beside)) => Expanded::File(self.process(script, *beside)?),
                _ => Expanded::Fields(self.fields(word, simple.line)?),
            });
        }
        for (word, expanded) in simple.words.iter().zip(expanded) {
            starts.push(arguments.len());
            let fields = match expanded {
                Expanded::File(argument) => vec![argument],
                Expanded::Fields(fields) => self.found(fields, simple.line)?,
            };
            if is_program && takes_number(word) && !are_one_number(&fields) {
                self.withhold(simple.line, b"what stands behind the option is no number");
                self.status = NOT_STARTED;
                return Err(Leave::Exit);
            }
            arguments.extend(fields);
        }
        let mut assignments = Vec::with_capacity(simple.assignments.len());
        for assignment in &simple.assignments {
            let value = self.one_word(&assignment.value, simple.line)?;
            assignments.push((assignment.name.as_str(), value));
        }
        Ok(Call {
            simple,
            program: program_word(simple),
            arguments,
            starts,
            assignments,
        })
    }

    /// Starts a plain program without waiting for it. If it is not started, the status to use is returned.
    pub(super) fn start(&mut self, simple: &'p Simple) -> Result<Result<Running, i32>, Leave> {
        self.start_as(simple, false)
    }

    /// The same for a program that replaces the shell.
    pub(super) fn start_last(&mut self, simple: &'p Simple) -> Result<Result<Running, i32>, Leave> {
        self.start_as(simple, true)
    }

    fn start_as(
        &mut self,
        simple: &'p Simple,
        is_last: bool,
    ) -> Result<Result<Running, i32>, Leave> {
        let call = self.call(simple, None)?;
        match self.redirect(&simple.redirections) {
            Ok(()) => self.spawn(&call, is_last && simple.redirections.is_empty()),
            Err(Refusal::Status(status)) => Ok(Err(status)),
            Err(Refusal::Leave(leave)) => Err(leave),
        }
    }

    fn program(&mut self, call: &Call<'p>, is_last: bool) -> Outcome {
        let running = match self.spawn(call, is_last)? {
            Ok(running) => running,
            Err(status) => {
                self.status = status;
                return Ok(());
            }
        };
        let id = running.id;
        let ending = self.context.control.wait(running);
        if self.context.control.is_stopping() {
            return Err(Leave::Stopped);
        }
        match ending {
            Ending::Signal(signal) if is_last => Err(Leave::Killed(signal)),
            ending => {
                let line = call.simple.line;
                let text = match ending {
                    Ending::Signal(_) => command_text(call.simple),
                    _ => String::new(),
                };
                self.ended(ending, Some((line, id, &text)));
                Ok(())
            }
        }
    }

    /// Runs the line of `bash -c LINE` like the process that bash would start for it.
    fn inner_shell(&mut self, script: &'p Script, call: &Call<'p>, is_last: bool) -> Outcome {
        let name = call
            .simple
            .words
            .get(call.program)
            .and_then(Word::as_literal);
        let name = name.unwrap_or_default();
        let session = self.context.session;
        // Other shells are started as programs with the line as text; if there is none, this fails like any missing program.
        let Some(dialect) = dialect(session, name) else {
            return self.program(call, is_last);
        };
        let mut inner = self.clone();
        for (name, value) in &call.assignments {
            inner.variables.export(name, value.clone());
        }
        if is_last {
            inner.variables.one_level_up();
        }
        inner.variables = match dialect {
            Dialect::Bash => inner.variables.of_child(self.directory.logical()),
            Dialect::Dash => inner.variables.of_plain_child(self.directory.logical()),
        };
        inner.voice = Arc::new(Voice {
            name: name.to_owned(),
            dialect,
        });
        inner.status = 0;
        inner.loops = 0;
        inner.is_substitution = false;
        let outcome = inner.script(script, true);
        let ending = inner.ending(outcome)?;
        match ending {
            Ending::Signal(signal) if is_last => Err(Leave::Killed(signal)),
            ending => {
                // Bash would print the id of the inner process; here it is this one.
                let id = std::process::id();
                self.ended(
                    ending,
                    Some((call.simple.line, id, &command_text(call.simple))),
                );
                Ok(())
            }
        }
    }
}

/// An expanded word, before pathname expansion.
enum Expanded {
    /// The path of a process substitution.
    File(Argument),
    Fields(Vec<Field>),
}

/// Whether an option and an expansion form one option with a number. Anything else could add more options.
fn are_one_number(fields: &[Argument]) -> bool {
    match fields {
        [option] => {
            let digits = option.text.as_encoded_bytes().get(2..).unwrap_or_default();
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn has_substitution(word: &Word) -> bool {
    (word.parts.iter()).any(|part| matches!(part, Part::Substitution { .. }))
}

/// The dialect of a shell of this name; `None` if it is unknown or does not exist.
pub(super) fn dialect(session: &Session, name: &str) -> Option<Dialect> {
    let path = match name.contains('/') {
        true => name.into(),
        false => session.find(name.as_ref())?,
    };
    let real = std::fs::canonicalize(path).ok()?;
    match real.file_name()?.to_str()? {
        "bash" => Some(Dialect::Bash),
        "dash" => Some(Dialect::Dash),
        _ => None,
    }
}
