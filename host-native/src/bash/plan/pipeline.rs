//! Pipelines: stages that run concurrently.

use std::thread::{Builder, Scope, ScopedJoinHandle};

use rustix::pipe::{PipeFlags, pipe_with};
use windlass_shell::{Command, Pipeline};

use super::{
    Ending,
    control::Running,
    message::{command_text, reason},
    shell::{Leave, Outcome, Shell},
    simple::is_plain_program,
    timing::Timer,
};

/// The status of bash for a pipeline that it cannot create.
const NOT_BUILT: i32 = 128;

/// A started stage.
enum Stage<'scope> {
    /// A program, with the text for a message about its death.
    Program(Running, u32, String),
    /// Anything that needs a shell.
    Thread(ScopedJoinHandle<'scope, Result<Ending, Leave>>),
    /// It has ended already.
    Ended(Result<Ending, Leave>),
}

impl<'p> Shell<'p> {
    pub(super) fn pipeline(&mut self, pipeline: &'p Pipeline, is_last: bool) -> Outcome {
        let timer = (pipeline.timed).then(|| Timer::start(self.context.control));
        let outcome = match pipeline.commands.as_slice() {
            [one] => {
                let is_last = is_last && !pipeline.negated && timer.is_none();
                self.command(one, is_last)
            }
            all => self.connected(all),
        };
        if let Some(timer) = timer {
            let report = timer.report(self.context.control);
            self.say(report.as_bytes());
        }
        outcome?;
        if pipeline.negated {
            self.status = i32::from(self.status == 0);
        }
        Ok(())
    }

    fn connected(&mut self, commands: &'p [Command]) -> Outcome {
        std::thread::scope(|scope| {
            let mut stages = Vec::with_capacity(commands.len());
            let mut input = None;
            for (index, command) in commands.iter().enumerate() {
                let mut stage = self.clone();
                if let Some(input) = input.take() {
                    stage.descriptors.set(0, input);
                }
                if index + 1 < commands.len() {
                    match pipe_with(PipeFlags::CLOEXEC) {
                        Ok((reader, writer)) => {
                            stage.descriptors.set(1, writer);
                            input = Some(reader);
                        }
                        Err(errno) => {
                            return self.not_built("pipe error", &errno.into());
                        }
                    }
                }
                stages.push(stage.stage(command, scope));
            }
            let mut outcome = Ok(());
            let count = stages.len();
            for (index, stage) in stages.into_iter().enumerate() {
                let ended = match stage {
                    Stage::Program(running, line, text) => {
                        let id = running.id;
                        let ending = self.context.control.wait(running);
                        // Bash reports only how the last stage of a pipeline died.
                        let told = (index + 1 == count).then_some((line, id, text.as_str()));
                        self.ended(ending, told);
                        continue;
                    }
                    // A panic in a stage is a bug of this module; it is propagated as if there were no threads.
                    Stage::Thread(thread) => match thread.join() {
                        Ok(ended) => ended,
                        Err(panic) => std::panic::resume_unwind(panic),
                    },
                    Stage::Ended(ended) => ended,
                };
                match ended {
                    Ok(ending) => self.ended(ending, None),
                    Err(leave) => outcome = Err(leave),
                }
            }
            outcome
        })
    }

    /// Starts this shell as a stage. The shell is dropped when the stage has started, which closes its ends of the pipes.
    fn stage<'scope>(
        mut self,
        command: &'p Command,
        scope: &'scope Scope<'scope, '_>,
    ) -> Stage<'scope>
    where
        'p: 'scope,
    {
        if let Command::Simple(simple) = command
            && is_plain_program(simple)
        {
            return match self.start(simple) {
                Ok(Ok(running)) => Stage::Program(running, simple.line, command_text(simple)),
                Ok(Err(status)) => Stage::Ended(Ok(Ending::Code(status))),
                Err(leave) => {
                    let ending = self.ending(Err(leave));
                    Stage::Ended(ending)
                }
            };
        }
        let builder = Builder::new().name("pipeline".to_owned());
        self.is_substitution = false;
        let shell = self.clone();
        let run = move || {
            let outcome = self.command(command, false);
            self.ending(outcome)
        };
        match builder.spawn_scoped(scope, run) {
            Ok(thread) => Stage::Thread(thread),
            Err(error) => {
                let mut shell = shell;
                let outcome = shell.not_built("cannot start a thread", &error);
                Stage::Ended(shell.ending(outcome))
            }
        }
    }

    pub(super) fn not_built(&mut self, what: &str, why: &std::io::Error) -> Outcome {
        self.say(format!("{}: {what}: {}\n", self.voice.name, reason(why)).as_bytes());
        self.status = NOT_BUILT;
        Err(Leave::Exit)
    }
}
