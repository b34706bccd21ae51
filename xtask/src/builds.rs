//! The builds of a workspace: each sets up the toolchain for wasm32 first, if it needs one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::setup::wasm;
use crate::wasm_toolchain::{NAME_VARIABLE, TARGET, WasmToolchain};
use crate::workspace::Workspace;

impl Workspace {
    /// The cargo that runs this process, for native builds. Some of them contain built components, for which the
    /// build script of `windlass-builtin` needs a wasm toolchain, so that is set up first.
    pub(crate) fn native_cargo(&self) -> Result<Command> {
        self.wasm_toolchain()?;
        Ok(self.cargo())
    }

    /// A program that starts a cargo of its own for wasm32.
    pub(crate) fn native_command(&self, program: &Path) -> Result<Command> {
        let mut command = self.command(program);
        command.envs(self.wasm_variable()?);
        Ok(command)
    }

    /// The variable that names the toolchain for wasm32 to whoever starts a cargo for it, if it is not the one in use.
    pub(crate) fn wasm_variable(&self) -> Result<Option<(&'static str, &str)>> {
        let name = self.wasm_toolchain()?.linked_name.as_deref();
        Ok(name.map(|name| (NAME_VARIABLE, name)))
    }

    /// A cargo that can build for wasm32, with the target directory and profile of the components.
    pub(crate) fn wasm_cargo(&self, subcommand: &str) -> Result<Command> {
        let toolchain = self.wasm_toolchain()?;
        let mut cargo = match &toolchain.linked_name {
            None => self.cargo(),
            Some(name) => {
                // Through rustup, which interprets `+name`; no variable of the current toolchain may be inherited.
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
            // The same flags as for the components, so that common dependencies are shared.
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                "-Ctarget-feature=+simd128\x1f-Csymbol-mangling-version=v0\x1f-Clink-arg=--compress-relocations",
            )
            .env("CARGO_TARGET_DIR", self.wasm_target())
            .args([subcommand, "--profile", "wasm", "--target", TARGET]);
        Ok(cargo)
    }

    /// Builds the `windlass` binary in the development profile and returns its path. The whole workspace is selected
    /// so that dependencies have the same features as in the tests, and are compiled once.
    pub(crate) fn build_windlass(&self) -> Result<PathBuf> {
        process::run(
            self.native_cargo()?
                .args(["build", "--workspace", "--bin", "windlass"]),
        )?;
        Ok(self.binary("windlass"))
    }

    fn wasm_toolchain(&self) -> Result<&WasmToolchain> {
        if let Some(ready) = self.wasm.get() {
            return Ok(ready);
        }
        let ready = wasm::ensure(self)?;
        Ok(self.wasm.get_or_init(|| ready))
    }
}
