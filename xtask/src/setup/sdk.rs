//! Installs the official Agent SDKs, at the versions pinned by `tests/sdk`, into the target directory, for the tests
//! of the engine. Neither is installed with its own engine: the Python package is installed from source (its wheel
//! contains a binary), the npm package without its optional packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress;
use crate::setup::npm;
use crate::workspace::Workspace;

/// The oldest Python that the SDK supports.
const OLDEST_PYTHON: u32 = 10;

/// The package whose source also contains the examples.
const PYTHON_PACKAGE: &str = "claude-agent-sdk";

/// The location of the SDKs, below the target directory.
pub(crate) struct Sdks {
    /// Contains `python/` (a virtual environment), `python-source/` (the SDK's source with its examples) and `node/`
    /// (with `node_modules/`).
    pub(crate) directory: PathBuf,
}

/// Installs both SDKs, unless they already match the pinned versions.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Sdks> {
    let sdks = Sdks {
        directory: workspace.target.join("sdk"),
    };
    python(workspace, &sdks.directory).context(
        "the official Python SDK cannot be installed: its tests need PyPI and a Python with `venv`",
    )?;
    node(workspace, &sdks.directory).context(
        "the official TypeScript SDK cannot be installed: its tests need the npm registry",
    )?;
    Ok(sdks)
}

fn python(workspace: &Workspace, directory: &Path) -> Result<()> {
    let list = workspace.root.join("tests/sdk/requirements.txt");
    let wanted =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let environment = directory.join("python");
    let installed = environment.join(".installed-requirements.txt");
    if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    let package = pinned(&wanted)?;
    let source = directory.join("python-source");
    progress::step("install the official Python SDK", || {
        empty(&environment)?;
        empty(&source)?;
        let interpreter = interpreter()?;
        process::run(
            workspace
                .command(&interpreter)
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
        let python = environment.join("bin/python");
        let pip = |arguments: &[&str]| {
            let mut command = workspace.command(&python);
            command.args(["-m", "pip"]).args(arguments).args([
                "--quiet",
                "--disable-pip-version-check",
                "--no-binary",
                PYTHON_PACKAGE,
            ]);
            command
        };
        process::run(
            pip(&["download", "--no-deps", package])
                .arg("--dest")
                .arg(&source),
        )?;
        process::run(pip(&["install"]).arg("--requirement").arg(&list))?;
        process::run(
            workspace
                .command(&python)
                .current_dir(&source)
                .args(["-m", "tarfile", "--extract"])
                .arg(archive(&source)?),
        )?;
        fs::write(&installed, &wanted)
            .with_context(|| format!("cannot write {}", installed.display()))
    })
}

/// The line of the list that names the SDK.
fn pinned(list: &str) -> Result<&str> {
    list.lines()
        .find(|line| line.starts_with(&format!("{PYTHON_PACKAGE}==")))
        .with_context(|| format!("tests/sdk/requirements.txt pins no {PYTHON_PACKAGE}"))
}

/// The only archive in a directory.
fn archive(directory: &Path) -> Result<PathBuf> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().ends_with(".tar.gz"))
        .with_context(|| format!("pip left no source archive in {}", directory.display()))
}

/// An empty directory: a partial installation is removed.
pub(super) fn empty(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)
            .with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

/// The `python3` on `PATH`, if it is new enough.
pub(super) fn interpreter() -> Result<PathBuf> {
    let advice = format!("install Python 3.{OLDEST_PYTHON} or newer (https://python.org)");
    let Some(python) = process::find(&["python3"]) else {
        bail!("no `python3` on PATH: {advice}");
    };
    let said = process::capture(
        std::process::Command::new(&python)
            .args(["-c", "import sys; print(*sys.version_info[:2])"]),
    )?;
    let mut numbers = said.split_whitespace().map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(3)), Some(Ok(minor))) if minor >= OLDEST_PYTHON => Ok(python),
        _ => bail!("`python3` is {}: {advice}", said.trim().replace(' ', ".")),
    }
}

/// Installs the original engine of the TypeScript SDK for comparison, and returns the path of its program. Only the
/// benchmarks use it: it has several hundred megabytes.
pub(crate) fn original_engine(workspace: &Workspace) -> Result<PathBuf> {
    let directory = workspace.target.join("original-engine");
    let advice = "its package for this platform cannot be installed from the npm registry";
    from_list(workspace, &directory, &[]).context(advice)?;
    let packages = directory.join("node_modules/@anthropic-ai");
    let entries =
        fs::read_dir(&packages).with_context(|| format!("cannot list {}", packages.display()))?;
    // Only the package of this platform was installed.
    entries
        .filter_map(|entry| Some(entry.ok()?.path().join("claude")))
        .find(|program| program.is_file())
        .context(advice)
}

/// Installs the SDK alone: the optional packages are engines of several hundred megabytes.
fn node(workspace: &Workspace, directory: &Path) -> Result<()> {
    from_list(workspace, &directory.join("node"), &["--omit=optional"])
}

/// Installs the Node packages pinned by `tests/sdk` below `directory`.
fn from_list(workspace: &Workspace, directory: &Path, options: &[&str]) -> Result<()> {
    let step = "install the official TypeScript SDK";
    npm::from_list(workspace, "tests/sdk", directory, options, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sdks_are_pinned_to_exact_versions() {
        let list = include_str!("../../../tests/sdk/requirements.txt");
        assert!(pinned(list).is_ok());
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.contains("=="), "{line}");
        }
        let lock = include_str!("../../../tests/sdk/package-lock.json");
        assert!(lock.contains("node_modules/@anthropic-ai/claude-agent-sdk\""));
        // The registry configured in npm is used.
        assert!(!lock.contains("\"resolved\""));
    }
}
