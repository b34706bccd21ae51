//! From starting the process to the first byte of the request at the model server.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use crate::{
    server::BenchServer,
    table::{Goal, Table, median},
};

const ROUNDS: usize = 15;

pub(crate) fn measure(table: &mut Table) {
    let Some(binary) = binary() else {
        table.skipped(
            "start to first request",
            "the windlass binary was not built",
        );
        return;
    };
    let server = BenchServer::start(0);
    let times: Vec<f64> = (0..=ROUNDS)
        .filter_map(|_| once(&binary, &server, None))
        .collect();
    let rounds = times.into_iter().skip(1).collect();
    table.value(
        "start of the process to the first byte of the request",
        "ms",
        median(rounds),
        Goal::AtMost(15.0),
    );
}

/// The milliseconds from a start to the request, with this folder for the user's configuration.
pub(crate) fn once(
    binary: &Path,
    server: &BenchServer,
    configuration: Option<&Path>,
) -> Option<f64> {
    server.take_gaps();
    let mut command = Command::new(binary);
    if let Some(folder) = configuration {
        command.env("XDG_CONFIG_HOME", folder);
    }
    let start = Instant::now();
    let mut child = command
        .args(["-p", "hello"])
        .env("ANTHROPIC_BASE_URL", &server.url)
        .env("ANTHROPIC_API_KEY", "bench")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let arrived = server.first_request();
    let _ = child.wait();
    arrived.map(|at| (at - start).as_secs_f64() * 1e3)
}

/// The command line beside this program: both come from one build.
pub(crate) fn binary() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name("windlass");
    path.is_file().then_some(path)
}
