//! The npm package: what it costs to read a stream, to open a page, to hold sessions, and to deploy a worker.

use std::{
    ffi::OsStr,
    process::{Command, Stdio},
};

use serde_json::Value;
use windlass_tests::artefacts;

use crate::table::{Goal, Table};

pub(crate) fn measure(table: &mut Table) {
    streaming(table);
    let chromium = artefacts::chromium();
    value(
        table,
        "a page that is bundled: navigation until it can ask",
        "ms",
        200.0,
        "interactive.js",
        &[chromium.as_os_str()],
        "interactive",
    );
    let figure = "memory of 1,000 sessions in JavaScript, the package included";
    value(table, figure, "MiB", 128.0, "sessions.js", &[], "sessions");
    value(
        table,
        "an edge worker with the package, gzip",
        "MiB",
        1.5,
        "edge-size.js",
        &[],
        "worker",
    );
}

/// 10,000 deltas: as one answer, and each of them as a message.
fn streaming(table: &mut Table) {
    let figures = [
        (
            "10,000 deltas in JavaScript, for the whole answer (fetch and JSON.parse)",
            "whole",
        ),
        ("… and each as a message (fetch and JSON.parse)", "messages"),
    ];
    match run("streaming.js", &[]) {
        Ok(measured) => {
            for (figure, name) in figures {
                let (ours, baseline) = (number(&measured, name), number(&measured, "baseline"));
                table.pair(figure, "ms", ours, baseline, Goal::AtMost(1.5));
            }
        }
        Err(why) => figures
            .iter()
            .for_each(|(figure, _)| table.skipped(figure, &why)),
    }
}

fn value(
    table: &mut Table,
    figure: &str,
    unit: &str,
    most: f64,
    script: &str,
    arguments: &[&OsStr],
    name: &str,
) {
    match run(script, arguments) {
        Ok(measured) => table.value(figure, unit, number(&measured, name), Goal::AtMost(most)),
        Err(why) => table.skipped(figure, &why),
    }
}

fn number(measured: &Value, name: &str) -> f64 {
    measured[name]
        .as_f64()
        .expect("the script says this figure")
}

/// Runs a script of `tests/browser/bench` with the package; gives its last line, which is JSON.
fn run(script: &str, arguments: &[&OsStr]) -> Result<Value, String> {
    let package = artefacts::browser_package();
    if !package.join("windlass_browser_bg.wasm").exists() {
        return Err("not built: run `cargo xtask bench`".to_owned());
    }
    let ran = Command::new("node")
        .arg("--expose-gc")
        .arg(
            artefacts::repository()
                .join("tests/browser/bench")
                .join(script),
        )
        .arg(package)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output();
    let ran = ran.map_err(|error| format!("node does not start: {error}"))?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let last = text.lines().last().unwrap_or_default();
    match ran.status.success() {
        true => serde_json::from_str(last).map_err(|error| format!("{script}: {error}")),
        false => Err(format!("{script} ended with {}", ran.status)),
    }
}
