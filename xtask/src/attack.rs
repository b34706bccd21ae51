//! `cargo xtask attack`: everything that tries to break a promise, for longer than the tests do.

mod bundlers;
mod row;

use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

use self::row::{Row, State};
use crate::artefacts;
use crate::junit;
use crate::process;
use crate::progress;
use crate::setup::tools;
use crate::workspace::Workspace;

/// The number of generated lines for the differential test of the command judge.
const LINES: u64 = 1_000_000;

/// The number of generated lines for modes that allow everything except what is denied.
const FORBIDDING_LINES: u64 = 200_000;

/// The same in the shell of pages.
const PAGE_LINES: u64 = 100_000;
const PAGE_FORBIDDING_LINES: u64 = 20_000;

/// The number of file accesses during concurrent renames, links and exchanges, and of input variants for parsers.
const ROUNDS: &str = "1000000";

/// The number of simulated runs of the loop with injected failures.
const SEEDS: u64 = 100_000;

/// The same for the engine around the loop.
const ENGINE_SEEDS: u64 = 200_000;

/// The packages with attack tests. They are built together, so that dependencies are compiled once for all classes.
const PACKAGES: [&str; 7] = [
    "windlass",
    "windlass-core",
    "windlass-shell",
    "windlass-shell-judge",
    "windlass-engine",
    "windlass-fuzz",
    "windlass-tests",
];

/// The classes of attacks that are tests, each with nextest filters that select its tests.
const CLASSES: [(&str, &[&str]); 9] = [
    (
        "lines",
        &[
            "package(=windlass) & (test(attacks::) | test(places::)) & not binary(=bash_plan)",
            "package(=windlass-core) & (test(arguments::) | test(authority::))",
            "package(=windlass-shell-judge)",
        ],
    ),
    (
        "races",
        &["package(=windlass) & (test(_race_) | test(swapped))"],
    ),
    (
        "sandbox",
        &["package(=windlass) & (binary(=confinement) | binary(=sandbox) | test(sandbox))"],
    ),
    (
        "secrets",
        &["package(=windlass) & (test(secret) | test(key) | test(redact::))"],
    ),
    (
        "plans",
        &["package(=windlass) & binary(=bash_plan) & not test(_race_)"],
    ),
    (
        "sessions",
        &["package(=windlass) & (test(killed_anywhere) | test(store::))"],
    ),
    (
        "parsers",
        &[
            "package(=windlass-fuzz) & not binary(=growth)",
            "package(=windlass) & binary(=declarations) & test(whatever_a_file_holds)",
        ],
    ),
    (
        "limits",
        &[
            "package(=windlass-fuzz) & binary(=growth)",
            "package(=windlass) & (binary(=mcp_limits) | test(silence::) | test(long_frames::))",
            "package(=windlass) & binary(=declarations) & test(much_of_anything)",
            "package(=windlass) & binary(=http) & (test(a_response_that_does_not_end) | test(a_silent_server))",
            "package(=windlass) & binary(=resolver) & (test(a_path_that_cannot_exist) | test(deeper_than_a_path_may_be))",
            "package(=windlass) & test(a_full_disk)",
            "package(=windlass-engine) & (test(a_line_that_is_too_long) | test(read_in_linear_time))",
            "package(=windlass-engine) & (test(imports_end_five_deep) | test(instructions_have_a_limit))",
            "package(=windlass-core) & (test(loop_silence::) | test(one_limit_to_the_depth) | test(nested_blocks_have_an_end))",
            "package(=windlass-core) & (test(an_oversized_body) | test(do_not_grow_the_stack))",
            "package(=windlass-shell) & (test(what_is_nested_or_long) | test(deep_nesting))",
        ],
    ),
    (EDGE, &["package(=windlass-tests) & test(run_at_the_edge)"]),
];

/// The class that needs the browser package, and how often it kills the runtime.
const EDGE: &str = "edge";
const EDGE_KILLS: &str = "100";

/// The classes of attacks that are generated from seeds, before and after those that are tests.
const FROM_SEEDS: [&str; 6] = [
    "commands",
    "denied",
    "page-commands",
    "page-denied",
    "loop",
    "engine",
];

/// Those of them that judge generated lines: how many lines, and the options of the judge.
const JUDGED: [(&str, u64, &[&str]); 4] = [
    ("commands", LINES, &[]),
    ("denied", FORBIDDING_LINES, &["--forbidding"]),
    ("page-commands", PAGE_LINES, &["--just-bash"]),
    (
        "page-denied",
        PAGE_FORBIDDING_LINES,
        &["--just-bash", "--forbidding"],
    ),
];

