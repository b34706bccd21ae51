//! Places from which programs and later sessions take orders: a plugin writes them where a person agreed to them by their names, and
//! never as a part of a directory that its call names.

use std::{fs, path::Path};

use serde_json::{Value, json};
use windlass::{
    core::{
        host::CancelSignal,
        tool::{Access, FsGrant, GrantRoot},
    },
    plugins::{ComponentGrant, Plugin, PluginHost, PluginHostConfig},
};

use crate::{
    plugin_probe::{Probe, call},
    support::{Model, calls, done_after},
};

/// Files of a directory that are such places, in spellings of several systems.
const PLACES: [&str; 8] = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".claude/settings.json",
    ".mcp.json",
    ".bashrc",
    ".envrc",
    ".GIT/config",
    "sub/.claude/settings.json",
];

/// A workspace in which all their folders are there.
fn ground() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for inner in [".git/hooks", ".claude", ".GIT", "sub/.claude"] {
        fs::create_dir_all(folder.path().join(inner)).unwrap();
    }
    folder
}

/// Writes these files of the first directory that it was granted, and says of each `+`, or `E` and the error code (`E4` read only).
fn writes(names: &[&str]) -> Probe {
    let mut probe = Probe::default();
    for name in names {
        let text = probe.text(name);
        probe = probe.step(&format!(
            "(call $roots (i32.const 2048))
            (call $write (i32.load offset=12 (i32.load (i32.const 2048))) {text} {text}
                (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2080))
            (if (i32.load8_u (i32.const 2080))
                (then (call $letter (i32.const 69)) (call $digit (i32.load8_u (i32.const 2081))))
                (else (call $letter (i32.const 43))))"
        ));
    }
    probe
}

/// A tool that writes where its call says, and in the working directory if it says nothing.
fn tool() -> Value {
    json!({
        "tools": [{
            "name": "Probe", "description": "Writes.", "input_schema": {"type": "object"},
            "paths": [{"field": "file_path", "access": "write", "default_cwd": true}],
        }],
        "grants": {"filesystem": "write"},
    })
}

fn real(path: &Path) -> String {
    path.canonicalize().unwrap().display().to_string()
}

fn says(plugin: &Plugin, written: &[String]) -> String {
    let mut call = call("");
    call.grant = FsGrant {
        cwd: "/".to_owned(),
        roots: (written.iter())
            .map(|path| GrantRoot {
                path: path.clone(),
                access: Access::Write,
            })
            .collect(),
        ..FsGrant::default()
    };
    let result = plugin.call_blocking(&call, &CancelSignal::new());
    assert!(!result.is_error, "{result:?}");
    result.joined_text()
}

#[tokio::test]
async fn card_5_no_directory_that_a_call_names_opens_what_others_take_orders_from() {
    let mut names = PLACES.to_vec();
    names.push("plain.txt");
    let expected = format!("{}+", "E4".repeat(PLACES.len()));
    for input in [json!({}), json!({"file_path": "."})] {
        let ground = ground();
        let path = ground.path().join("probe.wasm");
        fs::write(&path, writes(&names).component(&tool())).unwrap();
        let model = Model::of(json!([
            calls(&[("Probe", input.clone())]),
            done_after(&expected, false),
        ]));
        let agent = model.agent().cwd(ground.path()).allowed_tools(["Probe"]);
        let agent = agent.plugin(&path).build().unwrap();
        agent.run("go").await.unwrap();
        model.verify();
        for place in PLACES {
            assert!(!ground.path().join(place).exists(), "{input}: {place}");
        }
    }
}

#[test]
fn card_5_what_was_granted_by_its_name_is_written() {
    let ground = ground();
    let host = PluginHost::new(PluginHostConfig::default());
    let loaded = |names: &[&str]| {
        let component = writes(names).component(&tool());
        host.load("probe", component).unwrap()
    };
    let root = real(ground.path());
    // The file, the folder that has it, and a folder around it.
    let config = format!("{root}/.git/config");
    assert_eq!(says(&loaded(&["config"]), &[config]), "+");
    let git = format!("{root}/.git");
    assert_eq!(says(&loaded(&["hooks/pre-commit"]), &[git]), "+");
    assert_eq!(says(&loaded(&[".bashrc", "a"]), &[root]), "E4+");
}

#[test]
fn card_5_the_directory_of_a_role_opens_none_either() {
    let ground = ground();
    let asks = json!({"grants": {"directories": [
        {"role": "notes", "access": "write", "description": "where notes go"},
    ]}});
    let grant = ComponentGrant::default().role("notes", real(ground.path()), Access::Write);
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = writes(&[".git/config", ".mcp.json", "note"]).granted(&host, &asks, &grant);
    assert_eq!(says(&plugin, &[]), "E4E4+");
}

#[tokio::test]
async fn card_5_what_windlass_starts_is_not_written_as_a_part_of_a_directory() {
    let ground = ground();
    let started = ground.path().join("started");
    fs::create_dir(&started).unwrap();
    let path = ground.path().join("probe.wasm");
    let probe = writes(&["started/hook.sh", "plain.txt"]);
    fs::write(&path, probe.component(&tool())).unwrap();
    let model = Model::of(json!([
        calls(&[("Probe", json!({"file_path": "."}))]),
        done_after("E4+", false),
    ]));
    let agent = model.agent().cwd(ground.path()).allowed_tools(["Probe"]);
    let agent = agent.own_directory(&started).plugin(&path).build().unwrap();
    agent.run("go").await.unwrap();
    model.verify();
    assert!(!started.join("hook.sh").exists());
}
