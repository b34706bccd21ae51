//! Starts the processes of a command, confined or not.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::fd::OwnedFd,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use command_fds::CommandFdExt as _;
use tokio::process::{Child, Command};
use windlass_core::tool::FsGrant;

use crate::child;

use super::{
    ConfineError, Sandbox,
    network::UnixSockets,
    placeholders::Reserved,
    policy::Files,
    system::{Allowed, FirstProcess},
    unix_sockets::others,
    violations::Violations,
};

/// Starts the processes of one command. Which files they may access is determined once for all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spawner(Option<Arc<Confined>>);

#[derive(Debug)]
struct Confined {
    sandbox: Sandbox,
    files: Files,
    variables: Vec<(OsString, OsString)>,
    /// The number of refused connections before the command.
    refused_before: u64,
    /// The first process of each started process's namespace.
    started: Mutex<Vec<FirstProcess>>,
    reserved: Reserved,
}

impl Spawner {
    /// Starts unconfined processes.
    pub(crate) fn bare() -> Self {
        Self::default()
    }

    pub(super) fn confined(sandbox: &Sandbox, grant: &FsGrant) -> Result<Self, ConfineError> {
        let temporary = sandbox.temporary();
        let mut files = sandbox.0.policy.files(grant, &temporary)?;
        let may_make = |path: &Path| files.reserved.iter().any(|reserved| reserved == path);
        let reserved = sandbox.0.placeholders.reserve(&files.guarded, may_make);
        // Links are followed, since programs read their targets. A path that still does not exist cannot be created by this user.
        let guarded = files
            .guarded
            .iter()
            .filter_map(|path| fs::canonicalize(path).ok());
        files.guarded = guarded.collect();
        files.guarded.sort();
        files.guarded.dedup();
        if sandbox.unix_sockets() == UnixSockets::Some {
            let policy = &sandbox.0.policy;
            files
                .closed
                .extend(others(&policy.sockets, policy.home.as_deref()));
            files.closed.sort();
        }
        Ok(Self(Some(Arc::new(Confined {
            variables: sandbox.variables(),
            refused_before: sandbox.0.refusals.count(),
            sandbox: sandbox.clone(),
            files,
            started: Mutex::default(),
            reserved,
        }))))
    }

    /// Whether the started processes are confined.
    pub(crate) fn is_confined(&self) -> bool {
        self.0.is_some()
    }

    /// A command for a program, to be completed and passed to [`spawn`](Self::spawn).
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        match &self.0 {
            None => child::command(program).into(),
            Some(confined) => {
                let kernel = &confined.sandbox.0.kernel;
                kernel
                    .command(program, &confined.files, confined.allowed())
                    .into()
            }
        }
    }

    /// Starts a process in a directory, with these file descriptors beside the standard ones.
    ///
    /// # Errors
    /// The error of the operating system; for confined processes, also which step of the confinement failed. No
    /// process runs then.
    pub(crate) fn spawn(
        &self,
        mut command: Command,
        directory: &Path,
        handles: Vec<OwnedFd>,
    ) -> io::Result<Child> {
        let Some(confined) = &self.0 else {
            command.as_std_mut().preserved_fds(handles);
            return child::spawn(&mut command);
        };
        let kernel = &confined.sandbox.0.kernel;
        command.envs(confined.variables.iter().map(|(name, value)| (name, value)));
        let started = kernel.confine(
            command.as_std_mut(),
            &confined.files,
            directory,
            confined.allowed(),
        )?;
        // Must come after the step that closes all other descriptors.
        command.as_std_mut().preserved_fds(handles);
        let outcome = child::spawn(&mut command);
        // Closes the other end of the socket that reports the failed step.
        drop(command);
        let child = outcome.map_err(|error| match started.failure() {
            None => error,
            Some(step) => io::Error::new(
                error.kind(),
                format!("it cannot be confined: {step} fails ({error})"),
            ),
        })?;
        let first = started.first_process().inspect_err(|_| {
            // It ends with its child, but it is not known how soon.
            confined.reserved.keep();
        })?;
        let mut all = confined
            .started
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.extend(first);
        Ok(child)
    }

    /// What the sandbox refused a command, as far as its output shows it.
    pub(crate) fn violations(&self, stderr: &str) -> Option<String> {
        let confined = self.0.as_ref()?;
        let refused = confined.sandbox.0.refusals.since(confined.refused_before);
        let ignored = &confined.sandbox.0.settings.ignore_violations;
        Violations::of(stderr, refused, &confined.files)
            .without(ignored)
            .told()
    }
}

/// Ends all processes of the command before the placeholders are removed: a process that is left could create files there.
impl Drop for Confined {
    fn drop(&mut self) {
        let started = self
            .started
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // All are ended, even after one that does not end.
        let ended: Vec<bool> = started.drain(..).map(|first| first.end()).collect();
        if ended.contains(&false) {
            self.reserved.keep();
        }
    }
}

impl Confined {
    fn allowed(&self) -> Allowed {
        Allowed {
            unix: self.sandbox.unix_sockets(),
            bind: self.sandbox.0.settings.network.allow_local_binding == Some(true),
        }
    }
}
