//! What tests find ready-made: `cargo xtask wasm` builds it, and `cargo xtask test` does that first.

use std::{
    env,
    path::{Path, PathBuf},
};

/// The directory of the npm package: the browser module, its JavaScript, the transpiled file tools.
///
/// `$WINDLASS_BROWSER`, else `browser` in the target directory.
///
/// # Panics
/// When it was not built, with the command that does.
#[must_use]
pub fn browser_package() -> PathBuf {
    let directory = env::var_os("WINDLASS_BROWSER")
        .map_or_else(|| target_directory().join("browser"), PathBuf::from);
    built(directory.join("windlass_browser_bg.wasm"));
    directory
}

/// The bare core as a module for wasm32: `$WINDLASS_WASM_CORE`, else `core` in the target directory.
///
/// # Panics
/// When it was not built, with the command that does.
#[must_use]
pub fn bare_core() -> PathBuf {
    module("WINDLASS_WASM_CORE", "core/windlass_core.wasm")
}

/// The simulation as a module for wasm32: `$WINDLASS_WASM_SIMULATION`, else where cargo put it.
///
/// # Panics
/// When it was not built, with the command that does.
#[must_use]
pub fn simulation() -> PathBuf {
    let usual = "wasm/wasm32-unknown-unknown/wasm/windlass_simulate.wasm";
    module("WINDLASS_WASM_SIMULATION", usual)
}

fn module(variable: &str, usual: &str) -> PathBuf {
    built(env::var_os(variable).map_or_else(|| target_directory().join(usual), PathBuf::from))
}

/// A component of the plugins that are built for the tests: in `$WINDLASS_PLUGINS`, else `plugins` in the target directory.
///
/// # Panics
/// When it was not built, with the command that does.
#[must_use]
pub fn plugin(name: &str) -> PathBuf {
    built_plugin(name)
        .unwrap_or_else(|| panic!("the plugin {name} is not there: run `cargo xtask test` once"))
}

/// The same, if it was built.
#[must_use]
pub fn built_plugin(name: &str) -> Option<PathBuf> {
    let directory = env::var_os("WINDLASS_PLUGINS")
        .map_or_else(|| target_directory().join("plugins"), PathBuf::from);
    let file = directory.join(format!("{name}.wasm"));
    file.is_file().then_some(file)
}

/// A Node that runs what jco makes of JavaScript components, which needs 22: the one among the packages of the tests, else the
/// one on `PATH`.
#[must_use]
pub fn newer_node() -> PathBuf {
    let packages = repository().join("tests/node_modules");
    let names = ["linux-x64", "linux-arm64", "darwin-x64"];
    let installed = names.map(|name| packages.join(format!("node-{name}/bin/node")));
    let found = installed.into_iter().find(|node| node.is_file());
    found.unwrap_or_else(|| "node".into())
}

/// A Chromium: `$WINDLASS_CHROMIUM`, else the first one on `PATH`.
///
/// # Panics
/// When there is none, with what to do.
#[must_use]
pub fn chromium() -> PathBuf {
    if let Some(chosen) = env::var_os("WINDLASS_CHROMIUM") {
        return chosen.into();
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|file| file.is_file())
        .expect("no Chromium on PATH: run `cargo xtask setup`, or name one in $WINDLASS_CHROMIUM")
}

/// The command line program: `$WINDLASS_BINARY`, else the one beside the tests.
///
/// # Panics
/// When it was not built, with the command that does.
#[must_use]
pub fn windlass() -> PathBuf {
    let beside = || {
        let program = env::current_exe().expect("a test knows its own path");
        let profile = program.ancestors().nth(2).unwrap_or(&program);
        profile.join(format!("windlass{}", env::consts::EXE_SUFFIX))
    };
    let program = env::var_os("WINDLASS_BINARY").map_or_else(beside, PathBuf::from);
    assert!(
        program.is_file(),
        "{} is missing: run `cargo build --workspace --bin windlass` first",
        program.display()
    );
    program
}

/// The directory of the official SDKs (`python/`, `python-source/`, `node/`): `$WINDLASS_SDKS`, else `sdk` in the
/// target directory.
///
/// # Panics
/// When they are not installed, with the command that does.
#[must_use]
pub fn sdks() -> PathBuf {
    let directory =
        env::var_os("WINDLASS_SDKS").map_or_else(|| target_directory().join("sdk"), PathBuf::from);
    assert!(
        directory.join("node/node_modules").is_dir() && directory.join("python/bin").is_dir(),
        "the official SDKs are not in {}: run `cargo xtask setup` first",
        directory.display()
    );
    directory
}

/// The directory of the packages that stand in for editors: `$WINDLASS_EDITORS`, else `editors` in the target directory.
///
/// # Panics
/// When they are not installed, with the command that does.
#[must_use]
pub fn editors() -> PathBuf {
    let directory = env::var_os("WINDLASS_EDITORS")
        .map_or_else(|| target_directory().join("editors"), PathBuf::from);
    assert!(
        directory.join("node_modules").is_dir(),
        "the packages of tests/editors are not in {}: run `cargo xtask setup` first",
        directory.display()
    );
    directory
}

/// The root of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}

/// Cargo's target directory: the one that this program runs from.
fn target_directory() -> PathBuf {
    let program = env::current_exe().expect("a test knows its own path");
    let marked = program
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(|| repository().join("target"), Path::to_owned)
}

fn built(file: PathBuf) -> PathBuf {
    assert!(
        file.is_file(),
        "{} is missing: run `cargo xtask wasm` first",
        file.display()
    );
    file
}
