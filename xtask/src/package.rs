//! Packages the crates for publication. `windlass-builtin` then contains prebuilt components, so that
//! `cargo install windlass` needs no wasm target.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, bail};

use crate::artefacts;
use crate::process::{capture, run};
use crate::progress;
use crate::workspace::Workspace;

/// The binary crate, its workspace dependencies, and the crates with which others test their parts: each after its dependencies.
const CRATES: [&str; 11] = [
    "windlass-schema",
    "windlass-plugin-macros",
    "windlass-plugin",
    "windlass-shell",
    "windlass-core",
    "windlass-scripted-model",
    "windlass-callback-loop",
    "windlass-engine",
    "windlass-builtin",
    "windlass",
    "windlass-testkit",
];

/// Where the build script of `windlass-builtin` looks for prebuilt components.
const PREBUILT: &str = "plugins/builtin/prebuilt";

/// Writes the `.crate` files to `directory`. They are made from a copy of the sources, because components in the
/// working directory would be considered fresh by every later build.
pub(crate) fn write(workspace: &Workspace, directory: &Path) -> Result<Vec<PathBuf>> {
    let sources = Scratch::new("sources")?;
    progress::step("copy the sources and their built components", || {
        copy_sources(workspace, sources.path())?;
        let prebuilt = sources.path().join(PREBUILT);
        artefacts::heavy(workspace, ["components".as_ref(), prebuilt.as_os_str()])
    })?;
    progress::step("package", || {
        let mut cargo = workspace.cargo();
        cargo
            .current_dir(sources.path())
            .env("CARGO_TARGET_DIR", sources.path().join("target"));
        cargo.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
        run(cargo.args(CRATES.iter().flat_map(|name| ["--package", name])))
    })?;
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let mut written = Vec::new();
    for entry in fs::read_dir(sources.path().join("target/package"))? {
        let path = entry?.path();
        if let (Some(name), Some("crate")) =
            (path.file_name(), path.extension().and_then(|e| e.to_str()))
        {
            let goal = directory.join(name);
            fs::copy(&path, &goal).with_context(|| format!("cannot write {}", goal.display()))?;
            written.push(goal);
        }
    }
    if written.len() != CRATES.len() {
        bail!(
            "cargo packaged {} crates instead of {}",
            written.len(),
            CRATES.len()
        );
    }
    Ok(written)
}

/// Unpacks the packaged crates elsewhere, and checks that the binary compiles there without a wasm toolchain.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let unpacked = Scratch::new("unpacked")?;
    for archive in write(workspace, &workspace.target.join("package"))? {
        run(workspace
            .command("tar")
            // With current time stamps (`m`): with those of the archives, cargo would consider them unchanged since
            // an earlier check.
            .arg("-xzmf")
            .arg(archive)
            .arg("-C")
            .arg(unpacked.path()))?;
    }
    let mut members = Vec::new();
    for entry in fs::read_dir(unpacked.path())? {
        members.push(entry?.file_name().to_string_lossy().into_owned());
    }
    let manifest = manifest_of_unpacked(&workspace.manifest()?, &members)?;
    fs::write(unpacked.path().join("Cargo.toml"), manifest)?;
    fs::copy(
        workspace.root.join("Cargo.lock"),
        unpacked.path().join("Cargo.lock"),
    )?;
    progress::step(
        "compile the packaged crates without a wasm toolchain",
        || {
            run(workspace
                .cargo()
                .current_dir(unpacked.path())
                // Uses the same target directory, to reuse the dependencies that clippy compiled.
                .env("CARGO_TARGET_DIR", &workspace.target)
                // If the build script tried to build a component, it would fail with this name.
                .env(
                    "WINDLASS_WASM_CARGO_TOOLCHAIN",
                    "no-wasm-toolchain-may-be-used",
                )
                .args(["check", "--package", "windlass", "--bins"]))
        },
    )
}

/// The manifest of a workspace of the unpacked crates: they refer to each other instead of the registry, and use this
/// workspace's profiles, which a package does not contain.
fn manifest_of_unpacked(ours: &toml::Table, members: &[String]) -> Result<String> {
    let mut manifest = toml::Table::new();
    let mut workspace = toml::Table::new();
    workspace.insert("resolver".into(), "3".into());
    workspace.insert("members".into(), members.to_vec().into());
    manifest.insert("workspace".into(), workspace.into());
    let mut patch = toml::Table::new();
    for member in members {
        let name = crate_name(member).with_context(|| format!("`{member}` names no version"))?;
        let mut place = toml::Table::new();
        place.insert("path".into(), member.as_str().into());
        patch.insert(name.into(), place.into());
    }
    let mut registries = toml::Table::new();
    registries.insert("crates-io".into(), patch.into());
    manifest.insert("patch".into(), registries.into());
    if let Some(profiles) = ours.get("profile") {
        let mut profiles = profiles.clone();
        for (_, profile) in profiles.as_table_mut().into_iter().flatten() {
            // Profile settings for single packages are only for those that xtask uses.
            if let Some(packages) = profile
                .get_mut("package")
                .and_then(toml::Value::as_table_mut)
            {
                packages.retain(|name, _| name == "*");
            }
        }
        manifest.insert("profile".into(), profiles);
    }
    Ok(manifest.to_string())
}

/// The crate name of a packaged directory, `name-version`: the version starts after the first dash that a digit follows.
fn crate_name(directory: &str) -> Option<&str> {
    let version = directory
        .match_indices('-')
        .find(|&(dash, _)| directory[dash + 1..].starts_with(|c: char| c.is_ascii_digit()));
    version.map(|(dash, _)| &directory[..dash])
}

/// Copies the files that git tracks or would add, without build outputs.
fn copy_sources(workspace: &Workspace, goal: &Path) -> Result<()> {
    let files = capture(workspace.command("git").args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let (from, to) = (workspace.root.join(file), goal.join(file));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        copy(&from, &to).with_context(|| format!("cannot copy {file}"))?;
    }
    Ok(())
}

/// Copies a file, or the whole directory behind a link. Files deleted but not yet committed are left out.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if from.exists() {
        fs::copy(from, to)?;
    }
    Ok(())
}

/// A temporary directory outside of the workspace, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(purpose: &str) -> Result<Self> {
        let path = env::temp_dir().join(format!("windlass-{purpose}-{}", process::id()));
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the system's temporary directory, which does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacked_crates_find_each_other_and_keep_our_profiles() {
        let ours = "
            [profile.dev]
            opt-level = 1
            [profile.dev.package.\"*\"]
            debug = false
            [profile.dev.package.walrus]
            opt-level = 0
        ";
        let members = [
            "windlass-0.1.0".to_owned(),
            "windlass-core-0.2.0-beta.1".to_owned(),
        ];
        let manifest =
            manifest_of_unpacked(&ours.parse().expect("TOML"), &members).expect("a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        assert_eq!(
            manifest["patch"]["crates-io"]["windlass"]["path"].as_str(),
            Some("windlass-0.1.0")
        );
        assert_eq!(
            manifest["patch"]["crates-io"]["windlass-core"]["path"].as_str(),
            Some("windlass-core-0.2.0-beta.1")
        );
        let dev = &manifest["profile"]["dev"];
        assert_eq!(dev["opt-level"].as_integer(), Some(1));
        assert_eq!(dev["package"]["*"]["debug"].as_bool(), Some(false));
        assert!(dev["package"].get("walrus").is_none());
    }
}
