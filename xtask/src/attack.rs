//! `cargo xtask attack`: everything that tries to break a promise, for longer than the tests do.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;

use crate::process;
use crate::progress;
use crate::setup::tools;
use crate::workspace::Workspace;

/// Generated lines for the differential judge of commands.
const LINES: u64 = 1_000_000;

/// Accesses while somebody renames, links and exchanges.
const ACCESSES: &str = "1000000";

/// Runs of the loop in which everything goes wrong.
const SEEDS: u64 = 100_000;

/// What is attacked, and how that went.
struct Row {
    class: &'static str,
    tried: String,
    held: bool,
}

/// Runs every attack, prints a table, and says whether all held.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let from = fresh();
    let nextest = tools::cargo_nextest(workspace)?;
    let binary = workspace.build_windlass()?;
    let tests = |class, target: &str, filter: &str| -> Result<Row> {
        let mut cargo = workspace.native_cargo()?;
        let variables: Vec<_> = cargo
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        cargo = workspace.command(&nextest);
        cargo
            .envs(variables)
            .env("WINDLASS_BINARY", &binary)
            .env("WINDLASS_ATTACK_ROUNDS", ACCESSES)
            // What is tried a million times takes longer than a test may.
            .args(["nextest", "run", "--config-file", ".config/attack.toml"])
            .args(["--no-fail-fast", "--package", target, "-E", filter]);
        let status = progress::step(class, || process::status(&mut cargo))?;
        Ok(Row {
            class,
            tried: filter.to_owned(),
            held: status.success(),
        })
    };
    let rows = vec![
        differential(workspace, from)?,
        tests("lines", "windlass", "test(attacks::)")?,
        tests("races", "windlass", "test(_race_) | test(swapped)")?,
        tests("sandbox", "windlass", "test(sandbox)")?,
        tests("secrets", "windlass", "test(secret) | test(key)")?,
        tests("plans", "windlass", "binary(bash_plan)")?,
        tests("parsers", "windlass-fuzz", "all()")?,
        simulation(workspace, from)?,
    ];
    println!("\n{:<14} {:<8} tried", "class", "held");
    for row in &rows {
        let held = if row.held { "held" } else { "BROKEN" };
        println!("{:<14} {held:<8} {}", row.class, row.tried);
    }
    Ok(rows.iter().all(|row| row.held))
}

/// The first of a range of seeds that nobody has looked at: a thousand for each millisecond of the clock, so that two ranges
/// do not overlap that were drawn one after the other.
fn fresh() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = since.map_or(0, |since| since.as_millis());
    u64::try_from(ms).map_or(0, |ms| ms.saturating_mul(1_000))
}

/// Says which seeds are tried, before they are: what is found can be found again, even where the attack does not come to its
/// end.
fn announced(count: u64, what: &str, from: u64) -> String {
    let tried = format!(
        "{count} {what} {from} to {}",
        from.saturating_add(count) - 1
    );
    println!("{tried}");
    tried
}

fn differential(workspace: &Workspace, from: u64) -> Result<Row> {
    let mut cargo = workspace.native_cargo()?;
    process::run(cargo.args([
        "build",
        "--release",
        "--package",
        "windlass-shell-judge",
        "--bins",
    ]))?;
    let mut judge = workspace.command(workspace.target.join("release/shell-judge"));
    judge.args(["--lines", &LINES.to_string(), "--from", &from.to_string()]);
    let tried = announced(LINES, "generated lines of the seeds", from);
    let status = progress::step("commands", || process::status(&mut judge))?;
    Ok(Row {
        class: "commands",
        tried,
        held: status.success(),
    })
}

fn simulation(workspace: &Workspace, from: u64) -> Result<Row> {
    let mut cargo = workspace.cargo();
    process::run(cargo.args(["build", "--release", "--package", "windlass-simulate"]))?;
    let mut simulate = workspace.command(workspace.target.join("release/simulate"));
    simulate.args(["--seeds", &SEEDS.to_string(), "--from", &from.to_string()]);
    // One that fails does not hide the others.
    simulate.arg("--all");
    let tried = announced(SEEDS, "seeds from", from);
    let status = progress::step("loop", || process::status(&mut simulate))?;
    Ok(Row {
        class: "loop",
        tried,
        held: status.success(),
    })
}
