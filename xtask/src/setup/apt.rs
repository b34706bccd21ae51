//! Debian packages, if they may be installed.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::setup::machine::Machine;
use crate::workspace::Workspace;

/// Whether system packages may be installed.
pub(crate) fn available(machine: &Machine) -> bool {
    machine.apt_get.is_some()
}

/// Installs or updates packages. The package lists are updated first, since old lists name old versions.
pub(crate) fn install(workspace: &Workspace, machine: &Machine, packages: &[&str]) -> Result<()> {
    let program = machine.apt_get.as_deref();
    let program = program.context("packages can be installed by root on Debian only")?;
    // Without a network, the existing lists may be recent enough.
    if let Err(error) = process::run(apt(workspace, program).args(["update", "--quiet=2"])) {
        progress::warning(&format!("the package lists stay as they are: {error:#}"));
    }
    process::run(
        apt(workspace, program)
            .args(["install", "--yes", "--quiet=2", "--no-install-recommends"])
            .args(packages),
    )
    .with_context(|| {
        format!(
            "run `apt-get update && apt-get install {}` as root, and try again",
            packages.join(" ")
        )
    })
}

fn apt(workspace: &Workspace, program: &Path) -> Command {
    let mut command = workspace.command(program);
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env_remove("LD_LIBRARY_PATH");
    command
}
