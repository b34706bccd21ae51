//! A toolchain that can build for wasm32: the one in use when it has the target, else what rustup or Debian
//! can give.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress;
use crate::setup::apt;
use crate::workspace::Workspace;

/// The only target that components and the browser module are built for: no WASI, so no ambient authority.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Set to `debian` to leave rustup's servers alone, on machines that cannot reach them.
const ROUTE_VARIABLE: &str = "WINDLASS_WASM_TOOLCHAIN";

/// Names a toolchain known to rustup that has the target; the build script of `windlass-builtin` reads it too.
const NAME_VARIABLE: &str = "WINDLASS_WASM_CARGO_TOOLCHAIN";

/// The name under which rustup knows Debian's compiler.
const DEBIAN_TOOLCHAIN: &str = "debweb";

/// Where Debian's rustc is and looks for the standard libraries of its targets.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTLIB: &str = "/usr/lib/rustlib";

/// How long a download by rustup may take before it counts as impossible.
const RUSTUP_LIMIT: Duration = Duration::from_secs(180);

/// How to call a cargo that can build for [`TARGET`].
#[derive(Debug)]
pub(crate) struct WasmToolchain {
    /// The name to put after `cargo +`, where it is not the toolchain in use.
    pub(crate) linked_name: Option<String>,
}

impl WasmToolchain {
    const IN_USE: Self = Self { linked_name: None };

    fn named(name: impl Into<String>) -> Self {
        Self {
            linked_name: Some(name.into()),
        }
    }
}

/// Finds or makes a toolchain for wasm32, by the first of these routes that is open: the environment names one;
/// the one in use has the target; Debian's was set up earlier; rustup adds the target; Debian's is set up now.
pub(crate) fn ensure(workspace: &Workspace) -> Result<WasmToolchain> {
    if let Ok(name) = env::var(NAME_VARIABLE) {
        return Ok(WasmToolchain::named(name));
    }
    if has_target(workspace) {
        return Ok(WasmToolchain::IN_USE);
    }
    if debian_is_ready(workspace) {
        return Ok(WasmToolchain::named(DEBIAN_TOOLCHAIN));
    }
    let only_debian = env::var_os(ROUTE_VARIABLE).is_some_and(|route| route == "debian");
    if !only_debian && process::find(&["rustup"]).is_some() {
        let added = progress::step("add the wasm32 target by rustup", || {
            process::run_within(
                workspace.command("rustup").args(["target", "add", TARGET]),
                RUSTUP_LIMIT,
            )
        });
        match added {
            Ok(()) => return Ok(WasmToolchain::IN_USE),
            Err(error) => progress::warning(&format!("{error:#}")),
        }
    }
    if apt::available() {
        set_up_debian(workspace).context("the Debian route to a wasm32 toolchain failed")?;
        return Ok(WasmToolchain::named(DEBIAN_TOOLCHAIN));
    }
    bail!("this Rust cannot build for {TARGET}: run `rustup target add {TARGET}` and try again")
}

/// Whether the toolchain in use has a standard library for the target.
fn has_target(workspace: &Workspace) -> bool {
    let asked = process::capture(workspace.command("rustc").args([
        "--print",
        "target-libdir",
        "--target",
        TARGET,
    ]));
    asked.is_ok_and(|directory| Path::new(directory.trim()).is_dir())
}

/// Whether [`set_up_debian`] has been here, and Debian's compiler is still the one it built for.
fn debian_is_ready(workspace: &Workspace) -> bool {
    let linked = process::capture(workspace.command("rustup").args(["toolchain", "list"]))
        .is_ok_and(|list| {
            list.lines()
                .any(|line| line.split_whitespace().next() == Some(DEBIAN_TOOLCHAIN))
        });
    linked
        && compiler_is_recent(workspace)
        && standard_library_is_fresh(workspace)
        && linker_path(workspace).is_ok_and(|path| path.exists())
}

/// Debian packages a recent compiler for its browsers, but no wasm32 standard library for it: builds one from
/// the packaged source, borrows rustup's linker, and makes the result known to rustup.
fn set_up_debian(workspace: &Workspace) -> Result<()> {
    let source = Path::new(DEBIAN_RUSTLIB).join("src/rust/library");
    let is_installed =
        Path::new(DEBIAN_RUSTC).is_file() && Path::new(DEBIAN_CARGO).is_file() && source.is_dir();
    if !(is_installed && compiler_is_recent(workspace)) {
        progress::step("install Debian's rustc-web", || {
            apt::install(workspace, &["rustc-web", "cargo-web", "rust-web-src"])
        })?;
    }
    if !compiler_is_recent(workspace) {
        bail!(
            "Debian's newest rustc-web is older than Rust {}, which this workspace needs: run `rustup target add {TARGET}`, or set {NAME_VARIABLE} to a toolchain that has the target",
            env!("CARGO_PKG_RUST_VERSION")
        );
    }
    borrow_linker(workspace)?;
    if !standard_library_is_fresh(workspace) {
        progress::step("build the standard library for wasm32", || {
            build_standard_library(workspace)
        })?;
    }
    process::run(
        workspace
            .command("rustup")
            .args(["toolchain", "link", DEBIAN_TOOLCHAIN, "/usr"]),
    )
}

