//! What the browser host loads, made in `target/browser`:
//!
//! - `windlass_browser.js`, `windlass_browser_bg.wasm`: the core and its driver, an ES module for pages and Node;
//! - `files/files.js` and its core modules: the component of the file tools, for engines without components.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::setup::{npm, wasm};
use crate::workspace::Workspace;

/// Transpiles one component into a directory. Run by Node where `node_modules` is, so that it finds jco there.
const TRANSPILE: &str = r"
import { readFile } from 'node:fs/promises';
import { transpileBytes, writeFiles } from '@bytecodealliance/jco-transpile';
const [component, name, outDir] = process.argv.slice(1);
const { files } = await transpileBytes(await readFile(component), {
  name,
  instantiation: 'async',
  nodejsCompat: false,
  tlaCompat: false,
});
await writeFiles(files, { baseDir: outDir });
";

/// Builds everything, and gives the directory.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let browser = workspace.target.join("browser");
    fs::create_dir_all(&browser).with_context(|| format!("cannot create {}", browser.display()))?;
    // Node takes a `.js` file for CommonJS unless told otherwise.
    fs::write(
        browser.join("package.json"),
        "{ \"private\": true, \"type\": \"module\" }\n",
    )?;
    module(workspace, &browser)?;
    component(workspace, &browser)?;
    Ok(browser)
}

fn module(workspace: &Workspace, browser: &Path) -> Result<()> {
    process::run(
        workspace
            .wasm_cargo("build")?
            .args(["--package", "windlass-browser"]),
    )?;
    let module = workspace
        .wasm_target()
        .join(wasm::TARGET)
        .join("wasm/windlass_browser.wasm");
    heavy(
        workspace,
        ["bindgen".as_ref(), module.as_os_str(), browser.as_os_str()],
    )
}

fn component(workspace: &Workspace, browser: &Path) -> Result<()> {
    let components = workspace.target.join("components");
    heavy(workspace, ["components".as_ref(), components.as_os_str()])?;
    let packages = npm::packages(workspace)?;
    progress::step("transpile the file tools to JavaScript", || {
        process::run(
            workspace
                .command(npm::node()?)
                .current_dir(packages)
                .args(["--input-type=module", "--eval", TRANSPILE])
                .arg(components.join("files.component.wasm"))
                .arg("files")
                .arg(browser.join("files")),
        )
    })
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
