//! Runs approved plans for the tool: reads their output, and stops them at the time limit.
//!
//! A separate thread executes the plan and blocks where a shell would. Only this plan uses the thread, so
//! restrictions for the plan's programs can be applied to the thread that starts them.

use std::{
    io,
    os::fd::OwnedFd,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{Fuse, join},
};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::{
    net::unix::pipe::Receiver,
    sync::oneshot,
    time::{sleep, timeout},
};
use windlass_core::{
    host::CancelSignal,
    tool::{CommandPlan, ShellVariable},
};

use super::{
    MAX_STDERR,
    capture::Capture,
    exit::Exit,
    plan::{self, Control, Ended, Ending, Refused, Session, Streams},
    process::{Finished, GRACE, Listeners, drain, read},
    saved::OutputDirectory,
};
use crate::{
    files::with_followed,
    os::{self, Kill},
};

/// A plan to execute.
pub(crate) struct PlanJob<'a> {
    pub(crate) plan: &'a CommandPlan,
    /// The directory and environment in which it starts.
    pub(crate) session: Session,
    /// The number of bytes of standard output that are kept.
    pub(crate) max_stdout: usize,
    /// Where longer output is saved; `None` for nowhere.
    pub(crate) save_in: Option<&'a OutputDirectory>,
    /// The time limit; `None` for none.
    pub(crate) time: Option<Duration>,
    /// The receivers of its output while it runs.
    pub(crate) listeners: Listeners,
}

/// An executed plan.
pub(crate) struct Executed {
    pub(crate) finished: Finished,
    /// The resulting shell state; `None` if it was stopped.
    pub(crate) end_state: Option<EndState>,
}

/// The state of the shell at the end of a plan.
pub(crate) struct EndState {
    /// The working directory at its end.
    pub(crate) directory: Option<String>,
    /// The variables that it has set.
    pub(crate) variables: Vec<ShellVariable>,
}

/// Why a plan could not be executed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanJobError {
    #[error("The command cannot be run without a shell: {0}. Nothing was run.")]
    Refused(#[from] Refused),
    #[error("The command cannot be started: {0}.")]
    Start(#[from] io::Error),
    #[error("The command was started, and then lost.")]
    Lost,
}

type Outcome = Result<Ended, PlanJobError>;

/// Kills what still runs when it is no longer waited for.
struct Stopping(Arc<Control>);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl PlanJob<'_> {
    pub(crate) async fn run(&self, cancel: CancelSignal) -> Result<Executed, PlanJobError> {
        let (out, stdout) = output()?;
        let (err, stderr) = output()?;
        let control = Arc::new(Control::new()?);
        let stopping = Stopping(Arc::clone(&control));
        let ended = self.start(stdout, stderr, Arc::clone(&control))?;
        let mut stdout = Capture::new(self.max_stdout).saving_in(self.save_in.cloned());
        let mut stderr = Capture::new(MAX_STDERR).saving_in(self.save_in.cloned());
        let (exit, end_state, withheld) = {
            let (listeners, mut ended) = (&self.listeners, pin!(ended));
            let reading = join(
                read(&mut stdout, Some(out), listeners.stdout.as_ref()),
                read(&mut stderr, Some(err), listeners.stderr.as_ref()),
            )
            .map(drop);
            let mut reading = pin!(reading.fuse());
            let exit = self
                .watch(ended.as_mut(), &control, reading.as_mut(), cancel)
                .await?;
            // Processes of the group that outlive the plan are asked to end, and then killed.
            if control.signal_rest(Kill::Ask) {
                drain(reading.as_mut()).await;
                control.signal_rest(Kill::Force);
            }
            drain(reading).await;
            exit
        };
        drop(stopping);
        let finished = Finished {
            exit,
            stdout,
            stderr,
            withheld,
        };
        Ok(Executed {
            finished,
            end_state,
        })
    }

    /// Starts the thread that executes the plan.
    fn start(
        &self,
        stdout: OwnedFd,
        stderr: OwnedFd,
        control: Arc<Control>,
    ) -> Result<oneshot::Receiver<Outcome>, PlanJobError> {
        let stdin = std::fs::File::open("/dev/null")?.into();
        let streams = Streams {
            stdin,
            stdout,
            stderr,
        };
        let mut plan = self.plan.clone();
        plan.deny = with_followed(&plan.deny);
        let session = self.session.clone();
        let (tell, ended) = oneshot::channel();
        let execute = move || {
            let outcome = || {
                // A right that this thread gives up is not inherited by its programs.
                if os::may_trace() {
                    os::give_up_tracing()?;
                }
                Ok(plan::execute(&plan, &session, streams, &control)?)
            };
            // The receiver may be gone.
            let _ = tell.send(outcome());
        };
        std::thread::Builder::new()
            .name("command".to_owned())
            .spawn(execute)?;
        Ok(ended)
    }

    /// Waits for the plan to end, or stops it.
    async fn watch(
        &self,
        mut ended: Pin<&mut oneshot::Receiver<Outcome>>,
        control: &Control,
        mut reading: Pin<&mut Fuse<impl Future<Output = ()>>>,
        cancel: CancelSignal,
    ) -> Result<(Exit, Option<EndState>, bool), PlanJobError> {
        let stopped = {
            let mut limit = pin!(async {
                match self.time {
                    Some(time) => sleep(time).await,
                    None => std::future::pending().await,
                }
            });
            let mut cancelled = pin!(cancel.cancelled());
            loop {
                tokio::select! {
                    outcome = &mut ended => {
                        let ended = outcome.map_err(|_| PlanJobError::Lost)??;
                        let withheld = ended.withheld;
                        let state = EndState {
                            directory: ended.directory,
                            variables: ended.variables,
                        };
                        return Ok(match ended.how {
                            Ending::Code(code) => (Exit::Code(code), Some(state), withheld),
                            Ending::Signal(signal) => (Exit::Signal(signal), Some(state), withheld),
                            // Nobody else can stop the plan.
                            Ending::Stopped => (Exit::Cancelled, None, withheld),
                        });
                    }
                    () = &mut limit => break Exit::OutOfTime,
                    () = &mut cancelled => break Exit::Cancelled,
                    // The output must be read, or full pipes would block the command.
                    () = &mut reading => {}
                }
            }
        };
        control.stop(Kill::Ask);
        let over = async {
            loop {
                tokio::select! {
                    outcome = &mut ended => return outcome,
                    () = &mut reading => {}
                }
            }
        };
        if timeout(GRACE, over).await.is_err() {
            control.stop(Kill::Force);
            let _ = ended.await;
        }
        Ok((stopped, None, false))
    }
}

/// The two ends of an output pipe.
fn output() -> io::Result<(Receiver, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(reader)?, writer))
}