/// Debian's rustc comes without rust-lld; the one in rustup's toolchain serves, found where rustc looks.
fn borrow_linker(workspace: &Workspace) -> Result<()> {
    let sysroot = process::capture(workspace.command("rustc").args(["--print", "sysroot"]))?;
    let host = debian_host(workspace)?;
    let lender = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host)
        .join("bin/rust-lld");
    if !lender.is_file() {
        bail!(
            "no rust-lld at {}: install Rust by rustup (https://rustup.rs)",
            lender.display()
        );
    }
    let link = linker_path(workspace)?;
    if link.exists() {
        return Ok(());
    }
    if let Some(directory) = link.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    // A link whose goal has gone (an older toolchain) does not "exist", but is in the way.
    if link.is_symlink() {
        fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
    }
    symlink(&lender, &link).with_context(|| format!("cannot create {}", link.display()))
}

fn linker_path(workspace: &Workspace) -> Result<PathBuf> {
    Ok(Path::new(DEBIAN_RUSTLIB)
        .join(debian_host(workspace)?)
        .join("bin/rust-lld"))
}

/// Compiles std for the target by Debian's cargo, and puts it where Debian's rustc looks for it.
fn build_standard_library(workspace: &Workspace) -> Result<()> {
    let package = workspace.target.join("wasm-std");
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    fs::write(
        package.join("Cargo.toml"),
        // `[workspace]`: it lies inside ours, but is no part of it.
        "[package]\nname = \"std-stub\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [workspace]\n\n[profile.release]\nopt-level = \"s\"\n",
    )?;
    let built = package.join("target");
    process::run(
        debian(workspace, DEBIAN_CARGO)
            .current_dir(&package)
            .env("RUSTC", DEBIAN_RUSTC)
            // Lets a stable compiler accept -Zbuild-std, as its own build does.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", &built)
            // Without the bitcode, every later build with link-time optimisation fails.
            .env(
                "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
                "-Cembed-bitcode=yes",
            )
            .args([
                "build",
                "--release",
                "-Zbuild-std=std,panic_abort",
                "--target",
                TARGET,
            ]),
    )?;
    install_standard_library(workspace, &built.join(TARGET).join("release/deps"))?;
    // Cargo does not notice that the standard library under its artefacts has changed.
    let stale = workspace.wasm_target();
    if stale.exists() {
        fs::remove_dir_all(&stale).with_context(|| format!("cannot remove {}", stale.display()))?;
    }
    fs::remove_dir_all(&package).with_context(|| format!("cannot remove {}", package.display()))
}

/// Copies the libraries beside their final place first, so that an interruption leaves nothing half done.
fn install_standard_library(workspace: &Workspace, built: &Path) -> Result<()> {
    let target = Path::new(DEBIAN_RUSTLIB).join(TARGET);
    let (fresh, library) = (target.join("lib.new"), target.join("lib"));
    for directory in [&fresh, &library] {
        if directory.exists() {
            fs::remove_dir_all(directory)
                .with_context(|| format!("cannot remove {}", directory.display()))?;
        }
    }
    fs::create_dir_all(&fresh).with_context(|| format!("cannot create {}", fresh.display()))?;
    for entry in fs::read_dir(built)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libstd_stub") {
            fs::copy(&path, fresh.join(&name)).with_context(|| format!("cannot copy {name}"))?;
        }
    }
    fs::write(fresh.join(STAMP), debian_version(workspace)?)?;
    fs::rename(&fresh, &library).with_context(|| format!("cannot create {}", library.display()))
}

/// The file that says for which compiler the library was built: another one cannot read it.
const STAMP: &str = ".windlass-std";

fn standard_library_is_fresh(workspace: &Workspace) -> bool {
    let stamp = Path::new(DEBIAN_RUSTLIB)
        .join(TARGET)
        .join("lib")
        .join(STAMP);
    match (fs::read_to_string(stamp), debian_version(workspace)) {
        (Ok(built_for), Ok(version)) => built_for == version,
        _ => false,
    }
}

/// Whether Debian's compiler is one that this workspace can be built with. An old release of Debian, or old package lists, gave
/// one that is not.
fn compiler_is_recent(workspace: &Workspace) -> bool {
    let release = |version: &str| -> Option<(u32, u32)> {
        let mut numbers = version.split('.').map(str::parse::<u32>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let version = debian_version(workspace).ok();
    let found = version
        .iter()
        .flat_map(|text| text.lines())
        .find_map(|line| line.strip_prefix("release: "))
        .and_then(release);
    found >= release(env!("CARGO_PKG_RUST_VERSION")) && found.is_some()
}

fn debian_version(workspace: &Workspace) -> Result<String> {
    process::capture(debian(workspace, DEBIAN_RUSTC).arg("-vV"))
}

fn debian_host(workspace: &Workspace) -> Result<String> {
    let version = debian_version(workspace)?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// A program of Debian's toolchain, free of what rustup's told us.
fn debian(workspace: &Workspace, program: &str) -> Command {
    let mut command = workspace.command(program);
    for variable in [
        "CARGO",
        "CARGO_ENCODED_RUSTFLAGS",
        "LD_LIBRARY_PATH",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
    ] {
        command.env_remove(variable);
    }
    command
}

#[cfg(unix)]
fn symlink(original: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
