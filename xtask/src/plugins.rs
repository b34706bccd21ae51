//! Builds the plugins that the tests run, in Rust, JavaScript and Python: the examples in `plugins/`, and guests in `tests/languages`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::process;
use crate::progress;
use crate::setup::languages::{self, Languages};
use crate::setup::{self, npm};
use crate::workspace::Workspace;

/// The examples in Rust: folders of `plugins/`.
const RUST: [&str; 5] = ["policy", "audit", "images", "weather", "sqlite"];

/// The component of a plugin, the file that it is made from, and whether it imports WASI.
const JAVASCRIPT: [(&str, &str, bool); 5] = [
    ("words-js", "plugins/words-js/app.js", false),
    ("connected-js", "tests/languages/connected.js", false),
    ("misbehaves-js", "tests/languages/misbehaves.js", false),
    ("clock-js", "tests/languages/clock.js", true),
    ("kept-js", "tests/languages/kept.js", false),
];

/// The same for Python: the folder of a module, and its name.
const PYTHON: [(&str, &str, &str); 3] = [
    ("csv-python", "plugins/csv-python", "app"),
    ("connected-python", "tests/languages", "connected"),
    ("misbehaves-python", "tests/languages", "misbehaves"),
];

/// The world of their components.
const WORLD: &str = "authored";

/// What all of them are made from besides.
const SHARED: [&str; 5] = [
    "plugins/js",
    "plugins/python/windlass_plugin",
    "wit/host",
    "wit/plugin",
    "tests/languages",
];

/// Builds those that are older than their sources, and returns the directory of all.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let languages = languages::ensure(workspace)?;
    let directory = workspace.target.join("plugins");
    let wit = interfaces(workspace, &directory.join("wit"))?;
    let shared = SHARED
        .iter()
        .map(|folder| newest(&workspace.root.join(folder)));
    let shared = shared.max().flatten();
    let is_new = |component: &Path, source: &Path| {
        modified(component).is_some_and(|made| Some(made) > shared && Some(made) > newest(source))
    };
    for (name, source, has_wasi) in JAVASCRIPT {
        let component = directory.join(format!("{name}.wasm"));
        let source = workspace.root.join(source);
        if !is_new(&component, &source) {
            progress::step(&format!("build {name}"), || {
                javascript(workspace, &languages, &wit, (&source, has_wasi), &component)
            })?;
        }
    }
    for (name, folder, module) in PYTHON {
        let component = directory.join(format!("{name}.wasm"));
        let folder = workspace.root.join(folder);
        if !is_new(&component, &folder) {
            progress::step(&format!("build {name}"), || {
                python(workspace, &languages, &wit, (&folder, module), &component)
            })?;
        }
    }
    Ok(directory)
}

/// Builds the examples in Rust with the program that authors build theirs with. cargo knows what is new.
pub(crate) fn build_rust(workspace: &Workspace, windlass: &Path, directory: &Path) -> Result<()> {
    setup::clang(workspace)?;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    for name in RUST {
        progress::step(&format!("build {name}"), || {
            let mut build = workspace.native_command(windlass)?;
            build
                .env("CARGO_TARGET_DIR", workspace.target.join("plugins/target"))
                .args(["plugin", "build"])
                .arg(workspace.root.join("plugins").join(name))
                .arg("--output")
                .arg(directory.join(format!("{name}.wasm")));
            process::run(&mut build)
        })?;
    }
    Ok(())
}

/// Writes the interfaces as the tools want them: a package, and what it depends on in `deps`.
fn interfaces(workspace: &Workspace, wit: &Path) -> Result<PathBuf> {
    let deps = wit.join("deps/host");
    fs::create_dir_all(&deps).with_context(|| format!("cannot create {}", deps.display()))?;
    for (from, to) in [
        ("wit/plugin/plugin.wit", wit.join("plugin.wit")),
        ("wit/plugin/hooks.wit", wit.join("hooks.wit")),
        ("wit/host/host.wit", deps.join("host.wit")),
    ] {
        let from = workspace.root.join(from);
        fs::copy(&from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(wit.to_owned())
}

fn javascript(
    workspace: &Workspace,
    languages: &Languages,
    wit: &Path,
    (source, has_wasi): (&Path, bool),
    component: &Path,
) -> Result<()> {
    process::run(
        workspace
            .command(npm::node()?)
            .arg(&languages.componentize_qjs)
            .args(["--world", WORLD, "--sync"])
            .args((!has_wasi).then_some("--stub-wasi"))
            .arg("--module-root")
            .arg(&workspace.root)
            .arg("--wit")
            .arg(wit)
            .arg("--js")
            .arg(source)
            .arg("--output")
            .arg(component),
    )
}

fn python(
    workspace: &Workspace,
    languages: &Languages,
    wit: &Path,
    (folder, module): (&Path, &str),
    component: &Path,
) -> Result<()> {
    process::run(
        workspace
            .command(&languages.componentize_py)
            .arg("--quiet")
            .arg("--wit-path")
            .arg(wit)
            .args(["--world", WORLD, "componentize", "--python-path"])
            .arg(folder)
            .arg("--python-path")
            .arg(workspace.root.join("plugins/python"))
            .arg("--output")
            .arg(component)
            .arg(module),
    )
}

/// When a file, or the newest file of a folder, was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    let Ok(entries) = fs::read_dir(path) else {
        return modified(path);
    };
    let files = entries.filter_map(Result::ok);
    files.filter_map(|entry| modified(&entry.path())).max()
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}
