//! A judged plan as a job: run on a thread of its own, read, stopped.

use std::{
    ffi::OsString,
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
use rustix::{
    fs::{Mode, OFlags, open},
    pipe::{PipeFlags, pipe_with},
};
use tokio::{
    net::unix::pipe::Receiver,
    task::JoinHandle,
    time::{sleep, timeout},
};
use windlass_core::{host::CancelSignal, tool::CommandPlan};

use super::{
    MAX_STDERR,
    capture::Capture,
    exit::Exit,
    plan::{Control, Ended, Ending, Plan, PlannedFile, Refused, Session, SessionError, Streams},
    process::{Finished, GRACE, Listeners, drain},
};
use crate::os::Kill;

/// A plan to run.
pub(crate) struct JudgedJob<'a> {
    pub(crate) plan: &'a CommandPlan,
    /// The variables that its programs get.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Bytes of standard output that are kept.
    pub(crate) max_stdout: usize,
    /// How long it may run; none for as long as it likes.
    pub(crate) time: Option<Duration>,
    /// Who hears what it writes while it runs.
    pub(crate) listeners: Listeners,
}

/// A plan that could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JudgedError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(
        "The command was judged in parts, and cannot be run so: {0}. Ask for it to be approved as a whole."
    )]
    Refused(#[from] Refused),
    #[error("The command could not be started: {0}.")]
    Start(#[from] io::Error),
    #[error("The thread that ran the command has failed.")]
    Lost,
}

type Running = JoinHandle<Result<Ended, Refused>>;

impl JudgedJob<'_> {
    pub(crate) async fn run(self, cancel: CancelSignal) -> Result<Finished, JudgedError> {
        let plan = Plan::from(self.plan);
        let session = Session::new(&self.plan.directory, self.environment)?;
        let control = Arc::new(Control::new()?);
        let (out, stdout) = output()?;
        let (err, stderr) = output()?;
        let streams = Streams {
            stdin: open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(io::Error::from)?,
            stdout,
            stderr,
        };
        // Whoever drops the call stops the programs.
        let _stops = StopsWhenDropped(Arc::clone(&control));
        let for_thread = Arc::clone(&control);
        let running =
            tokio::task::spawn_blocking(move || plan.execute(&session, streams, &for_thread));
        let mut stdout = Capture::new(self.max_stdout);
        let mut stderr = Capture::new(MAX_STDERR);
        let (exit, directory) = {
            let reading = join(
                stdout.fill(out, self.listeners.stdout.as_ref()),
                stderr.fill(err, self.listeners.stderr.as_ref()),
            )
            .map(drop);
            let mut reading = pin!(reading.fuse());
            let ended = watch(running, &control, self.time, reading.as_mut(), cancel).await?;
            // What outlives the plan in its group ends here, asked first.
            if control.signal_rest(Kill::Ask) {
                drain(reading.as_mut()).await;
                control.signal_rest(Kill::Force);
            }
            drain(reading).await;
            ended
        };
        Ok(Finished {
            exit,
            stdout,
            stderr,
            directory,
        })
    }
}

impl From<&CommandPlan> for Plan {
    fn from(plan: &CommandPlan) -> Self {
        let files = plan.files.iter().map(|file| PlannedFile {
            written: file.written.clone(),
            real: file.real.clone(),
            access: file.access,
        });
        Self {
            script: plan.script.clone(),
            files: files.collect(),
        }
    }
}

struct StopsWhenDropped(Arc<Control>);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.kill();
    }
}

/// A pipe: what reads it here, and the end that programs write to.
fn output() -> io::Result<(Receiver, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((Receiver::from_owned_fd(read)?, write))
}

/// Waits for the plan to end, or ends it.
async fn watch(
    mut running: Running,
    control: &Control,
    time: Option<Duration>,
    mut reading: Pin<&mut Fuse<impl Future<Output = ()>>>,
    cancel: CancelSignal,
) -> Result<(Exit, Option<String>), JudgedError> {
    let stopped = {
        let mut limit = pin!(async {
            match time {
                Some(time) => sleep(time).await,
                None => std::future::pending().await,
            }
        });
        let mut cancelled = pin!(cancel.cancelled());
        loop {
            tokio::select! {
                ended = &mut running => {
                    let ended = ended.map_err(|_| JudgedError::Lost)??;
                    let exit = match ended.how {
                        Ending::Code(code) => Exit::Code(code),
                        Ending::Signal(signal) => Exit::Signal(signal),
                        Ending::Stopped => Exit::Cancelled,
                    };
                    return Ok((exit, Some(ended.directory)));
                }
                () = &mut limit => break Exit::OutOfTime,
                () = &mut cancelled => break Exit::Cancelled,
                // Pipes that nobody empties would stop the programs.
                () = &mut reading => {}
            }
        }
    };
    control.stop(Kill::Ask);
    let ended = async {
        loop {
            tokio::select! {
                _ = &mut running => return,
                () = &mut reading => {}
            }
        }
    };
    if timeout(GRACE, ended).await.is_err() {
        control.stop(Kill::Force);
        let _ = timeout(GRACE, &mut running).await;
    }
    Ok((stopped, None))
}
