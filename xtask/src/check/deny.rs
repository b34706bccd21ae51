//! Licences, banned crates, sources and, where the database can be reached, security advisories.

use std::time::Duration;

use anyhow::Result;

use super::{Report, Run};
use crate::process;
use crate::progress;
use crate::setup::tools;

/// The timeout for downloading the advisory database.
const FETCH_LIMIT: Duration = Duration::from_secs(60);

pub(super) fn check(run: &Run<'_>) -> Result<Report> {
    let deny = tools::cargo_deny(run.workspace)?;
    let command = || {
        let mut command = run.workspace.command(&deny);
        command.arg("deny");
        command
    };
    process::run(command().args(["check", "bans", "licenses", "sources"]))?;
    match process::run_within(command().args(["fetch", "db"]), FETCH_LIMIT) {
        Ok(()) => process::run(command().args(["--offline", "check", "advisories"]))?,
        Err(error) => progress::note(&format!(
            "advisories skipped, their database is out of reach: {error:#}"
        )),
    }
    Ok(Report::Holds)
}
