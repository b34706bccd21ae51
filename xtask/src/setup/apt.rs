//! Debian packages, if they may be installed.

use std::fs;
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

/// Unpacks the files of a package into a folder. Nothing is installed: no service of it starts, and nobody has to be root.
pub(crate) fn unpack(workspace: &Workspace, package: &str, folder: &Path) -> Result<()> {
    let new = folder.with_extension("new");
    if new.exists() {
        fs::remove_dir_all(&new)?;
    }
    fs::create_dir_all(&new)?;
    let program = Path::new("/usr/bin/apt-get");
    // The lists may be recent enough, and only root may update them.
    let download = |new: &Path| {
        let mut command = apt(workspace, program);
        command
            .args(["download", "--quiet=2", package])
            .current_dir(new);
        process::run(&mut command)
    };
    if download(&new).is_err() {
        process::run(apt(workspace, program).args(["update", "--quiet=2"]))?;
        download(&new)
            .with_context(|| format!("run `apt-get install {package}` as root, and try again"))?;
    }
    let downloaded = fs::read_dir(&new)?
        .next()
        .context("apt-get downloaded nothing")??;
    process::run(
        (workspace.command("dpkg-deb"))
            .arg("--extract")
            .arg(downloaded.path())
            .arg(&new),
    )?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::rename(&new, folder)?;
    Ok(())
}

fn apt(workspace: &Workspace, program: &Path) -> Command {
    let mut command = workspace.command(program);
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env_remove("LD_LIBRARY_PATH");
    command
}
