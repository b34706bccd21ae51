//! Systems without confinement.

use std::{ffi::OsStr, io, path::Path, process::Command};

use crate::child;

use super::{Lack, ProxySockets, network::UnixSockets, policy::Files};

/// The port of the HTTP proxy, if there were one.
pub(super) const HTTP_PORT: u16 = 3128;

/// The port of the SOCKS proxy, if there were one.
pub(super) const SOCKS_PORT: u16 = 1080;

/// A kernel without known sandbox features.
#[derive(Debug)]
pub(super) struct Kernel([Lack; 1]);

/// What a command may do besides accessing its files.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "nobody looks at it here")]
pub(super) struct Allowed {
    pub(super) unix: UnixSockets,
    pub(super) bind: bool,
}

impl Kernel {
    pub(super) fn probe() -> (Self, Option<ProxySockets>) {
        let lack = Lack::System(format!("nothing is known about {}", std::env::consts::OS));
        (Self([lack]), None)
    }

    pub(super) fn lacks(&self) -> &[Lack] {
        &self.0
    }

    pub(super) fn has_namespaces(&self) -> bool {
        false
    }

    pub(super) fn can_do_with_less(&self) -> bool {
        false
    }

    pub(super) fn command(&self, program: &OsStr, _files: &Files, _allowed: Allowed) -> Command {
        child::command(program)
    }

    pub(super) fn confine(
        &self,
        _command: &mut Command,
        _files: &Files,
        _directory: &Path,
        _allowed: Allowed,
    ) -> io::Result<Started> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A confined command; does not exist here.
#[derive(Debug)]
pub(super) struct Started;

impl Started {
    /// There are no PID namespaces on this system.
    pub(super) fn first_process(&self) -> io::Result<Option<FirstProcess>> {
        Ok(None)
    }

    pub(super) fn failure(&self) -> Option<&'static str> {
        None
    }
}

/// The first process of a PID namespace; does not exist here.
#[derive(Debug)]
pub(super) enum FirstProcess {}

impl FirstProcess {
    pub(super) fn end(&self) -> bool {
        match *self {}
    }
}
