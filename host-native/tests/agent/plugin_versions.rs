//! Components that were made for another patch version of the interfaces: they are denied the same.

use std::fs;

use serde_json::json;
use windlass::{
    core::{host::CancelSignal, tool::ToolCall},
    plugins::{ComponentGrant, Inspection, PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    plugin_probe::{Probe, Server, call, said},
    wasi_guest::Ground,
};

/// The version that the host speaks, and one that it has to take for it.
const VERSIONS: [&str; 2] = ["0.1.0", "0.1.5"];

/// The component, made for this version: in its imports and in its declaration.
fn in_version(component: &[u8], version: &str) -> Vec<u8> {
    let mut made = component.to_vec();
    let length = version.len();
    for at in 0..=made.len() - length {
        if &made[at..at + length] == VERSIONS[0].as_bytes() {
            made[at..at + length].copy_from_slice(version.as_bytes());
        }
    }
    let inspection = Inspection::of(&made).unwrap();
    let imported = &inspection.imports;
    let end = format!("@{version}");
    assert!(
        imported.len() > 1 && imported.iter().all(|name| name.ends_with(&end)),
        "{imported:?}"
    );
    made
}

/// The handle of a root.
fn root(index: u32) -> String {
    let at = index * 16 + 12;
    format!("(i32.load offset={at} (i32.load (i32.const 2048)))")
}

/// `E` and the code of the error that lies so far behind 2064.
fn error(code: u32) -> String {
    format!(
        "(i32.store8 (i32.const 2080) (i32.const 69))
        (i32.store8 (i32.const 2081)
            (i32.add (i32.load8_u (i32.const {})) (i32.const 48)))
        (call $text (i32.const 2080) (i32.const 2))",
        2064 + code
    )
}

fn acting(path: &str, step: &str, code: u32, done: &str) -> Vec<u8> {
    let fields = format!("(data (i32.const 4096) \"{path}\")");
    let body = format!(
        "(call $roots (i32.const 2048)) {step}
        (if (result i32) (i32.load8_u (i32.const 2064)) (then {}) (else {done}))",
        error(code)
    );
    guest::declared_with(guest::DECLARATION, "", &fields, &body)
}

/// Says what is in a file below a root, or why not.
fn reading(index: u32, path: &str) -> Vec<u8> {
    let length = path.len();
    let step = format!(
        "(call $read {} (i32.const 4096) (i32.const {length}) (f64.const 0) (i32.const 100)
            (i32.const 2064))",
        root(index)
    );
    let done = "(call $text (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))";
    acting(path, &step, 4, done)
}

/// Writes the path of a file below a root into it, and says it; or why not.
fn writing(index: u32, path: &str) -> Vec<u8> {
    let text = format!("(i32.const 4096) (i32.const {})", path.len());
    let step = format!(
        "(call $write {} {text} {text} (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
            (i32.const 0) (i32.const 2064))",
        root(index)
    );
    acting(path, &step, 1, &format!("(call $text {text})"))
}

#[test]
fn card_5_every_version_that_a_component_may_be_made_for_is_denied_the_same() {
    let host = PluginHost::new(PluginHostConfig::default());
    for version in VERSIONS {
        let ground = Ground::new();
        let outside = ground.path("outside/note.txt").display().to_string();
        for (component, expected) in [
            // What was granted can be used.
            (reading(0, "note.txt"), "read"),
            (writing(1, "new.txt"), "new.txt"),
            // What lies outside, and what a rule closes, is not there.
            (reading(0, "../outside/note.txt"), "E0"),
            (reading(1, "../read/note.txt"), "E0"),
            (reading(0, &outside), "E0"),
            (reading(1, "closed.key"), "E0"),
            (writing(1, "../outside/note.txt"), "E0"),
            (writing(1, "closed.key"), "E0"),
            // What may be read may not be written.
            (writing(0, "note.txt"), "E4"),
            (writing(0, "new.txt"), "E4"),
        ] {
            let plugin = host.load("test", in_version(&component, version)).unwrap();
            let call = ToolCall {
                name: "t".into(),
                grant: ground.grant(),
                ..call("x")
            };
            let result = plugin.call_blocking(&call, &CancelSignal::new());
            let end = (result.is_error, result.joined_text());
            assert_eq!(end, (false, expected.to_owned()), "{version}");
        }
        assert_eq!(ground.read("write/new.txt"), "new.txt");
        assert_eq!(ground.read("write/closed.key"), "closed");
        for name in ["read", "outside"] {
            assert_eq!(ground.read(&format!("{name}/note.txt")), name);
            let files = fs::read_dir(ground.path(name)).unwrap().count();
            assert_eq!(files, 1, "{version}: {name}");
        }
    }
}

#[test]
fn card_5_every_version_reaches_neither_servers_nor_secrets_that_were_not_granted() {
    let host = PluginHost::new(PluginHostConfig::default());
    let server = Server::saying("hello");
    let origin = server.origin();
    let asks = json!({"grants": {
        "http": [origin], "env": ["PATH"], "state": "durable",
        "secrets": [{"name": "TOKEN", "description": "x", "audience": [origin]}],
    }});
    let probe = Probe::default()
        .available("TOKEN")
        .variable("PATH")
        .swap("k")
        .send("GET", &[], "");
    for version in VERSIONS {
        let component = in_version(&probe.component(&asks), version);
        let plugin = host.load("probe", component).unwrap();
        let plugin = plugin.granted(&ComponentGrant::default()).unwrap();
        assert_eq!(
            said(&plugin, &origin),
            "0-E0F2 this component was granted no network",
            "{version}"
        );
    }
    assert!(server.end().is_empty());
}
