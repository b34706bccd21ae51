//! `cargo xtask mutants`: small errors put into the product, one at a time, to see whether the tests notice.
//!
//! There are twelve thousand of them and each costs a build, so a sample is drawn by a seed. cargo-mutants makes them, in a copy
//! of the checkout; what it is told for every run stands in `.cargo/mutants.toml`.

mod figures;
mod sample;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};

use self::figures::Outcomes;
use crate::process;
use crate::progress;
use crate::setup::tools;
use crate::workspace::Workspace;

/// The packages that are changed. Judges are the tests of each: those of the core with the simulation among them. What stands
/// on a package may notice more, but would have to be built for each error, too.
const PACKAGES: [&str; 5] = [
    "windlass-core",
    "windlass-engine",
    "windlass-shell",
    "windlass-schema",
    "windlass-callback-loop",
];

/// What cargo-mutants ends with when it has tried everything: all caught, some missed, some that did not end.
const TRIED: [i32; 3] = [0, 2, 3];

/// What of the mutants to try.
#[derive(Debug)]
pub(crate) struct Options {
    /// What the sample is drawn by; from the clock where none is said.
    pub(crate) seed: Option<u64>,
    /// How many to draw.
    pub(crate) count: usize,
    /// The only packages to change; empty for all.
    pub(crate) packages: Vec<String>,
}

/// Tries a sample of the mutants and prints the figures.
///
/// # Errors
/// What keeps mutants from being tried. One that survives is no error: every seed finds others, and each is for somebody to
/// judge.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let packages = chosen(&options.packages)?;
    let tool = tools::cargo_mutants(workspace)?;
    let nextest = tools::cargo_nextest(workspace)?;
    let begun = Instant::now();
    let seed = options.seed.unwrap_or_else(fresh);
    progress::note(&format!("seed {seed}"));

    let mut mutants = Vec::new();
    for package in &packages {
        let mut list = workspace.command(&tool);
        list.args(["mutants", "--list", "--colors", "never"]);
        let names = process::capture(list.args(["--package", package]))?;
        ensure!(!names.is_empty(), "there are no mutants of {package}");
        mutants.extend(names.lines().map(|name| (*package, name.to_owned())));
    }
    let drawn = sample::draw(seed, mutants.len(), options.count);
    let (mut sample, mut others) = (Vec::new(), String::new());
    for (at, (package, name)) in mutants.iter().enumerate() {
        match drawn.contains(&at) {
            true => sample.push((*package, name.as_str())),
            false => others += &format!("{name}\n"),
        }
    }

    let mut command = workspace.command(&tool);
    command.env("PATH", path_with(&nextest)?);
    let outcomes = progress::step(&format!("{} mutants", sample.len()), || {
        tried(workspace, command, &packages, &sample, &others)
    })?;
    let mut rows = Vec::new();
    for package in packages {
        let all = mutants.iter().filter(|(its, _)| *its == package).count();
        let is_its = |name: &str| sample.contains(&(package, name));
        rows.push((package, all, outcomes.only(is_its)));
    }
    println!("\nseed {seed}, {}", progress::seconds(begun.elapsed()));
    print!("{}", figures::table(&rows));
    Ok(())
}

/// The packages of these names, all where none is named. Their order is always the same.
fn chosen(names: &[String]) -> Result<Vec<&'static str>> {
    let is_there = |name: &String| PACKAGES.contains(&name.as_str());
    if let Some(unknown) = names.iter().find(|name| !is_there(name)) {
        bail!(
            "{unknown} is not changed: there are {}",
            PACKAGES.join(", ")
        );
    }
    let is_wanted = |package: &&str| names.is_empty() || names.iter().any(|name| name == package);
    Ok(PACKAGES.into_iter().filter(is_wanted).collect())
}

/// A seed that nobody has looked at.
fn fresh() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The `PATH` on which cargo finds nextest.
fn path_with(nextest: &Path) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories = nextest.parent().map(Path::to_owned).into_iter();
    Ok(env::join_paths(directories.chain(env::split_paths(&path)))?)
}

/// Tries the mutants of a sample: all but the others, of each of which there is a line.
fn tried(
    workspace: &Workspace,
    mut command: Command,
    packages: &[&str],
    sample: &[(&str, &str)],
    others: &str,
) -> Result<Outcomes> {
    let directory = workspace.target.join("mutants");
    let found = directory.join("mutants.out");
    // It can be told by expressions which ones to try, but does not hold all kinds against them. What it has caught before it
    // leaves out, whatever it is.
    let cannot = || format!("cannot write to {}", found.display());
    if found.exists() {
        fs::remove_dir_all(&found).with_context(cannot)?;
    }
    fs::create_dir_all(&found).with_context(cannot)?;
    fs::write(found.join("previously_caught.txt"), others).with_context(cannot)?;
    command
        // Dependencies are the same in every copy, and compiled once.
        .env("CARGO_TARGET_DIR", directory.join("build"))
        .args(["mutants", "--iterate", "--caught", "--unviable", "--output"])
        .arg(&directory)
        .args(packages.iter().flat_map(|name| ["--package", name]));
    let status = process::status(&mut command)?;
    if !status.code().is_some_and(|code| TRIED.contains(&code)) {
        bail!(
            "cargo-mutants ended with {status}: what it did is told below {}",
            found.display()
        );
    }
    let outcomes = Outcomes::read(&found)?;
    let left: Vec<_> = sample
        .iter()
        .filter(|(_, name)| !outcomes.has(name))
        .collect();
    ensure!(left.is_empty(), "these were not tried: {left:?}");
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_chosen_by_name_and_always_in_the_same_order() {
        let chosen = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            chosen(&names)
        };
        assert_eq!(chosen(&[]).expect("all"), PACKAGES);
        assert_eq!(
            chosen(&["windlass-shell", "windlass-core"]).expect("they are there"),
            ["windlass-core", "windlass-shell"]
        );
        let error = chosen(&["windlass-cor"]).expect_err("there is none");
        assert!(error.to_string().contains("windlass-core,"), "{error}");
    }

    #[test]
    fn whatever_is_changed_is_a_package_of_the_workspace() {
        let workspace = Workspace::locate().expect("this is one");
        let manifest = workspace.manifest().expect("it can be read");
        for package in PACKAGES {
            let dependency = &manifest["workspace"]["dependencies"][package];
            assert!(dependency.get("path").is_some(), "{package}");
        }
    }

    #[test]
    fn nextest_is_found_before_anything_else() {
        let path = path_with(Path::new("/tools/bin/cargo-nextest")).expect("a PATH");
        let first = env::split_paths(&path).next();
        assert_eq!(first.as_deref(), Some(Path::new("/tools/bin")));
    }
}
