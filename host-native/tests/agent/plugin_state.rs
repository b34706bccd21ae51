//! What plugins remember, read of the environment and report.

use std::{fs, path::Path};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use windlass::{
    Message,
    plugins::{ComponentGrant, PluginHost, PluginHostConfig, StateScope},
};

use crate::{
    plugin_probe::{Log, Probe, logging, run, said},
    support::{Model, calls, done_after},
};

fn remembering(name: &str, scope: &str) -> Value {
    json!({"name": name, "grants": {"state": scope}})
}

fn in_directory(state: &Path) -> PluginHost {
    PluginHost::new(PluginHostConfig {
        state: Some(state.to_owned()),
        ..PluginHostConfig::default()
    })
}

#[test]
fn card_5_what_a_plugin_remembers_is_its_own_and_lasts_as_granted() {
    let folder = tempfile::tempdir().unwrap();
    let swap = Probe::default().swap("../k");
    let (session, durable) = (StateScope::Session, StateScope::Durable);
    let granted = |host: &PluginHost, file: &str, name: &str, scope| {
        let bytes = swap.component(&remembering(name, "durable"));
        let plugin = host.load(file, bytes).unwrap();
        plugin
            .granted(&ComponentGrant::default().state(scope))
            .unwrap()
    };
    let host = in_directory(&folder.path().join("state"));
    let mine = granted(&host, "a", "notes", durable);
    assert_eq!(said(&mine, "one"), "-");
    assert_eq!(said(&mine, "two"), "one");
    // One of another file, of another name, and a session's.
    for other in [
        granted(&host, "b", "notes", durable),
        granted(&host, "a", "other", durable),
        granted(&host, "a", "notes", session),
    ] {
        assert_eq!(said(&other, "x"), "-");
        assert_eq!(said(&other, "x"), "x");
    }
    // Another process finds it again.
    let host = in_directory(&folder.path().join("state"));
    assert_eq!(said(&granted(&host, "a", "notes", durable), "three"), "two");
    assert_eq!(said(&granted(&host, "a", "notes", session), "x"), "-");
    // All of it lies in the one directory.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn card_5_no_component_finds_what_another_one_of_its_name_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let host = in_directory(folder.path());
    let granted = |version: &str, id: Option<&str>| {
        let mut asks = remembering("notes", "durable");
        asks["version"] = version.into();
        let bytes = Probe::default().swap("k").component(&asks);
        let grant = ComponentGrant {
            state_id: id.map(str::to_owned),
            ..ComponentGrant::default().state(StateScope::Durable)
        };
        host.load("notes", bytes).unwrap().granted(&grant)
    };
    assert_eq!(said(&granted("1", None).unwrap(), "one"), "-");
    assert_eq!(said(&granted("2", None).unwrap(), "x"), "-");
    assert_eq!(said(&granted("1", None).unwrap(), "two"), "one");
    // A new version has what the old one had where it was granted that.
    assert_eq!(said(&granted("1", Some("a")).unwrap(), "one"), "-");
    assert_eq!(said(&granted("2", Some("a")).unwrap(), "two"), "one");
    assert_eq!(said(&granted("2", Some("b")).unwrap(), "x"), "-");
    for id in ["", "..", "a/b", &"a".repeat(65)] {
        let refused = granted("1", Some(id)).unwrap_err().to_string();
        assert!(refused.contains("no id of durable state"), "{refused}");
    }
}

