//! Debian's compiler as a toolchain for wasm32.
//!
//! Debian packages a recent compiler for its browsers, but no wasm32 standard library for it. So the library is built
//! from the packaged source, the linker is borrowed from rustup's toolchain, and the result is registered with
//! rustup.
//!
//! Any step may have been interrupted, and the packages may have changed since the last run. So each step checks the
//! current state, and the toolchain counts as ready only if every part matches the installed compiler.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::progress;
use crate::setup::apt;
use crate::setup::machine::Machine;
use crate::setup::release::Release;
use crate::wasm_toolchain::{NAME_VARIABLE, TARGET, free_of_ours};
use crate::workspace::Workspace;

/// The name under which Debian's compiler is registered with rustup.
pub(super) const TOOLCHAIN: &str = "debweb";

const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// Records the compiler for which the library was built, and its files: another compiler cannot read it.
const STAMP: &str = ".windlass-std";

/// Debian's compiler on a machine.
pub(super) struct Debian<'a> {
    workspace: &'a Workspace,
    machine: &'a Machine,
}

impl<'a> Debian<'a> {
    pub(super) fn new(workspace: &'a Workspace, machine: &'a Machine) -> Self {
        Self { workspace, machine }
    }

    /// Whether [`set_up`](Self::set_up) has run, and all its results still match.
    pub(super) fn is_ready(&self) -> bool {
        self.is_recent()
            && self.is_linked()
            && self.library_is_fresh()
            && self.linker().is_ok_and(|path| path.exists())
    }

    /// Performs the missing steps.
    pub(super) fn set_up(&self) -> Result<()> {
        if !(self.is_installed() && self.is_recent()) {
            progress::step("install Debian's rustc-web", || {
                apt::install(self.workspace, self.machine, &PACKAGES)
            })?;
        }
        if !self.is_recent() {
            bail!(
                "Debian's newest rustc-web is {}, and this workspace needs Rust {}: run `rustup target add {TARGET}`, or set {NAME_VARIABLE} to a toolchain that has the target",
                self.release()
                    .map_or_else(|| "of an unknown release".to_owned(), |it| it.to_string()),
                self.machine.oldest
            );
        }
        self.borrow_linker()?;
        if !self.library_is_fresh() {
            progress::step("build the standard library for wasm32", || {
                self.build_library()
            })?;
        }
        if self.is_linked() {
            return Ok(());
        }
        // Replaces a link to another place.
        process::run(
            self.workspace
                .command(&self.machine.rustup)
                .args(["toolchain", "link", TOOLCHAIN])
                .arg(&self.machine.debian),
        )
    }

    fn is_installed(&self) -> bool {
        self.program("rustc").is_file()
            && self.program("cargo").is_file()
            && self.rustlib().join("src/rust/library").is_dir()
    }

    /// Whether the compiler can build this workspace. An old Debian release or old package lists may have installed
    /// one that cannot.
    fn is_recent(&self) -> bool {
        self.release() >= Some(self.machine.oldest)
    }

    fn release(&self) -> Option<Release> {
        Release::of_compiler(&self.version().ok()?)
    }

    /// Whether rustup has exactly this compiler under the name.
    fn is_linked(&self) -> bool {
        let mut linked = self.workspace.command(&self.machine.rustup);
        linked.args(["run", TOOLCHAIN, "rustc", "-vV"]);
        free_of_ours(&mut linked);
        match (process::capture(&mut linked), self.version()) {
            (Ok(linked), Ok(version)) => linked == version,
            _ => false,
        }
    }

