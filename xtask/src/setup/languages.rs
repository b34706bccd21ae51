//! What makes components of plugins in JavaScript and Python, pinned by `tests/languages`: installed into the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::setup::{npm, sdk};
use crate::workspace::Workspace;

/// The programs.
pub(crate) struct Languages {
    /// A script for Node.
    pub(crate) componentize_qjs: PathBuf,
    pub(crate) componentize_py: PathBuf,
}

/// Installs both, unless they already match the pinned versions.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Languages> {
    let lists = workspace.root.join("tests/languages");
    let directory = workspace.target.join("languages");
    Ok(Languages {
        componentize_qjs: javascript(workspace, &lists, &directory.join("node"))
            .context("componentize-qjs cannot be installed: it needs the npm registry")?,
        componentize_py: python(workspace, &lists, &directory.join("python")).context(
            "componentize-py cannot be installed: it needs PyPI and a Python with `venv`",
        )?,
    })
}

fn javascript(workspace: &Workspace, lists: &Path, directory: &Path) -> Result<PathBuf> {
    npm::node()?;
    let read = |name: &str| {
        let path = lists.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let wanted = read("package-lock.json")?;
    if !npm::is_installed(directory, &wanted) {
        progress::step("install componentize-qjs", || {
            fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
            for name in ["package.json", "package-lock.json"] {
                let path = directory.join(name);
                fs::write(&path, read(name)?)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            npm::install(workspace, directory, &wanted, &[])
        })?;
    }
    Ok(directory.join("node_modules/componentize-qjs/bin/componentize-qjs"))
}

fn python(workspace: &Workspace, lists: &Path, directory: &Path) -> Result<PathBuf> {
    let list = lists.join("requirements.txt");
    let wanted =
        fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
    let installed = directory.join(".installed-requirements.txt");
    if !fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        progress::step("install componentize-py", || {
            sdk::empty(directory)?;
            let interpreter = sdk::interpreter()?;
            process::run(
                workspace
                    .command(&interpreter)
                    .args(["-m", "venv"])
                    .arg(directory),
            )?;
            let mut pip = workspace.command(directory.join("bin/python"));
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]);
            process::run(pip.arg("--requirement").arg(&list))?;
            fs::write(&installed, &wanted)
                .with_context(|| format!("cannot write {}", installed.display()))
        })?;
    }
    Ok(directory.join("bin/componentize-py"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn plugins_are_built_with_the_versions_that_the_tests_use() {
        let lock = include_str!("../../../tests/languages/package-lock.json");
        let list = include_str!("../../../tests/languages/requirements.txt");
        // The registry configured in npm is used.
        assert!(!lock.contains("\"resolved\""));
        let js = include_str!("../../../host-native/src/cli/plugin/templates/js/package.json");
        let ts = include_str!("../../../host-native/src/cli/plugin/templates/ts/package.json");
        let pin = |text: &str, package: &str| {
            let (_, after) = text.split_once(&format!("\"{package}\": \""))?;
            Some(after.split('"').next()?.to_owned())
        };
        for (list, package) in [
            (js, "componentize-qjs"),
            (ts, "componentize-qjs"),
            (ts, "esbuild"),
            (ts, "typescript"),
        ] {
            let version = pin(list, package);
            assert!(
                version.is_some() && version == pin(lock, package),
                "{package}"
            );
        }
        let python =
            include_str!("../../../host-native/src/cli/plugin/templates/python/requirements.txt");
        assert!(list.contains(python.trim()) && python.contains("componentize-py=="));
    }
}
