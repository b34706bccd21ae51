//! Where things are in the checkout, and how to call cargo in it.

use std::cell::OnceCell;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::setup::wasm::{self, WasmToolchain};

/// The checkout that this program was built from.
pub(crate) struct Workspace {
    /// The directory of the workspace's Cargo.toml.
    pub(crate) root: PathBuf,
    /// Cargo's target directory; everything that xtask itself makes goes beneath it too.
    pub(crate) target: PathBuf,
    wasm: OnceCell<WasmToolchain>,
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

    /// One that is elsewhere.
    #[cfg(test)]
    pub(crate) fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            target: root.join("target"),
            wasm: OnceCell::new(),
        }
    }

    /// A command that starts in the root of the workspace, without what cargo told *us* about ourselves:
    /// build scripts that look at those variables would run again for nothing.
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

    /// The cargo that runs us, for what builds nothing that carries a component.
    pub(crate) fn cargo(&self) -> Command {
        self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// The cargo that runs us, for native builds. Some of them carry built components, for which the build script
    /// of `windlass-builtin` needs a wasm toolchain, so that is made ready first.
    pub(crate) fn native_cargo(&self) -> Result<Command> {
        self.wasm_toolchain()?;
        Ok(self.cargo())
    }

    /// A cargo that can build for wasm32, with the target directory and profile that the components use.
    pub(crate) fn wasm_cargo(&self, subcommand: &str) -> Result<Command> {
        let toolchain = self.wasm_toolchain()?;
        let mut cargo = match &toolchain.linked_name {
            None => self.cargo(),
            Some(name) => {
                // Through rustup, which reads `+name`; and nothing of our own toolchain may leak into it.
                let mut cargo = self.command("cargo");
                cargo.arg(format!("+{name}"));
                for variable in [
                    "CARGO",
                    "RUSTC",
                    "RUSTDOC",
                    "RUSTUP_TOOLCHAIN",
                    "LD_LIBRARY_PATH",
                ] {
                    cargo.env_remove(variable);
                }
                cargo
            }
        };
        cargo
            .env_remove("RUSTFLAGS")
            // The same as the components are built with, so that they share what they have in common.
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                "-Ctarget-feature=+simd128\x1f-Csymbol-mangling-version=v0\x1f-Clink-arg=--compress-relocations",
            )
            .env("CARGO_TARGET_DIR", self.wasm_target())
            .args([subcommand, "--profile", "wasm", "--target", wasm::TARGET]);
        Ok(cargo)
    }

    /// The target directory of wasm32 builds. Apart from the native one: the build script of
    /// `windlass-builtin` runs a cargo of its own there while the outer one holds the native directory.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        self.target.join("wasm")
    }

    /// Builds the `windlass` binary in the development profile and gives its path. The whole workspace is
    /// selected so that dependencies get the features they have in the tests, and are compiled once.
    pub(crate) fn build_windlass(&self) -> Result<PathBuf> {
        process::run(
            self.native_cargo()?
                .args(["build", "--workspace", "--bin", "windlass"]),
        )?;
        Ok(self.binary("windlass"))
    }

    /// Where cargo puts a binary of the development profile.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        self.target
            .join("debug")
            .join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// The workspace's Cargo.toml.
    pub(crate) fn manifest(&self) -> Result<toml::Table> {
        let path = self.root.join("Cargo.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.parse().with_context(|| path.display().to_string())
    }

    fn wasm_toolchain(&self) -> Result<&WasmToolchain> {
        if let Some(ready) = self.wasm.get() {
            return Ok(ready);
        }
        let ready = wasm::ensure(self)?;
        Ok(self.wasm.get_or_init(|| ready))
    }
}
