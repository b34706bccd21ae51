//! A command as a process group: starts it, reads its output, and stops it.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::fd::OwnedFd,
    pin::{Pin, pin},
    process::Stdio,
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{Fuse, FusedFuture, join3},
};
use tokio::{
    io::AsyncWriteExt,
    process::Child,
    sync::mpsc,
    time::{sleep, timeout},
};
use windlass_core::host::CancelSignal;

use super::{MAX_STDERR, capture::Capture, exit::Exit, saved::OutputDirectory};
use crate::{
    child,
    os::{Group, Kill},
    sandbox::Spawner,
};

/// The time between the request to end and the kill.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How long to wait for output after every process of the group has ended: a process that left the group may still hold the pipe.
const DRAIN: Duration = Duration::from_millis(500);

/// A command to run.
pub(crate) struct Job<'a> {
    pub(crate) shell: &'a OsStr,
    pub(crate) command: &'a str,
    pub(crate) directory: &'a str,
    /// Variables of this process that are hidden from it.
    pub(crate) hidden: &'a [OsString],
    /// Variables that are set in addition.
    pub(crate) variables: &'a [(OsString, OsString)],
    /// Its standard input; `None` for no input.
    pub(crate) input: Option<&'a [u8]>,
    /// The number of bytes of standard output that are kept.
    pub(crate) max_stdout: usize,
    /// Where longer output is saved; `None` for nowhere.
    pub(crate) save_in: Option<&'a OutputDirectory>,
    /// The time limit; `None` for none.
    pub(crate) time: Option<Duration>,
    /// The receivers of its output while it runs.
    pub(crate) listeners: Listeners,
    /// Starts its processes.
    pub(crate) spawner: &'a Spawner,
    /// Further file descriptors that it inherits, with the numbers that they have here.
    pub(crate) handles: Vec<OwnedFd>,
}

/// The receivers of a command's two outputs, piece by piece. The command blocks while a receiver is behind.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    pub(crate) stdout: Option<mpsc::Sender<Vec<u8>>>,
    pub(crate) stderr: Option<mpsc::Sender<Vec<u8>>>,
}

/// A command that was run.
pub(crate) struct Finished {
    pub(crate) exit: Exit,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    /// Whether rules prevented a part of it.
    pub(crate) withheld: bool,
}

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("The working directory `{0}` does not exist or is not a directory.")]
    Directory(String),
    #[error("The shell `{}` cannot be started: {source}.{}", .shell.display(), if source.kind() == io::ErrorKind::NotFound { " Bash must be installed." } else { "" })]
    Start { shell: OsString, source: io::Error },
    #[error("The command was started, and then lost: {0}.")]
    Lost(#[from] io::Error),
}

impl Job<'_> {
    pub(crate) async fn run(mut self, cancel: CancelSignal) -> Result<Finished, RunError> {
        let mut child = self.start()?;
        // A child that was not reaped has an id.
        let mut group = Group::new(child.id());
        let mut stdout = Capture::new(self.max_stdout).saving_in(self.save_in.cloned());
        let mut stderr = Capture::new(MAX_STDERR).saving_in(self.save_in.cloned());
        let exit = {
            let (out, err) = (child.stdout.take(), child.stderr.take());
            let writing = write(child.stdin.take(), self.input.unwrap_or_default());
            let Listeners {
                stdout: out_listener,
                stderr: err_listener,
            } = &self.listeners;
            let reading = join3(
                writing,
                read(&mut stdout, out, out_listener.as_ref()),
                read(&mut stderr, err, err_listener.as_ref()),
            )
            .map(drop);
            let mut reading = pin!(reading.fuse());
            let exit = self
                .watch(&mut child, &mut group, reading.as_mut(), cancel)
                .await?;
            // Processes of the group that outlive the shell are asked to end, and then killed.
            if group.signal(Kill::Ask) {
                drain(reading.as_mut()).await;
                group.signal(Kill::Force);
            }
            drain(reading).await;
            exit
        };
        Ok(Finished {
            exit,
            stdout,
            stderr,
            withheld: false,
        })
    }

    fn start(&mut self) -> Result<Child, RunError> {
        let directory = std::path::Path::new(self.directory);
        if !directory.is_dir() {
            return Err(RunError::Directory(self.directory.to_owned()));
        }
        let mut command = self.spawner.command(&found(self.shell));
        command
            // The name in its error messages.
            .arg0(self.shell)
            .arg("-c")
            .arg(self.command)
            .current_dir(self.directory)
            .stdin(match self.input {
                Some(_) => Stdio::piped(),
                None => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        for name in self.hidden {
            command.env_remove(name);
        }
        let variables = self.variables.iter().cloned();
        command.envs(child::without_credentials(variables));
        Group::expect();
        let handles = std::mem::take(&mut self.handles);
        let spawned = self.spawner.spawn(command, directory, handles);
        spawned.map_err(|source| RunError::Start {
            shell: self.shell.to_owned(),
            source,
        })
    }

    /// Waits for the shell to end, or stops it.
    async fn watch(
        &self,
        child: &mut Child,
        group: &mut Group,
        mut reading: Pin<&mut Fuse<impl Future<Output = ()>>>,
        cancel: CancelSignal,
    ) -> io::Result<Exit> {
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
                    status = child.wait() => return Ok(status?.into()),
                    () = &mut limit => break Exit::OutOfTime,
                    () = &mut cancelled => break Exit::Cancelled,
                    // The output must be read, or full pipes would block the command.
                    () = &mut reading => {}
                }
            }
        };
        group.signal(Kill::Ask);
        let ended = async {
            loop {
                tokio::select! {
                    status = child.wait() => return status,
                    () = &mut reading => {}
                }
            }
        };
        if timeout(GRACE, ended).await.is_err() {
            group.signal(Kill::Force);
            child.wait().await?;
        }
        Ok(stopped)
    }
}

/// The file of the shell in this process's search path. A search path set by an earlier command applies only to what
/// the shell starts.
fn found(shell: &OsStr) -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(shell));
    match candidates.find(|candidate| candidate.is_file()) {
        Some(file) => file.into(),
        None => shell.to_owned(),
    }
}

/// Reads the rest of the output, for a limited time.
pub(super) async fn drain(reading: Pin<&mut Fuse<impl Future<Output = ()>>>) {
    // A completed fused future must not be awaited again.
    if !reading.is_terminated() {
        let _ = timeout(DRAIN, reading).await;
    }
}

/// Writes the whole input and closes the pipe. It is no error if the command does not read it.
async fn write(to: Option<impl tokio::io::AsyncWrite + Unpin>, input: &[u8]) {
    if let Some(mut to) = to {
        let _ = to.write_all(input).await;
    }
}

pub(super) async fn read(
    into: &mut Capture,
    from: Option<impl tokio::io::AsyncRead + Unpin>,
    listener: Option<&mpsc::Sender<Vec<u8>>>,
) {
    if let Some(from) = from {
        into.fill(from, listener).await;
    }
}