#[test]
fn card_5_durable_state_needs_a_place() {
    let host = PluginHost::new(PluginHostConfig::default());
    let bytes = Probe::default()
        .swap("k")
        .component(&remembering("notes", "durable"));
    let plugin = host.load("notes", bytes).unwrap();
    let grant = ComponentGrant::default().state(StateScope::Durable);
    let refused = plugin.granted(&grant).unwrap_err().to_string();
    assert!(refused.contains("state_directory"), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let placed = ComponentGrant {
        state_directory: Some(folder.path().join("mine")),
        ..grant
    };
    assert_eq!(said(&plugin.granted(&placed).unwrap(), "x"), "-");
    assert!(folder.path().join("mine").is_dir());
}

/// An agent's model that has the tool `Probe` called once, with a result that has this text.
fn once(result: &str) -> [Value; 2] {
    [
        calls(&[("Probe", json!({"a": 1}))]),
        done_after(result, false),
    ]
}

#[tokio::test]
async fn card_5_sessions_of_an_agent_do_not_share_what_a_plugin_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.wasm");
    let mut asks = remembering("notes", "session");
    asks["tools"] = json!(["Probe", "Other"].map(|name| {
        json!({"name": name, "description": "Remembers.", "input_schema": {"type": "object"}})
    }));
    fs::write(&path, Probe::default().swap("k").component(&asks)).unwrap();
    let exchange = |tool: &str, result: &str| {
        let expected =
            json!({"expect": {"tool_results": [{"contains": result}]}, "respond": "done"});
        [calls(&[(tool, json!({"a": 1}))]), expected]
    };
    let exchanges = [
        exchange("Probe", "-"),
        exchange("Other", "\"a\":1"),
        exchange("Probe", "-"),
    ];
    let model = Model::of(Value::Array(exchanges.concat()));
    let grant = ComponentGrant::default().state(StateScope::Session);
    let agent = model
        .agent()
        .plugin_granted(&path, grant)
        .allowed_tools(["Probe", "Other"])
        .cwd(folder.path())
        .build()
        .unwrap();
    let session = agent.session();
    session.prompt("go").result().await.unwrap();
    session
        .prompt("again, with the other tool")
        .result()
        .await
        .unwrap();
    agent.session().prompt("go").result().await.unwrap();
    model.verify();
}

#[tokio::test]
async fn card_5_no_tool_reads_what_a_plugin_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().canonicalize().unwrap();
    let path = work.join("notes.wasm");
    fs::write(
        &path,
        Probe::default()
            .swap("k")
            .component(&remembering("notes", "durable")),
    )
    .unwrap();
    let state = work.join("state");
    let file = state.join("granted/6e6f746573/6b");
    let model = Model::of(json!([
        calls(&[("Probe", json!({"a": 1}))]),
        {"expect": {"tool_results": [{"contains": "-"}]},
            "respond": {"content": [{"type": "tool_use", "name": "Read", "input": {"file_path": file}}]}},
        {"expect": {"tool_results": [{"is_error": true}]}, "respond": "done"},
    ]));
    let grant = ComponentGrant {
        state_directory: Some(state),
        state_id: Some("notes".to_owned()),
        ..ComponentGrant::default().state(StateScope::Durable)
    };
    let agent = model
        .agent()
        .builtin_tools()
        .plugin_granted(&path, grant)
        .allowed_tools(["Probe", "Read"])
        .cwd(&work)
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert!(file.is_file());
    model.verify();
}

#[test]
fn card_5_a_variable_is_read_where_it_is_declared_and_granted() {
    let host = PluginHost::new(PluginHostConfig::default());
    let probe = Probe::default().variable("PATH").variable("HOME");
    let asks = json!({"grants": {"env": ["PATH", "HOME", "LANG"]}});
    let grant = ComponentGrant::default().env("PATH").env("LANG");
    let path = std::env::var("PATH").unwrap();
    assert_eq!(
        said(&probe.granted(&host, &asks, &grant), ""),
        format!("{path}-")
    );
}

/// Reports what a call does, as often as there is a number.
fn reporting(times: u32) -> Probe {
    let mut probe = Probe::default();
    let text = probe.text("halfway there");
    probe.step(&format!(
        "(local.set 0 (i32.const {times}))
        (loop $l
            (call $report {text} (i32.const 1) (f64.const 0.5))
            (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
            (br_if $l (local.get 0)))
        (call $letter (i32.const 46))"
    ))
}

#[test]
fn card_3_reports_of_progress_end_at_a_limit() {
    let log = Log::default();
    let host = PluginHost::new(logging(&log));
    let plugin = reporting(5000).granted(&host, &json!({}), &ComponentGrant::default());
    assert!(!run(&plugin, "").is_error);
    assert_eq!(log.lines(), 100);
    assert!(
        log.text().starts_with("halfway there (50 %)\n"),
        "{}",
        log.text()
    );
}

#[tokio::test]
async fn card_5_what_a_plugin_reports_comes_before_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("probe.wasm");
    fs::write(&path, reporting(3).component(&json!({}))).unwrap();
    let model = Model::of(Value::Array(once(".").to_vec()));
    let agent = model
        .agent()
        .plugin(&path)
        .allowed_tools(["Probe"])
        .cwd(folder.path());
    let messages: Vec<Message> = agent.build().unwrap().query("go").collect().await;
    let told = messages
        .iter()
        .filter(|message| matches!(message, Message::ToolProgress(_)));
    assert_eq!(told.count(), 3, "{messages:?}");
}
