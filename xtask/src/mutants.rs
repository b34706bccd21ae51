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

/// The packages that are changed, each with those whose tests are to notice. These are the tests that need nothing built for
/// wasm32: its own, in the core with the simulation among them, and those of the packages that stand on it.
const PACKAGES: [(&str, &[&str]); 5] = [
    (
        "windlass-core",
        &["windlass-core", "windlass-callback-loop", "windlass-engine"],
    ),
    ("windlass-engine", &["windlass-engine"]),
    ("windlass-shell", &["windlass-shell", "windlass-core"]),
    ("windlass-schema", &["windlass-schema", "windlass-core"]),
    ("windlass-callback-loop", &["windlass-callback-loop"]),
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
    for (package, _) in &packages {
        let mut list = workspace.command(&tool);
        list.args(["mutants", "--list", "--colors", "never"]);
        let names = process::capture(list.args(["--package", package]))?;
        ensure!(!names.is_empty(), "there are no mutants of {package}");
        mutants.extend(names.lines().map(|name| (*package, name.to_owned())));
    }
    let drawn = sample::draw(seed, mutants.len(), options.count);

    let mut rows = Vec::new();
    for (package, judges) in packages {
        let is_its = |at: &usize| mutants[*at].0 == package;
        let all = (0..mutants.len()).filter(is_its).count();
        let sample = drawn.iter().copied().filter(is_its);
        let sample: Vec<&str> = sample.map(|at| mutants[at].1.as_str()).collect();
        let mut outcomes = Outcomes::default();
        if !sample.is_empty() {
            let mut command = workspace.command(&tool);
            command.env("PATH", path_with(&nextest)?);
            outcomes = progress::step(&format!("{} mutants of {package}", sample.len()), || {
                tried(workspace, command, package, judges, &sample)
            })?;
        }
        rows.push((package, all, outcomes));
    }
    println!("\nseed {seed}, {}", progress::seconds(begun.elapsed()));
    print!("{}", figures::table(&rows));
    Ok(())
}

/// The packages of these names with their judges; all where none is named. Their order is always the same.
fn chosen(names: &[String]) -> Result<Vec<(&'static str, &'static [&'static str])>> {
    let is_there = |name: &String| PACKAGES.iter().any(|(package, _)| package == name);
    if let Some(unknown) = names.iter().find(|name| !is_there(name)) {
        bail!(
            "{unknown} is not changed: there are {}",
            PACKAGES.map(|(package, _)| package).join(", ")
        );
    }
    let is_wanted = |package: &str| names.is_empty() || names.iter().any(|name| name == package);
    let chosen = PACKAGES.into_iter();
    Ok(chosen.filter(|(package, _)| is_wanted(package)).collect())
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

/// Tries these mutants of a package.
fn tried(
    workspace: &Workspace,
    mut command: Command,
    package: &str,
    judges: &[&str],
    sample: &[&str],
) -> Result<Outcomes> {
    let directory = workspace.target.join("mutants").join(package);
    fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    command
        // Dependencies are the same in every copy, and compiled once.
        .env("CARGO_TARGET_DIR", workspace.target.join("mutants/build"))
        .args(["mutants", "--caught", "--unviable", "--package", package])
        .args(judges.iter().flat_map(|judge| ["--test-package", judge]))
        .arg("--output")
        .arg(&directory);
    for name in sample {
        command.arg("--re").arg(sample::only(name));
    }
    let status = process::status(&mut command)?;
    let found = directory.join("mutants.out");
    if !status.code().is_some_and(|code| TRIED.contains(&code)) {
        bail!(
            "cargo-mutants ended with {status}: what it did is told below {}",
            found.display()
        );
    }
    let outcomes = Outcomes::read(&found)?;
    let left: Vec<_> = sample.iter().filter(|name| !outcomes.has(name)).collect();
    ensure!(left.is_empty(), "these were not tried: {left:?}");
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_chosen_by_name_and_always_in_the_same_order() {
        let names = |names: &[&str]| -> Vec<String> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let chosen = chosen(&names).expect("all are there");
            chosen.iter().map(|(name, _)| (*name).to_owned()).collect()
        };
        assert_eq!(names(&[]), PACKAGES.map(|(name, _)| name));
        assert_eq!(
            names(&["windlass-shell", "windlass-core"]),
            ["windlass-core", "windlass-shell"]
        );
        let error = chosen(&["windlass-cor".to_owned()]).expect_err("there is none");
        assert!(error.to_string().contains("windlass-core,"), "{error}");
    }

    /// A judge that is not there would make every mutant a caught one.
    #[test]
    fn whatever_is_changed_and_judges_is_a_package_and_judges_itself() {
        let workspace = Workspace::locate().expect("this is one");
        let manifest = workspace.manifest().expect("it can be read");
        let dependencies = manifest["workspace"]["dependencies"].as_table();
        let dependencies = dependencies.expect("a table");
        for (package, judges) in PACKAGES {
            assert!(judges.contains(&package), "{package}");
            for judge in judges {
                assert!(dependencies[*judge].get("path").is_some(), "{judge}");
            }
        }
    }

    #[test]
    fn nextest_is_found_before_anything_else() {
        let path = path_with(Path::new("/tools/bin/cargo-nextest")).expect("a PATH");
        let first = env::split_paths(&path).next();
        assert_eq!(first.as_deref(), Some(Path::new("/tools/bin")));
    }
}
