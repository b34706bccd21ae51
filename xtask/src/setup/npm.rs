//! Node and the npm packages of the tests, pinned by `tests/package-lock.json`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress;
use crate::workspace::Workspace;

/// The oldest Node that supports the WebAssembly features used.
const OLDEST_NODE: u32 = 20;

/// A copy of the lock file from which the packages were installed, stored beside them.
const INSTALLED: &str = "node_modules/.installed-package-lock.json";

/// The `node` on `PATH`, new enough.
pub(crate) fn node() -> Result<PathBuf> {
    let advice = format!("install Node {OLDEST_NODE} or newer (https://nodejs.org)");
    let Some(node) = process::find(&["node"]) else {
        bail!("no `node` on PATH: {advice}");
    };
    let said = process::capture(std::process::Command::new(&node).arg("--version"))?;
    let major = said
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|n| n.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST_NODE => Ok(node),
        _ => bail!("`node` is {}: {advice}", said.trim()),
    }
}

/// Installs the packages of the tests into `tests/node_modules`, unless they already match the lock file, and returns
/// the directory that contains `node_modules`.
pub(crate) fn packages(workspace: &Workspace) -> Result<PathBuf> {
    node()?;
    let directory = workspace.root.join("tests");
    let wanted = fs::read_to_string(directory.join("package-lock.json"))
        .context("cannot read tests/package-lock.json")?;
    if !is_installed(&directory, &wanted) {
        progress::step("install the npm packages of the tests", || {
            install(workspace, &directory, &wanted, &[])
        })?;
    }
    Ok(directory)
}

/// The same for the bundlers and runtimes that the npm package is tried with, in a folder of their own: few runs need them.
pub(crate) fn bundlers(workspace: &Workspace) -> Result<PathBuf> {
    packages(workspace)?;
    let directory = workspace.root.join("tests/browser/bundlers");
    let lock = directory.join("package-lock.json");
    let wanted =
        fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    if !is_installed(&directory, &wanted) {
        progress::step("install bundlers and runtimes", || {
            install(workspace, &directory, &wanted, &[])
        })?;
    }
    Ok(directory)
}

/// Installs the packages pinned by the lists in the folder `lists` of the workspace below `directory`, unless they already match.
pub(super) fn from_list(
    workspace: &Workspace,
    lists: &str,
    directory: &Path,
    options: &[&str],
    step: &str,
) -> Result<()> {
    node()?;
    let lists = workspace.root.join(lists);
    let read = |name: &str| {
        let path = lists.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let wanted = read("package-lock.json")?;
    if is_installed(directory, &wanted) {
        return Ok(());
    }
    progress::step(step, || {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        for name in ["package.json", "package-lock.json"] {
            let path = directory.join(name);
            fs::write(&path, read(name)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        install(workspace, directory, &wanted, options)
    })
}

/// Whether the packages of a lock file are already installed below `directory`.
pub(super) fn is_installed(directory: &Path, lock: &str) -> bool {
    fs::read_to_string(directory.join(INSTALLED)).is_ok_and(|text| text == lock)
}

/// Installs the packages of the lock file in `directory`, whose text is `lock`.
pub(super) fn install(
    workspace: &Workspace,
    directory: &Path,
    lock: &str,
    options: &[&str],
) -> Result<()> {
    // None of the packages needs an install script, so none may run.
    let mut npm = workspace.command("npm");
    npm.current_dir(directory)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(options);
    process::run(&mut npm)?;
    let installed = directory.join(INSTALLED);
    fs::write(&installed, lock).with_context(|| format!("cannot write {}", installed.display()))
}