    /// Debian's rustc comes without rust-lld; a link to the one in rustup's toolchain is placed where rustc looks for it.
    fn borrow_linker(&self) -> Result<()> {
        let sysroot = process::capture(
            self.workspace
                .command(&self.machine.rustc)
                .args(["--print", "sysroot"]),
        )?;
        let host = self.host()?;
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
        let link = self.linker()?;
        if link.exists() {
            return Ok(());
        }
        if let Some(directory) = link.parent() {
            fs::create_dir_all(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
        }
        // A dangling link (to an older toolchain) does not "exist", but is in the way.
        if link.is_symlink() {
            fs::remove_file(&link).with_context(|| format!("cannot remove {}", link.display()))?;
        }
        symlink(&lender, &link).with_context(|| format!("cannot create {}", link.display()))
    }

    fn linker(&self) -> Result<PathBuf> {
        Ok(self.rustlib().join(self.host()?).join("bin/rust-lld"))
    }

    /// Compiles std for the target with Debian's cargo, and installs it where Debian's rustc looks for it.
    fn build_library(&self) -> Result<()> {
        let package = self.workspace.target.join("wasm-std");
        // The result of an interrupted attempt may be from another compiler.
        remove(&package)?;
        fs::create_dir_all(package.join("src"))?;
        fs::write(package.join("src/lib.rs"), "")?;
        fs::write(
            package.join("Cargo.toml"),
            // `[workspace]`: it is inside of this workspace, but not part of it.
            "[package]\nname = \"std-stub\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n[profile.release]\nopt-level = \"s\"\n",
        )?;
        let built = package.join("target");
        process::run(
            self.command("cargo")
                .current_dir(&package)
                .env("RUSTC", self.program("rustc"))
                // Lets a stable compiler accept -Zbuild-std, as std's own build does.
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
        self.install_library(&built.join(TARGET).join("release/deps"))?;
        // Cargo does not notice that the standard library has changed.
        remove(&self.workspace.wasm_target())?;
        remove(&package)
    }

    /// Copies the libraries to a temporary place beside the final one first, so that an interruption leaves no partial result.
    fn install_library(&self, built: &Path) -> Result<()> {
        let library = self.library();
        let fresh = library.with_file_name("lib.new");
        remove(&fresh)?;
        fs::create_dir_all(&fresh).with_context(|| format!("cannot create {}", fresh.display()))?;
        for entry in fs::read_dir(built)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if name.ends_with(".rlib") && !name.starts_with("libstd_stub") {
                fs::copy(&path, fresh.join(&name))
                    .with_context(|| format!("cannot copy {name}"))?;
            }
        }
        let stamp = stamp(&self.version()?, &fresh)?;
        fs::write(fresh.join(STAMP), stamp)?;
        remove(&library)?;
        fs::rename(&fresh, &library).with_context(|| format!("cannot create {}", library.display()))
    }

    /// Whether the library was built for the installed compiler and is complete.
    fn library_is_fresh(&self) -> bool {
        let (Ok(found), Ok(version)) = (
            fs::read_to_string(self.library().join(STAMP)),
            self.version(),
        ) else {
            return false;
        };
        stamp(&version, &self.library()).is_ok_and(|wanted| wanted == found)
    }

    fn library(&self) -> PathBuf {
        self.rustlib().join(TARGET).join("lib")
    }

    fn rustlib(&self) -> PathBuf {
        self.machine.debian.join("lib/rustlib")
    }

    fn program(&self, name: &str) -> PathBuf {
        self.machine.debian.join("bin").join(name)
    }

    fn version(&self) -> Result<String> {
        process::capture(self.command("rustc").arg("-vV"))
    }

    fn host(&self) -> Result<String> {
        let version = self.version()?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.context("`rustc -vV` names no host")?.to_owned())
    }

    /// A program of Debian's toolchain, without the environment of rustup's.
    fn command(&self, name: &str) -> Command {
        let mut command = self.workspace.command(self.program(name));
        free_of_ours(&mut command);
        command
    }
}

/// The stamp of a library: the compiler, and each file with its length.
fn stamp(version: &str, library: &Path) -> Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(library)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != STAMP {
            files.push(format!("{name} {}\n", entry.metadata()?.len()));
        }
    }
    files.sort();
    Ok(format!("{version}{}", files.concat()))
}

/// Removes a folder if it exists.
fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn symlink(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
