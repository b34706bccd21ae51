//! Debian packages, where we may install them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::workspace::Workspace;

/// Whether this is root on a Debian: only then are system packages ours to install.
pub(crate) fn available() -> bool {
    Path::new("/usr/bin/apt-get").is_file() && is_debian() && is_root()
}

/// Installs packages, or brings those that are there up to date. The package lists are fetched first: old ones name old versions.
pub(crate) fn install(workspace: &Workspace, packages: &[&str]) -> Result<()> {
    process::run(apt(workspace).args(["update", "--quiet=2"]))?;
    process::run(
        apt(workspace)
            .args(["install", "--yes", "--quiet=2", "--no-install-recommends"])
            .args(packages),
    )
}

fn apt(workspace: &Workspace) -> Command {
    let mut command = workspace.command("apt-get");
    command
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env_remove("LD_LIBRARY_PATH");
    command
}

fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release
        .lines()
        .any(|line| matches!(line, "ID=debian" | "ID=\"debian\""))
}

fn is_root() -> bool {
    process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
