//! Builds the WebAssembly artefacts for the tests and the browser host.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::setup::npm;
use crate::wasm_toolchain::TARGET;
use crate::workspace::Workspace;

/// The paths of the artefacts.
pub(crate) struct Artefacts {
    /// The core alone as a shippable module, to show that it has no imports.
    pub(crate) core: PathBuf,
    /// The simulation as a module, to compare it with the native one.
    pub(crate) simulation: PathBuf,
    /// The npm package: the JavaScript of `host-browser/js`, `windlass_browser.js` with its module, `windlass_browser_testkit.js`
    /// with that of the test kit, `windlass_browser_settings.js` with the one that reads settings, `files/` with the file tools
    /// for engines without components, and `demo/`, a page.
    pub(crate) browser: PathBuf,
}

/// Builds all of them.
pub(crate) fn build(workspace: &Workspace) -> Result<Artefacts> {
    let browser = workspace.target.join("browser");
    let host = workspace.root.join("host-browser");
    copy(&host.join("js"), &browser)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace.root.join(licence), browser.join(licence))
            .with_context(|| format!("cannot copy {licence}"))?;
    }
    // Built one by one: together, the core would be compiled with the features that only the browser module enables.
    let modules = workspace.wasm_target().join(TARGET).join("wasm");
    let module = modules.join("windlass_browser.wasm");
    for (package, features) in [
        ("windlass-wasm-core", ""),
        ("windlass-simulate", ""),
        ("windlass-browser", "testkit"),
        ("windlass-browser", "settings"),
        ("windlass-browser", ""),
    ] {
        process::run(workspace.wasm_cargo("build")?.args([
            "--lib",
            "--package",
            package,
            "--features",
            features,
        ]))?;
        // Under a name of its own: who loads an agent does not load the test kit with it, nor what reads settings.
        if !features.is_empty() {
            let copy = modules.join(format!("windlass_browser_{features}.wasm"));
            fs::copy(&module, &copy)
                .with_context(|| format!("cannot copy {}", module.display()))?;
            bindgen(workspace, &copy, &browser)?;
        }
    }
    bindgen(workspace, &module, &browser)?;
    let core = workspace.target.join("core");
    fs::create_dir_all(&core).with_context(|| format!("cannot create {}", core.display()))?;
    let core = core.join("windlass_core.wasm");
    let built = modules.join("windlass_wasm_core.wasm");
    fs::copy(&built, &core).with_context(|| format!("cannot copy {}", built.display()))?;
    transpile(workspace, &browser)?;
    build_page(workspace, &browser)?;
    Ok(Artefacts {
        core,
        simulation: modules.join("windlass_simulate.wasm"),
        browser,
    })
}

/// Writes the JavaScript of a module, and the module as it is loaded.
fn bindgen(workspace: &Workspace, module: &Path, browser: &Path) -> Result<()> {
    heavy(
        workspace,
        ["bindgen".as_ref(), module.as_os_str(), browser.as_os_str()],
    )
}

fn transpile(workspace: &Workspace, browser: &Path) -> Result<()> {
    let components = workspace.target.join("components");
    heavy(workspace, ["components".as_ref(), components.as_os_str()])?;
    let packages = npm::packages(workspace)?;
    progress::step("transpile the file tools to JavaScript", || {
        process::run(
            workspace
                .command(npm::node()?)
                .arg(packages.join("browser/transpile.js"))
                .arg(components.join("files.component.wasm"))
                .arg("files")
                .arg(browser)
                .arg(browser.join("files")),
        )
    })
}

/// Builds the page of the demonstration into the package: its modules, and the project and script that it shows.
fn build_page(workspace: &Workspace, browser: &Path) -> Result<()> {
    let packages = npm::packages(workspace)?;
    progress::step("build the demo page", || {
        process::run(
            workspace
                .command(npm::node()?)
                .env("NODE_PATH", packages.join("node_modules"))
                .arg(workspace.root.join("host-browser/demo/build.js"))
                .arg(browser)
                .arg(workspace.root.join("host-native/demo")),
        )
    })
}

/// Copies the files of a directory.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        fs::copy(entry.path(), &copy)
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    Ok(())
}

/// Builds and runs `xtask-wasm`; the whole workspace is selected so that it shares dependencies with the tests.
pub(crate) fn heavy<'a>(
    workspace: &Workspace,
    arguments: impl IntoIterator<Item = &'a OsStr>,
) -> Result<()> {
    let mut cargo = workspace.native_cargo()?;
    process::run(cargo.args(["build", "--workspace", "--bin", "xtask-wasm"]))?;
    process::run(
        workspace
            .command(workspace.binary("xtask-wasm"))
            .args(arguments),
    )
}
