//! The programs and folders of this machine that set-up uses. Tests replace them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::setup::release::Release;

/// The programs that set-up calls, and where it looks for files.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The package tool; `None` if system packages may not be installed.
    pub(crate) apt_get: Option<PathBuf>,
    /// rustup.
    pub(crate) rustup: PathBuf,
    /// The compiler that builds this workspace.
    pub(crate) rustc: PathBuf,
    /// Where Debian's packages install their compiler (`bin`) and its libraries (`lib/rustlib`).
    pub(crate) debian: PathBuf,
    /// The oldest release of Rust that can build this workspace.
    pub(crate) oldest: Release,
}

impl Machine {
    /// The current machine.
    pub(crate) fn this() -> Self {
        Self {
            apt_get: may_install().then(|| PathBuf::from("/usr/bin/apt-get")),
            rustup: "rustup".into(),
            rustc: "rustc".into(),
            debian: "/usr".into(),
            oldest: Release::NEEDED,
        }
    }

    /// Whether rustup is installed.
    pub(crate) fn has_rustup(&self) -> bool {
        let name = self.rustup.to_string_lossy();
        process::find(&[name.as_ref()]).is_some()
    }
}

/// Whether this is root on a Debian: only then may system packages be installed.
fn may_install() -> bool {
    Path::new("/usr/bin/apt-get").is_file() && is_debian() && is_root()
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
