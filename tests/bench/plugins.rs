//! Components of third parties: how their calls spread, what another language costs, what a second start costs, and that calls
//! leave nothing behind.

use std::{fs, time::Instant};

use tempfile::TempDir;
use windlass::plugins::{Cache, Plugin, PluginHost, PluginHostConfig, with_declaration};
use windlass_core::{
    RawJson,
    host::CancelSignal,
    tool::{FsGrant, ToolCall},
};
use windlass_tests::artefacts;

use crate::{
    component::{call, echo, reading},
    process::anonymous_mib,
    table::{Goal, Table, in_turns, median},
};

/// Calls whose times are sorted.
const SPREAD: usize = 4_000;

/// Calls after which memory is looked at again.
const CALLS: usize = 10_000;

/// Calls in one measurement of a language.
const OF_LANGUAGE: usize = 100;

pub(crate) fn measure(table: &mut Table) {
    spread(table);
    languages(table);
    second_start(table);
    memory(table);
}

/// How much slower than the median one call of a hundred is.
fn spread(table: &mut Table) {
    let plugin = loaded(
        &PluginHost::new(PluginHostConfig::default()),
        "echo",
        echo(),
    );
    let echo = call("echo", &RawJson::empty_object(), FsGrant::default());
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let mut times: Vec<f64> = (0..SPREAD).map(|_| microseconds(&plugin, &echo)).collect();
        times.sort_by(f64::total_cmp);
        ratios.push(times[SPREAD * 99 / 100] / times[SPREAD / 2]);
    }
    table.value(
        "99th percentile of calls of a trivial tool, by their median",
        "×",
        median(ratios),
        Goal::AtMost(5.0),
    );
}

/// A tool in JavaScript that reads a file and counts its words, and one in Rust that reads it.
fn languages(table: &mut Table) {
    const FIGURE: &str = "a tool in JavaScript that reads a file (one in Rust)";
    let Some(javascript) = artefacts::built_plugin("words-js") else {
        return table.skipped(
            FIGURE,
            "its component was not built: run `cargo xtask test` once",
        );
    };
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().canonicalize().expect("a real path");
    fs::write(root.join("text.txt"), "tide and wind\n".repeat(20)).expect("a file");
    let host = PluginHost::new(PluginHostConfig::default());
    let bytes =
        with_declaration(&fs::read(javascript).expect("the component")).expect("its declaration");
    let javascript = loaded(&host, "words", bytes);
    let rust = loaded(&host, "files", windlass_builtin::FILES.to_vec());
    let input = serde_json::json!({ "file_path": root.join("text.txt") });
    let of = |tool| {
        call(
            tool,
            &RawJson::encode(&input).expect("JSON"),
            reading(&root),
        )
    };
    let (counting, reading) = (of("CountWords"), of("Read"));
    let calls = |plugin: &Plugin, call: &ToolCall| {
        median(
            (0..OF_LANGUAGE)
                .map(|_| microseconds(plugin, call))
                .collect(),
        )
    };
    let (ours, baseline) = in_turns(
        9,
        || calls(&javascript, &counting),
        || calls(&rust, &reading),
    );
    table.pair(FIGURE, "µs", ours, baseline, Goal::AtMost(10.0));
}

/// Loading and compiling a component that was compiled before, by another process or this one.
fn second_start(table: &mut Table) {
    let folder = TempDir::new().expect("a directory");
    let config = || PluginHostConfig {
        cache: Some(Cache::at(
            folder.path().join("compiled"),
            folder.path().join("key"),
        )),
        ..PluginHostConfig::default()
    };
    let bytes = windlass_builtin::FILES.to_vec();
    loaded(&PluginHost::new(config()), "files", bytes.clone());
    let start = || {
        let start = Instant::now();
        let _kept = loaded(&PluginHost::new(config()), "files", bytes.clone());
        start.elapsed().as_secs_f64() * 1e3
    };
    let times = (0..15).map(|_| start()).collect();
    table.value(
        "second start of a component, compiled before",
        "ms",
        median(times),
        Goal::AtMost(5.0),
    );
}

/// Memory that calls leave behind.
fn memory(table: &mut Table) {
    let plugin = loaded(
        &PluginHost::new(PluginHostConfig::default()),
        "echo",
        echo(),
    );
    let echo = call("echo", &RawJson::empty_object(), FsGrant::default());
    let run = || {
        for _ in 0..CALLS {
            microseconds(&plugin, &echo);
        }
    };
    run(); // what is kept for later calls is there now
    let before = anonymous_mib();
    run();
    let grown = (anonymous_mib() - before) * 1024.0;
    table.value(
        "memory that 10,000 calls leave behind",
        "KiB",
        grown,
        Goal::AtMost(256.0),
    );
}

fn loaded(host: &PluginHost, name: &str, bytes: Vec<u8>) -> Plugin {
    let plugin = host.load(name, bytes).expect("the component loads");
    plugin.prepare().expect("the component compiles");
    plugin
}

fn microseconds(plugin: &Plugin, call: &ToolCall) -> f64 {
    let start = Instant::now();
    let result = plugin.call_blocking(call, &CancelSignal::new());
    let elapsed = start.elapsed().as_secs_f64() * 1e6;
    assert!(!result.is_error, "{}", result.joined_text());
    elapsed
}
