//! The paths of the checkout, and commands to call cargo in it.

use std::cell::OnceCell;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::wasm_toolchain::WasmToolchain;

/// The checkout from which this program was built.
pub(crate) struct Workspace {
    /// The directory of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Cargo's target directory, which also contains everything that xtask creates.
    pub(crate) target: PathBuf,
    /// The toolchain for wasm32, once it was asked for.
    pub(crate) wasm: OnceCell<WasmToolchain>,
}

impl Workspace {
    pub(crate) fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask does not stand inside a workspace")?
            .to_owned();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => env::current_dir()?.join(directory),
            None => root.join("target"),
        };
        Ok(Self {
            root,
            target,
            wasm: OnceCell::new(),
        })
    }

    /// A workspace at another path.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            target: root.join("target"),
            wasm: OnceCell::new(),
        }
    }

    /// A command that starts in the root of the workspace, without the variables that cargo set for this process:
    /// they would make build scripts that read them run again.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// The cargo that runs this process, for builds that contain no components.
    pub(crate) fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// The target directory of wasm32 builds. Separate from the native one: the build script of `windlass-builtin`
    /// runs its own cargo there while the outer one locks the native directory.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// The path of a binary of the development profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target
            .join("debug")
            .join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// Parses the workspace's Cargo.toml.
    pub(crate) fn manifest(&self) -> Result<toml::Table> {
        let path = self.root.join("Cargo.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.parse().with_context(|| path.display().to_string())
    }
}
