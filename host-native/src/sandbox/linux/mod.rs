//! Confinement on Linux: user, mount, network and IPC namespaces; Landlock behind the mounts; and seccomp filters
//! that keep programs from undoing either.
//!
//! The child process applies all of it to itself between fork and exec, so that no helper program is needed and it
//! works in any program that uses this library. Whatever can be prepared is prepared before the fork.

mod before_exec;
mod enter;
mod first_process;
mod landlock;
mod mount_table;
mod mounts;
mod namespaces;
mod seccomp;
mod step;

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use self::{
    before_exec::before_exec,
    enter::{Entry, Inside},
    first_process::Ends,
    mounts::View,
    namespaces::{Established, Namespaces},
    seccomp::Sockets,
};
pub(super) use self::{
    first_process::{FirstProcess, Started},
    namespaces::{HTTP_PORT, SOCKS_PORT},
};
use crate::child;

use super::{Lack, ProxySockets, network::UnixSockets, policy::Files};

/// The sandbox features of this kernel, with the namespaces created from them.
#[derive(Debug)]
pub(super) struct Kernel {
    namespaces: Option<Arc<Namespaces>>,
    landlock: bool,
    lacks: Vec<Lack>,
}

/// What a command may do besides accessing its files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    pub(super) unix: UnixSockets,
    pub(super) bind: bool,
}

impl Kernel {
    /// Tests all features in a child that ends before exec.
    pub(super) fn probe() -> (Self, Option<ProxySockets>) {
        let mut kernel = Self {
            namespaces: None,
            landlock: landlock::is_available(),
            lacks: Vec::new(),
        };
        if !kernel.landlock {
            kernel.lacks.push(Lack::Landlock);
        }
        if let Err(error) = seccomp::filters(Sockets::NONE) {
            kernel.lacks.push(Lack::Filters(error.to_string()));
        }
        let established = match Namespaces::establish() {
            Ok(established) => established,
            Err(error) => {
                kernel.lacks.push(Lack::Namespaces(error.to_string()));
                return (kernel, None);
            }
        };
        let Established {
            namespaces,
            http,
            socks,
        } = established;
        kernel.namespaces = Some(Arc::new(namespaces));
        match kernel.rehearse() {
            Ok(()) => (kernel, Some(ProxySockets { http, socks })),
            Err(error) => {
                kernel.namespaces = None;
                kernel.lacks.push(Lack::Namespaces(error.to_string()));
                (kernel, None)
            }
        }
    }

    /// The missing features.
    pub(super) fn lacks(&self) -> &[Lack] {
        &self.lacks
    }

    /// Whether commands have their own file system view and network.
    pub(super) fn has_namespaces(&self) -> bool {
        self.namespaces.is_some()
    }

    /// Whether some confinement is possible without namespaces.
    pub(super) fn can_do_with_less(&self) -> bool {
        let lacks_filters = |lack: &Lack| matches!(lack, Lack::Filters(_));
        self.landlock && !self.lacks.iter().any(lacks_filters)
    }

    /// Runs all steps once, for a program that does not exist.
    fn rehearse(&self) -> io::Result<()> {
        let allowed = Allowed {
            unix: UnixSockets::None,
            bind: false,
        };
        // No program has this path: the child fails in exec, after all steps.
        let mut command = child::command("/proc/self/nothing");
        let files = Files::default();
        let confined = self.confine(&mut command, &files, Path::new("/"), allowed)?;
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(mut child) => {
                child.wait()?;
            }
        }
        drop(command);
        match confined.failed_step() {
            None => Ok(()),
            Some(step) => Err(io::Error::other(format!("{} fails", step.words()))),
        }
    }

    /// A command for a program.
    pub(super) fn command(&self, program: &OsStr, _files: &Files, _allowed: Allowed) -> Command {
        child::command(program)
    }

    /// Makes a command confine itself when it is started.
    ///
    /// # Errors
    /// The file system view cannot be planned.
    pub(super) fn confine(
        &self,
        command: &mut Command,
        files: &Files,
        directory: &Path,
        allowed: Allowed,
    ) -> io::Result<Started> {
        let inside = match &self.namespaces {
            None => None,
            Some(namespaces) => Some(Inside {
                namespaces: Arc::clone(namespaces),
                view: View::plan(files, directory)?,
                ends: Ends::new()?,
            }),
        };
        let refused = |error: ::landlock::RulesetError| io::Error::other(error);
        let rules = match self.landlock {
            true => Some(landlock::rules(&self.writable(files), allowed.bind).map_err(refused)?),
            false => None,
        };
        let filters = seccomp::filters(Sockets {
            unix: allowed.unix,
            listen: allowed.bind || allowed.unix != UnixSockets::None,
            // Without a network namespace, commands would have this machine's network.
            internet: inside.is_some(),
        })
        .map_err(io::Error::other)?;
        let (started, told) = Started::new(inside.is_some())?;
        let mut entry = Entry {
            inside,
            rules,
            filters,
            told,
        };
        before_exec(command, move || entry.run());
        Ok(started)
    }

    /// The paths that Landlock leaves writable. Without mounts, there is no separate folder of devices.
    fn writable(&self, files: &Files) -> Vec<PathBuf> {
        let mut writable = files.open.clone();
        if !self.has_namespaces() {
            writable.extend(["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"].map(PathBuf::from));
        }
        writable
    }
}

impl Sockets {
    const NONE: Self = Self {
        unix: UnixSockets::None,
        listen: false,
        internet: false,
    };
}
