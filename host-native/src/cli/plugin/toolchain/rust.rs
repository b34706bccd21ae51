//! Rust: two builds by cargo, one of the component that hosts load, and one that is asked for the declaration.
//!
//! Schemas are made by code, and that code is no part of what is shipped: the variable that the macro of the SDK looks at is set
//! for the second one only. Both have the same profile, so that what the plugin depends on is compiled once.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};

use serde::Deserialize;
use windlass::child;
use wit_component::ComponentEncoder;

use super::{Built, programs::ToolchainError};

const TARGET: &str = "wasm32-unknown-unknown";
/// What the macro of the SDK looks at.
const DECLARE: &str = "WINDLASS_DECLARE";
/// Names a rustup toolchain that has the target, when the one in use has not.
const TOOLCHAIN: &str = "WINDLASS_WASM_CARGO_TOOLCHAIN";

/// What an author without it has to do.
const REMEDY: &str = "install Rust by https://rustup.rs";

/// Builds the crate in the folder.
pub(super) fn component(folder: &Path) -> Result<Built, ToolchainError> {
    let toolchain = toolchain()?;
    let declares = module(&toolchain, folder, true)?;
    let shipped = module(&toolchain, folder, false)?;
    Ok(Built {
        component: componentize(&shipped)?,
        declares: Some(componentize(&declares)?),
    })
}

/// The rustup toolchain to build with; none for the one in use.
fn toolchain() -> Result<Option<String>, ToolchainError> {
    if let Ok(name) = env::var(TOOLCHAIN) {
        return Ok(Some(name));
    }
    let mut rustc = child::command("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    let output = rustc.output().map_err(|source| ToolchainError::NoProgram {
        program: "rustc".to_owned(),
        source,
        remedy: REMEDY,
    })?;
    // It knows the target wherever it runs at all: rustup, which may be in its place, has nothing to run then.
    if !output.status.success() {
        return Err(ToolchainError::Unusable {
            program: "rustc",
            said: first_line(&output.stderr, output.status),
            remedy: "rustup default stable",
        });
    }
    let directory = String::from_utf8_lossy(&output.stdout);
    let is_there = fs::read_dir(directory.trim()).is_ok_and(|mut entries| entries.next().is_some());
    match is_there {
        true => Ok(None),
        false => Err(ToolchainError::NoTarget { target: TARGET }),
    }
}

/// The first line of what a program said of its failure, or else how it ended.
fn first_line(said: &[u8], status: ExitStatus) -> String {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.next() {
        Some(line) => line.strip_prefix("error: ").unwrap_or(line).to_owned(),
        None => status.to_string(),
    }
}

/// The core module that cargo makes of the crate. cargo's own output goes to standard error.
fn module(
    toolchain: &Option<String>,
    folder: &Path,
    declares: bool,
) -> Result<Vec<u8>, ToolchainError> {
    let mut cargo = match toolchain {
        None => child::command("cargo"),
        Some(name) => {
            let mut rustup = child::command("rustup");
            rustup.args(["run", name, "cargo"]);
            rustup
        }
    };
    cargo
        .current_dir(folder)
        .args([
            "build",
            "--lib",
            "--release",
            "--target",
            TARGET,
            "--message-format",
            "json-render-diagnostics",
        ])
        .stdout(Stdio::piped());
    match declares {
        true => cargo.env(DECLARE, "1"),
        false => cargo.env_remove(DECLARE),
    };
    let program = cargo.get_program().to_string_lossy().into_owned();
    let mut running = cargo.spawn().map_err(|source| ToolchainError::NoProgram {
        program: program.clone(),
        source,
        remedy: REMEDY,
    })?;
    let output = running.stdout.take().map(BufReader::new);
    let lines = output.into_iter().flat_map(BufRead::lines);
    let module = lines
        .map_while(Result::ok)
        .filter_map(|line| wasm_file(&line))
        .last();
    let status = running.wait().map_err(ToolchainError::at(folder))?;
    if !status.success() {
        return Err(ToolchainError::Failed { program, status });
    }
    let module = module.ok_or(ToolchainError::NoModule)?;
    fs::read(&module).map_err(ToolchainError::at(module))
}

/// A message of cargo about something it made.
#[derive(Deserialize)]
struct Artifact {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The WebAssembly file that a message is about.
fn wasm_file(line: &str) -> Option<PathBuf> {
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let mut files = artifact.filenames.into_iter();
    let is_wasm = |file: &PathBuf| {
        file.extension()
            .is_some_and(|extension| extension == "wasm")
    };
    (artifact.reason == "compiler-artifact").then(|| files.find(is_wasm))?
}

fn componentize(module: &[u8]) -> Result<Vec<u8>, ToolchainError> {
    let mut encoder = ComponentEncoder::default();
    let encoder = encoder.validate(true).module(module);
    encoder
        .and_then(|encoder| encoder.encode())
        .map_err(|error| ToolchainError::Component(format!("{error:#}")))
}
