//! Set-up: each function checks whether the machine has what is needed, and otherwise installs it or says which
//! command would. The functions are independent; a command calls only those it needs.

pub(crate) mod apt;
mod debian;
pub(crate) mod editors;
pub(crate) mod languages;
mod machine;
pub(crate) mod mcp_conformance;
pub(crate) mod npm;
mod release;
pub(crate) mod sdk;
pub(crate) mod tools;
pub(crate) mod wasm;

#[cfg(all(test, unix))]
mod fresh_machine;

use std::env;
use std::path::PathBuf;

use anyhow::{Result, bail};

use self::machine::Machine;
use crate::process;
use crate::progress;
use crate::workspace::Workspace;

/// Everything that any command needs, to be done before going offline.
pub(crate) fn everything(workspace: &Workspace) -> Result<()> {
    wasm::ensure(workspace)?;
    tools::cargo_deny(workspace)?;
    tools::cargo_nextest(workspace)?;
    npm::packages(workspace)?;
    sdk::ensure(workspace)?;
    editors::ensure(workspace)?;
    mcp_conformance::ensure(workspace)?;
    languages::ensure(workspace)?;
    clang(workspace)?;
    chromium(workspace)?;
    registry(workspace)?;
    ripgrep(workspace)
}

/// A Chromium for browser tests: `$CHROME`, one on `PATH`, or Debian's.
pub(crate) fn chromium(workspace: &Workspace) -> Result<PathBuf> {
    const NAMES: [&str; 5] = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    if let Some(chosen) = env::var_os("CHROME") {
        let path = PathBuf::from(chosen);
        if path.is_file() {
            return Ok(path);
        }
        bail!("$CHROME names `{}`, which is not a file", path.display());
    }
    if let Some(path) = process::find(&NAMES) {
        return Ok(path);
    }
    let machine = Machine::this();
    if apt::available(&machine) {
        progress::step("install Chromium", || {
            apt::install(workspace, &machine, &["chromium"])
        })?;
        if let Some(path) = process::find(&NAMES) {
            return Ok(path);
        }
    }
    bail!(
        "no Chromium found: install Chromium or Google Chrome, or set $CHROME to the path of its binary"
    )
}

/// clang and LLVM's archiver, which make WebAssembly of C for the example `plugins/sqlite`. No other build needs them.
pub(crate) fn clang(workspace: &Workspace) -> Result<()> {
    let is_there = || process::find(&["clang"]).is_some() && process::find(&["llvm-ar"]).is_some();
    if is_there() {
        return Ok(());
    }
    let machine = Machine::this();
    if apt::available(&machine) {
        progress::step("install clang", || {
            apt::install(workspace, &machine, &["clang", "llvm"])
        })?;
        if is_there() {
            return Ok(());
        }
    }
    bail!(
        "no `clang` and `llvm-ar` on PATH, which compile SQLite for a plugin: install clang and LLVM"
    )
}

/// A registry for tests of `windlass plugin add`: `docker-registry` on `PATH`, or Debian's.
pub(crate) fn registry(workspace: &Workspace) -> Result<PathBuf> {
    const NAME: &str = "docker-registry";
    if let Some(path) = process::find(&[NAME]) {
        return Ok(path);
    }
    let folder = workspace.target.join("tools").join(NAME);
    let program = folder.join("usr/bin").join(NAME);
    if !program.is_file() && process::find(&["apt-get"]).is_some() {
        progress::step("unpack docker-registry", || {
            apt::unpack(workspace, NAME, &folder)
        })?;
    }
    if program.is_file() {
        return Ok(program);
    }
    bail!(
        "no `docker-registry` on PATH, which tests of `windlass plugin add` start on loopback: install Debian's package of that name"
    )
}

/// ripgrep, the baseline of the search benchmarks.
pub(crate) fn ripgrep(workspace: &Workspace) -> Result<()> {
    if process::find(&["rg"]).is_some() {
        return Ok(());
    }
    let machine = Machine::this();
    if apt::available(&machine) {
        return progress::step("install ripgrep", || {
            apt::install(workspace, &machine, &["ripgrep"])
        });
    }
    bail!("no `rg` on PATH, which the benchmarks compare with: install ripgrep")
}
