//! JavaScript: componentize-qjs puts the modules and QuickJS into one component, without WASI.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use windlass::child;

use super::programs::{ToolchainError, run};

/// Names the program componentize-qjs when it is not to be installed in the plugin's folder.
const CHOSEN: &str = "WINDLASS_COMPONENTIZE_QJS";

/// What an author without it has to do.
const REMEDY: &str = "install Node 20 or newer (https://nodejs.org)";

/// The component of the module `app.js` in a folder, without its declaration. `wit` has the package `windlass:plugin`, and
/// the others in `deps`. The packages of the folder are installed if they are missing, which needs the npm registry.
///
/// # Errors
/// [`ToolchainError`]: Node is missing, or a step failed, which has said why on standard error.
pub(super) fn component(folder: &Path, wit: &Path) -> Result<Vec<u8>, ToolchainError> {
    let output = tempfile::tempdir().map_err(ToolchainError::at(env::temp_dir()))?;
    let component = output.path().join("component.wasm");
    let mut componentize = child::command("node");
    componentize
        .arg(installed(folder)?)
        .current_dir(folder)
        .args(["--world", "authored-tools", "--js", "app.js"])
        // Without the asynchronous interfaces, of which this host has none.
        .args(["--sync", "--opt-size", "--stub-wasi", "--module-root", "."])
        .arg("--wit")
        .arg(wit)
        .arg("--output")
        .arg(&component);
    run(&mut componentize, REMEDY)?;
    fs::read(&component).map_err(ToolchainError::at(component))
}

/// The program, installed if it is missing.
fn installed(folder: &Path) -> Result<PathBuf, ToolchainError> {
    if let Some(chosen) = env::var_os(CHOSEN) {
        return Ok(chosen.into());
    }
    let program = folder.join("node_modules/componentize-qjs/bin/componentize-qjs");
    if !program.is_file() {
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let mut install = child::command(npm);
        // None of the packages needs an install script, so none may run.
        let quietly = ["install", "--ignore-scripts", "--no-audit", "--no-fund"];
        install.current_dir(folder).args(quietly);
        run(&mut install, REMEDY)?;
    }
    Ok(program)
}