/// Runs all attacks or those of some classes, prints a table, and returns whether nothing was broken.
///
/// # Errors
/// A class that does not exist, or whatever prevents an attack from running at all.
pub(crate) fn run(workspace: &Workspace, only: &[String]) -> Result<bool> {
    let classes = CLASSES.iter().map(|(class, _)| *class);
    let classes = classes.chain(FROM_SEEDS).chain([bundlers::CLASS]);
    if let Some(unknown) = only
        .iter()
        .find(|only| classes.clone().all(|class| class != only.as_str()))
    {
        let names: Vec<&str> = classes.collect();
        bail!(
            "no class of attacks is named {unknown}: there are {}",
            names.join(", ")
        );
    }
    let is_wanted = |class: &str| only.is_empty() || only.iter().any(|only| only == class);
    let from = fresh();
    let mut rows = Vec::new();
    for (class, lines, options) in JUDGED {
        if is_wanted(class) {
            rows.push(judged(workspace, class, lines, from, options)?);
        }
    }
    let of_tests = CLASSES.iter().filter(|(class, _)| is_wanted(class));
    let of_tests: Vec<_> = of_tests.collect();
    if !of_tests.is_empty() {
        let nextest = tools::cargo_nextest(workspace)?;
        let binary = workspace.build_windlass()?;
        if of_tests.iter().any(|(class, _)| *class == EDGE) {
            artefacts::build(workspace)?;
        }
        for (class, filters) in of_tests {
            rows.push(tests(workspace, &nextest, &binary, class, filters, from)?);
        }
    }
    if is_wanted("loop") {
        rows.push(simulation(workspace, "loop", SEEDS, from, &[])?);
    }
    if is_wanted("engine") {
        let engine = ["--engine"];
        rows.push(simulation(
            workspace,
            "engine",
            ENGINE_SEEDS,
            from,
            &engine,
        )?);
    }
    if is_wanted(bundlers::CLASS) {
        rows.push(bundlers::run(workspace)?);
    }
    print!("\n{}", row::table(&rows));
    Ok(rows.iter().all(|row| row.state != State::Broken))
}

/// The start of a range of seeds that was not used before: a thousand per millisecond of the clock, so that
/// consecutive ranges do not overlap.
fn fresh() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = since.map_or(0, |since| since.as_millis());
    u64::try_from(ms).map_or(0, |ms| ms.saturating_mul(1_000))
}

/// Runs the tests that one of the filters selects.
fn tests(
    workspace: &Workspace,
    nextest: &Path,
    binary: &Path,
    class: &'static str,
    filters: &[&str],
    seed: u64,
) -> Result<Row> {
    let report = junit::fresh(workspace)?;
    let cargo = workspace.native_cargo()?;
    let variables = (cargo.get_envs()).filter_map(|(name, value)| Some((name, value?)));
    let mut command = workspace.command(nextest);
    command
        .envs(variables)
        .env("WINDLASS_BINARY", binary)
        .env("WINDLASS_ATTACK_ROUNDS", ROUNDS)
        .env("WINDLASS_EDGE_KILLS", EDGE_KILLS)
        .env("WINDLASS_SEED", seed.to_string())
        // A million attempts take longer than a normal test may.
        .args(["nextest", "run", "--config-file", ".config/attack.toml"])
        .arg("--no-fail-fast")
        .args(PACKAGES.iter().flat_map(|name| ["--package", name]))
        .args(filters.iter().flat_map(|filter| ["-E", filter]));
    let status = progress::step(class, || process::status(&mut command))?;
    Row::of_tests(class, &report, status)
}

/// Judges and runs generated lines.
fn judged(
    workspace: &Workspace,
    class: &'static str,
    lines: u64,
    from: u64,
    options: &[&str],
) -> Result<Row> {
    let mut cargo = workspace.native_cargo()?;
    let package = ["--package", "windlass-shell-judge"];
    process::run(
        cargo
            .args(["build", "--release"])
            .args(package)
            .arg("--bins"),
    )?;
    let mut judge = workspace.command(workspace.target.join("release/shell-judge"));
    judge
        .args(["--lines", &lines.to_string(), "--from", &from.to_string()])
        .args(options);
    generated(class, judge, from)
}

fn simulation(
    workspace: &Workspace,
    class: &'static str,
    seeds: u64,
    from: u64,
    options: &[&str],
) -> Result<Row> {
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "windlass-simulate"]))?;
    let mut simulate = workspace.command(workspace.target.join("release/simulate"));
    simulate.args(["--seeds", &seeds.to_string(), "--from", &from.to_string()]);
    // A failure does not hide the others.
    simulate.arg("--all").args(options);
    generated(class, simulate, from)
}

/// Runs a program that generates its inputs from seeds. Its last line says how much was tried. Its command line with
/// the first seed is printed first, so that a finding can be reproduced even if the attack does not finish.
fn generated(class: &'static str, mut program: Command, from: u64) -> Result<Row> {
    let mut said = String::new();
    let status = progress::step(class, || {
        process::tee(&mut program, |line| line.clone_into(&mut said))
    })?;
    let state = match status.success() {
        true => State::Held,
        false => State::Broken,
    };
    let tried = format!("{said}; seeds from {from} on");
    Ok(Row {
        class,
        state,
        tried,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Sources;

    /// The texts between `name(` and `)` in a filter.
    fn named<'a>(filter: &'a str, name: &str) -> Vec<&'a str> {
        let parts = filter.split(name).skip(1);
        parts.filter_map(|part| part.split(')').next()).collect()
    }

    /// For nextest, a filter that selects nothing is not an error as long as another one of its class selects something.
    #[test]
    fn whatever_the_filters_name_is_there() {
        let workspace = Workspace::locate().expect("this is one");
        let sources = Sources::read(&workspace.root).expect("the sources can be read");
        for filter in CLASSES.iter().flat_map(|(_, filters)| *filters) {
            for test in named(filter, "test(") {
                let is_there = match test.strip_suffix("::") {
                    Some(module) => sources.has_module(module),
                    None => sources.has_test_with(test),
                };
                assert!(is_there, "{test} in {filter}");
            }
            for binary in named(filter, "binary(=") {
                assert!(sources.has_test_target(binary), "{binary} in {filter}");
            }
            for package in named(filter, "package(=") {
                assert!(PACKAGES.contains(&package), "{package} in {filter}");
            }
        }
    }
}
