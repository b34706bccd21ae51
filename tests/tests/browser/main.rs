//! The agent in JavaScript engines: the same core, the same component, the same bytes.
#![allow(clippy::unwrap_used)]

mod ag_ui;
mod api;
mod chromium;
mod edge;
mod facts;
mod file_systems;
mod mcp;
mod native;
mod node;
mod package;
mod page;
mod pages;
mod plugins;
mod sessions;
mod settings;
mod shell;

use std::{fs, path::Path};

use serde_json::Value;
use windlass_tests::{artefacts, compressed::brotli_len};

use self::facts::Facts;

#[test]
fn card_1_the_messages_of_the_demo_are_byte_for_byte_those_of_the_native_host_in_node() {
    let facts = Facts::of_the_demo();
    let there = split_outcome(&node::run(&facts));
    compare(&facts, &there);
}

#[test]
fn card_1_the_messages_of_the_demo_are_byte_for_byte_those_of_the_native_host_in_chromium() {
    let facts = Facts::of_the_demo();
    let there = split_outcome(&chromium::report_of(
        "/tests/page.html",
        &facts.bundle,
        Path::new(""),
    ));
    compare(&facts, &there);
}

#[test]
fn card_1_the_messages_of_the_demo_are_byte_for_byte_those_of_the_native_host_in_workerd() {
    let facts = Facts::of_the_demo();
    let there = split_outcome(&node::run_in_workerd(&facts));
    compare(&facts, &there);
}

/// A journal that was recorded here: the same inputs give the same outputs, byte for byte, wherever it is replayed.
#[test]
fn card_1_journals_replay_in_node_chromium_and_workerd() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("demo.ndjson");
    fs::write(&journal, native::journal(&Facts::of_the_demo())).unwrap();
    let variables = [
        ("WINDLASS_JOURNAL", journal),
        ("WINDLASS_CHROMIUM", artefacts::chromium()),
    ];
    node::test_with("replay.test.js", variables);
}

#[test]
fn card_3_a_component_in_javascript_reaches_only_what_its_call_was_granted() {
    node::test("files.test.js");
}

#[test]
fn card_3_components_in_javascript_get_no_more_than_they_ask_for_and_are_granted() {
    node::test("plugins.test.js");
}

#[test]
fn card_1_the_javascript_api_keeps_its_promises() {
    node::test("agent.test.js");
}

#[test]
fn the_size_of_the_browser_package_is_known() {
    let package = artefacts::browser_package();
    println!("{:<28} {:>10} {:>10}", "file", "bytes", "brotli");
    for file in [
        "windlass_browser_bg.wasm",
        "windlass_browser.js",
        "windlass_browser_settings_bg.wasm",
        "files/files.core.wasm",
        "files/files.js",
    ] {
        let bytes = fs::read(package.join(file)).unwrap();
        println!("{file:<28} {:>10} {:>10}", bytes.len(), brotli_len(&bytes));
    }
    // Core and engine together: what a page loads before the agent can speak.
    let module = fs::read(package.join("windlass_browser_bg.wasm")).unwrap();
    assert!(
        brotli_len(&module) <= 650 << 10,
        "{} bytes",
        brotli_len(&module)
    );
}

/// The messages of a run elsewhere, and what it said at the end.
struct Elsewhere {
    messages: String,
    outcome: Value,
}

fn split_outcome(report: &str) -> Elsewhere {
    let (messages, outcome) = report
        .trim_end()
        .rsplit_once('\n')
        .unwrap_or(("", report.trim_end()));
    Elsewhere {
        messages: format!("{messages}\n"),
        outcome: serde_json::from_str(outcome).unwrap(),
    }
}

fn compare(facts: &Facts, there: &Elsewhere) {
    assert_eq!(there.outcome["ok"], true, "{}", there.outcome);
    let here = native::run(facts);
    for (number, (native, other)) in here
        .messages
        .lines()
        .zip(there.messages.lines())
        .enumerate()
    {
        assert_eq!(native, other, "message {number} differs");
    }
    assert_eq!(here.messages, there.messages);
    assert!(here.messages.lines().count() > 15, "{}", here.messages);
    // The files are the same too, and the bug is gone.
    let repaired = format!("{}/shop/discounts.py", facts.cwd());
    let content = there.outcome["files"][&repaired].as_str().unwrap();
    assert_eq!(content, fs::read_to_string(Path::new(&repaired)).unwrap());
    assert!(content.contains("bisect_right"), "{content}");
    println!(
        "{} messages, {} bytes, equal; {} ms there",
        here.messages.lines().count(),
        here.messages.len(),
        there.outcome["ms"]
    );
}
