//! The conformance suite of the Model Context Protocol: `windlass mcp serve` as its server, `windlass mcp test` as its client.
//!
//! What each version of the protocol requires is run. `tests/mcp-conformance/<version>.yml` lists what is expected to fail, each with
//! its reason; the suite fails if anything else does, and if something of the list does not any more.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::{guest, mcp_serve::Served, support::Windlass};

/// The tools that scenarios of the suite call, as far as a component can have them.
fn component() -> Vec<u8> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {},
    });
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_error_handling",
        "test_tool_with_progress",
    ];
    let tools = names.map(|name| {
        json!({"name": name, "description": "A tool of the conformance suite.", "input_schema": schema})
    });
    let declaration =
        json!({"name": "conformance", "version": "0.1.0", "wit": "0.1.0", "tools": tools});
    let imports = r#"(import "windlass:host/progress@0.1.0" "report" (func $report (param i32 i32 i32 f64)))"#;
    let fields = r#"
        (data (i32.const 3000) "image/png")
        (data (i32.const 3100) "\89PNG\0d\0a\1a\0a")
        (data (i32.const 3200) "step")
        (data (i32.const 3300) "This is a text for testing.")
    "#;
    // The tools are told apart by the length of their names. Where results lie: guest/mod.rs.
    let body = r#"
        (if (i32.eq (local.get 1) (i32.const 23)) (then
            (call $report (i32.const 3200) (i32.const 4) (i32.const 1) (f64.const 0))
            (call $report (i32.const 3200) (i32.const 4) (i32.const 1) (f64.const 0.5))
            (call $report (i32.const 3200) (i32.const 4) (i32.const 1) (f64.const 1))))
        (i32.store8 (i32.const 1032) (i32.eq (local.get 1) (i32.const 19)))
        (if (result i32) (i32.eq (local.get 1) (i32.const 18))
            (then
                (i32.store8 (i32.const 1056) (i32.const 1))
                (i32.store (i32.const 1068) (i32.const 3100))
                (i32.store (i32.const 1072) (i32.const 8))
                (call $text (i32.const 3000) (i32.const 9)))
            (else (call $text (i32.const 3300) (i32.const 27))))
    "#;
    guest::declared_with(&declaration.to_string(), imports, fields, body)
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The directory of the suite: `$WINDLASS_MCP_CONFORMANCE`, else the one in the target directory.
fn suite() -> PathBuf {
    let beside = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("../mcp-conformance");
    let directory = std::env::var_os("WINDLASS_MCP_CONFORMANCE").map_or_else(beside, PathBuf::from);
    assert!(
        directory.join("node_modules").is_dir(),
        "the conformance suite is not in {}: run `cargo xtask setup` first",
        directory.display()
    );
    directory
}

/// The Node of the tests, which is as new as the suite wants it.
fn node() -> PathBuf {
    let packages = repository().join("tests/node_modules");
    let names = ["linux-x64", "linux-arm64", "darwin-x64"];
    let installed = names.map(|name| packages.join(format!("node-{name}/bin/node")));
    let found = installed.into_iter().find(|node| node.is_file());
    found.unwrap_or_else(|| "node".into())
}

/// Runs what a version of the protocol requires of a server or a client.
fn conforms(windlass: &Windlass, version: &str, words: &[&str]) {
    let program = suite().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let expected = repository().join(format!("tests/mcp-conformance/{version}.yml"));
    let mut command: Command = windlass.program(node().to_str().unwrap(), &[]);
    let done = command
        .arg(program)
        .args(words)
        .args(["--requirements", version, "--expected-failures"])
        .arg(expected)
        .env("WINDLASS", env!("CARGO_BIN_EXE_windlass"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let complained = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success(),
        "{}\n{said}\n{complained}",
        done.status
    );
}

fn serves(version: &str) {
    let windlass = Windlass::new();
    let path = windlass.home().join("conformance.wasm");
    std::fs::write(&path, component()).unwrap();
    let tools: Value = json!({"permissions": {"allow": [
        "test_simple_text", "test_image_content", "test_error_handling", "test_tool_with_progress"]}});
    let words = [
        "mcp",
        "serve",
        "--plugin-dir",
        path.to_str().unwrap(),
        "--settings",
        &tools.to_string(),
        "--http",
        "127.0.0.1:0",
    ];
    let served = Served::of(windlass.command(&words));
    conforms(&windlass, version, &["server", "--url", &served.url()]);
}

fn connects(version: &str) {
    let windlass = Windlass::new();
    let client = repository().join("tests/mcp-conformance/client.mjs");
    let client = format!("{} {}", node().display(), client.display());
    conforms(&windlass, version, &["client", "--command", &client]);
}

#[test]
fn mcp_conformance_of_the_server_as_2025_11_25_wants_it() {
    serves("2025-11-25");
}

#[test]
fn mcp_conformance_of_the_server_as_2026_07_28_wants_it() {
    serves("2026-07-28");
}

#[test]
fn mcp_1_conformance_of_the_client_as_2025_11_25_wants_it() {
    connects("2025-11-25");
}

#[test]
fn mcp_1_conformance_of_the_client_as_2026_07_28_wants_it() {
    connects("2026-07-28");
}
