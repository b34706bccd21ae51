//! The steps of the test command, except the one that needs a network.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{Report, Run};
use crate::claims;
use crate::features::Features;
use crate::junit::{self, Outcome};
use crate::libtest;
use crate::package as packaging;
use crate::parity::{self, List};
use crate::plugins;
use crate::process;
use crate::progress;
use crate::purity;
use crate::setup::{self, sdk, tools};
use crate::workspace::Workspace;

pub(super) fn fmt(run: &Run<'_>) -> Result<Report> {
    process::run(run.workspace.cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Report::Holds)
}

pub(super) fn clippy(run: &Run<'_>) -> Result<Report> {
    let mut cargo = run.workspace.native_cargo()?;
    process::run(cargo.args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    // The library without its heavy features, and with only some of them.
    for features in ["", "plugins", "mcp"] {
        let mut cargo = run.workspace.native_cargo()?;
        process::run(cargo.args([
            "clippy",
            "--package",
            "windlass",
            "--lib",
            "--no-default-features",
            "--features",
            features,
            "--",
            "-D",
            "warnings",
        ]))?;
    }
    Ok(Report::Holds)
}

/// Builds the documentation without warnings. Like clippy it only needs the metadata of dependencies, and shares it.
pub(super) fn doc(run: &Run<'_>) -> Result<Report> {
    let mut cargo = run.workspace.native_cargo()?;
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    process::run(cargo.args(["doc", "--workspace", "--no-deps"]))?;
    Ok(Report::Holds)
}

/// Builds for wasm32: the core and the engine by themselves, the components, the browser module. First checks that
/// the engine does no I/O: much of it would compile on wasm32 and fail when called.
pub(super) fn wasm(run: &Run<'_>) -> Result<Report> {
    purity::check(&run.workspace.root)?;
    run.artefacts()?;
    Ok(Report::Holds)
}

/// Runs every unit and integration test, each in its own process.
pub(super) fn tests(run: &Run<'_>) -> Result<Report> {
    let workspace = run.workspace;
    let artefacts = run.artefacts()?;
    let chromium = setup::chromium(workspace)?;
    let registry = setup::registry(workspace)?;
    let sdks = sdk::ensure(workspace)?;
    let editors = setup::editors::ensure(workspace)?;
    let mcp_conformance = setup::mcp_conformance::ensure(workspace)?;
    let plugins = plugins::build(workspace)?;
    let windlass = workspace.build_windlass()?;
    plugins::build_rust(workspace, &windlass, &plugins)?;
    let mut cargo = workspace.native_cargo()?;
    cargo
        .env("WINDLASS_WASM_CORE", &artefacts.core)
        .env("WINDLASS_WASM_SIMULATION", &artefacts.simulation)
        .env("WINDLASS_BROWSER", &artefacts.browser)
        .env("WINDLASS_CHROMIUM", chromium)
        .env("WINDLASS_REGISTRY", registry)
        .env("WINDLASS_SDKS", &sdks.directory)
        .env("WINDLASS_EDITORS", editors)
        .env("WINDLASS_MCP_CONFORMANCE", mcp_conformance)
        .env("WINDLASS_PLUGINS", plugins)
        .envs(workspace.wasm_variable()?)
        .env("WINDLASS_BINARY", windlass);
    let outcome = match tools::cargo_nextest(workspace) {
        Ok(nextest) => by_nextest(run, cargo, &nextest)?,
        Err(error) => {
            progress::warning(&format!("{error:#}; running the tests by `cargo test`"));
            by_cargo_test(run, cargo)?
        }
    };
    Ok(Report::Tests(outcome))
}

fn by_nextest(run: &Run<'_>, cargo: std::process::Command, nextest: &Path) -> Result<Outcome> {
    let report = junit::fresh(run.workspace)?;
    let mut command = run.workspace.command(nextest);
    command
        .envs(
            cargo
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .args(["nextest", "run", "--workspace", "--no-fail-fast"])
        .args(run.options.target_arguments())
        .args(&run.options.filter);
    let status = process::status(&mut command)?;
    let Ok(xml) = fs::read_to_string(&report) else {
        bail!("the tests did not run: nextest ended with {status}");
    };
    let outcome = junit::read(&xml).with_context(|| format!("cannot read {}", report.display()))?;
    consistent(outcome, status.success())
}

fn by_cargo_test(run: &Run<'_>, mut cargo: std::process::Command) -> Result<Outcome> {
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    match run.options.target_arguments().as_slice() {
        [] => cargo.arg("--all-targets"),
        one => cargo.args(one),
    };
    if let Some(filter) = &run.options.filter {
        cargo.args(["--", filter]);
    }
    from_output(&mut cargo)
}

/// Runs the examples in the documentation, which nextest does not support.
pub(super) fn doctests(run: &Run<'_>) -> Result<Report> {
    let mut cargo = run.workspace.native_cargo()?;
    from_output(cargo.args(["test", "--workspace", "--doc", "--no-fail-fast"])).map(Report::Tests)
}

/// Runs the simulations of the loop and of the engine around it, with the default number of seeds, after the seeds
/// that broke a promise before. Uses the build of the tests.
pub(super) fn simulate(run: &Run<'_>) -> Result<Report> {
    let mut cargo = run.workspace.native_cargo()?;
    process::run(cargo.args(["build", "--workspace", "--bin", "simulate"]))?;
    let mut last = String::new();
    let mut said = Vec::new();
    for arguments in [["--found"].as_slice(), &["--engine"], &[]] {
        let mut simulation = run.workspace.command(run.workspace.binary("simulate"));
        simulation.args(arguments);
        let status = process::tee(&mut simulation, |line| line.clone_into(&mut last))?;
        if !status.success() {
            bail!("a promise was broken: see above for the seed");
        }
        said.push(std::mem::take(&mut last));
    }
    Ok(Report::Said(said.join("; ")))
}

fn from_output(cargo: &mut std::process::Command) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let status = process::tee(cargo, |line| libtest::read_line(line, &mut outcome))?;
    consistent(outcome, status.success())
}

/// If a harness fails without a failed test (a compile error, a crash), that is an error.
fn consistent(outcome: Outcome, success: bool) -> Result<Outcome> {
    if !success && outcome.failed.is_empty() {
        bail!("the test run failed although no test did: see its output above");
    }
    Ok(outcome)
}

/// Checks that the published crates build on a machine without a wasm target.
pub(super) fn package(run: &Run<'_>) -> Result<Report> {
    packaging::check(run.workspace)?;
    Ok(Report::Holds)
}

/// Compares the parity list with the tests that passed in this run.
pub(super) fn parity(run: &Run<'_>) -> Result<Report> {
    if run.tests.passed.is_empty() {
        return Ok(Report::Skipped(
            "it joins the tests that passed, and none ran: add `--only tests`",
        ));
    }
    if run.options.filter.is_some() || run.options.target.is_some() {
        return Ok(Report::Skipped("only some of the tests ran"));
    }
    let join = list(run.workspace)?.join(&run.tests.passed);
    println!("parity: {} of {}", join.proven, join.rows);
    if !join.ripe.is_empty() {
        progress::warning(&format!(
            "open, but a passed test bears the id: {}",
            parity::listed(&join.ripe)
        ));
    }
    for test in &join.unknown {
        progress::warning(&format!(
            "test `{test}` bears an id that tests/parity.toml does not list"
        ));
    }
    if !join.broken.is_empty() {
        bail!(
            "marked done in tests/parity.toml, but no passed test bears the id: {}",
            parity::listed(&join.broken)
        );
    }
    if !join.hidden.is_empty() {
        bail!(
            "marked done in tests/parity.toml, but shown only inside, by tests of {}: {}. A row is done when a test \
             shows it through what a person can use: the engine of the SDKs, the command line, the library, a page",
            parity::INSIDE.join(", "),
            parity::listed(&join.hidden)
        );
    }
    Ok(Report::Holds)
}

/// Checks that the tests named in the documents exist, and generates the table of official SDK features from the
/// tests that passed in this run.
pub(super) fn features(run: &Run<'_>) -> Result<Report> {
    claims::check(&run.workspace.root)?;
    let read = |path: &str| {
        let path = run.workspace.root.join(path);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let features =
        Features::parse(&read("tests/sdk/features.toml")?).context("tests/sdk/features.toml")?;
    if !run.options.runs_all_of("sdk") {
        return Ok(Report::Skipped(
            "it tells of the tests of the SDKs, and not all of them ran: add `--only tests`",
        ));
    }
    let table = features.table(&run.tests.passed)?;
    if read("docs/sdk-features.md").is_ok_and(|present| present == table) {
        return Ok(Report::Holds);
    }
    fs::write(run.workspace.root.join("docs/sdk-features.md"), table)
        .context("cannot write docs/sdk-features.md")?;
    bail!("docs/sdk-features.md was not up to date; it is now: look at it and commit it")
}

fn list(workspace: &Workspace) -> Result<List> {
    let path = workspace.root.join("tests/parity.toml");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    List::parse(&text).with_context(|| path.display().to_string())
}
