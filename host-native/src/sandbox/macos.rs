//! Confinement on macOS: a profile for `sandbox-exec`. It was written from the documentation of the profile language
//! and has never been tested, so it is used only if the settings ask for it (`enableWeakerNestedSandbox`).

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::child;

use super::{Lack, ProxySockets, network::UnixSockets, policy::Files};

/// The port of the HTTP proxy, if there were one.
pub(super) const HTTP_PORT: u16 = 3128;

/// The port of the SOCKS proxy, if there were one.
pub(super) const SOCKS_PORT: u16 = 1080;

const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// The sandbox features of this system.
#[derive(Debug)]
pub(super) struct Kernel([Lack; 1]);

/// What a command may do besides accessing its files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowed {
    pub(super) unix: UnixSockets,
    pub(super) bind: bool,
}

impl Kernel {
    pub(super) fn probe() -> (Self, Option<ProxySockets>) {
        let why = "`sandbox-exec` was never tried out with windlass; `enableWeakerNestedSandbox` uses it all the same";
        (Self([Lack::System(why.to_owned())]), None)
    }

    pub(super) fn lacks(&self) -> &[Lack] {
        &self.0
    }

    pub(super) fn has_namespaces(&self) -> bool {
        false
    }

    pub(super) fn can_do_with_less(&self) -> bool {
        Path::new(PROGRAM).exists()
    }

    /// A command for a program, run by `sandbox-exec`.
    pub(super) fn command(&self, program: &OsStr, files: &Files, allowed: Allowed) -> Command {
        let mut command = child::command(PROGRAM);
        command.arg("-p").arg(profile(files, allowed)).arg(program);
        command
    }

    /// Nothing to do: the command was created confined.
    pub(super) fn confine(
        &self,
        _command: &mut Command,
        _files: &Files,
        _directory: &Path,
        _allowed: Allowed,
    ) -> io::Result<Started> {
        Ok(Started)
    }
}

/// Allows everything except what follows; later rules take precedence.
fn profile(files: &Files, allowed: Allowed) -> OsString {
    let mut text =
        String::from("(version 1)\n(allow default)\n(deny network*)\n(deny file-write*)\n");
    let mut rule = |verdict: &str, what: &str, path: &Path| {
        let path = path
            .to_string_lossy()
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "({verdict} {what} (subpath \"{path}\"))");
    };
    for path in files
        .open
        .iter()
        .map(AsRef::as_ref)
        .chain([Path::new("/dev")])
    {
        rule("allow", "file-write*", path);
    }
    for path in &files.guarded {
        rule("deny", "file-write*", path);
    }
    // The last matching rule counts, so the order is: writable folders, protected paths, writable folders within
    // protected ones, protected paths within those.
    let is_guarded = |path: &&PathBuf| files.guarded.iter().any(|place| path.starts_with(place));
    let within: Vec<&PathBuf> = files.open.iter().filter(is_guarded).collect();
    for path in &within {
        rule("allow", "file-write*", path);
    }
    let lies_within = |path: &&PathBuf| within.iter().any(|open| path.starts_with(open));
    for path in files
        .guarded
        .iter()
        .filter(lies_within)
        .chain(&files.read_only)
    {
        rule("deny", "file-write*", path);
    }
    for path in &files.closed {
        rule("deny", "file-write*", path);
        rule("deny", "file-read*", path);
    }
    if allowed.bind {
        text.push_str("(allow network-bind (local ip \"localhost:*\"))\n(allow network-inbound (local ip \"localhost:*\"))\n");
    }
    if allowed.unix == UnixSockets::All {
        text.push_str(
            "(allow network* (local unix-socket))\n(allow network* (remote unix-socket))\n",
        );
    }
    text.into()
}

/// A command that was started with confinement.
#[derive(Debug)]
pub(super) struct Started;

impl Started {
    /// There are no PID namespaces on macOS.
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
