//! The npm package in projects of bundlers and runtimes that are too large for every run of the tests.

use anyhow::Result;

use super::row::{Row, State};
use crate::artefacts;
use crate::process;
use crate::progress;
use crate::setup::npm;
use crate::workspace::Workspace;

pub(super) const CLASS: &str = "bundlers";

/// Builds and runs the programs of the guides: one test a project.
pub(super) fn run(workspace: &Workspace) -> Result<Row> {
    let package = artefacts::build(workspace)?.browser;
    let bundlers = npm::bundlers(workspace)?;
    let mut node = workspace.command(npm::node()?);
    node.args(["--test", "--test-reporter=tap"])
        .arg(workspace.root.join("tests/browser/bundlers.test.js"))
        .env("WINDLASS_BROWSER", package)
        .env("WINDLASS_BUNDLERS", bundlers);
    let mut passed = 0;
    let status = progress::step(CLASS, || {
        process::tee(&mut node, |line| {
            passed += usize::from(line.starts_with("ok "));
        })
    })?;
    let state = match status.success() && passed > 0 {
        true => State::Held,
        false => State::Broken,
    };
    Ok(Row {
        class: CLASS,
        state,
        tried: format!("{passed} projects built and run"),
    })
}
