//! What a component says that it has seen of files: only what the host has handed to it counts, because changes of files rest on it.

use std::fs;

use serde_json::json;
use windlass::{
    core::{
        host::CancelSignal,
        tool::{Access, FsGrant, GrantRoot, ToolCall, ToolResult},
    },
    plugins::{CallLimits, PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    plugin_probe::{Log, call, logging},
    support::{Model, calls},
};

/// A digest of the right form.
const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A component that reads `a.txt` below its first root, so many bytes from there, and says that it has seen files.
fn component(seen: &[(&str, &str)], from: u32, bytes: u32) -> Vec<u8> {
    let mut texts = "a.txt".to_owned();
    let mut records = String::new();
    for (number, (path, digest)) in seen.iter().enumerate() {
        let at = 2200 + 20 * number;
        for (offset, text) in [(0, path), (8, digest)] {
            let to = at + offset;
            records += &format!(
                "(i32.store (i32.const {to}) (i32.const {})) (i32.store (i32.const {}) (i32.const {}))",
                4096 + texts.len(),
                to + 4,
                text.len()
            );
            texts += text;
        }
    }
    let fields = format!("(data (i32.const 4096) \"{texts}\")");
    let body = format!(
        "(call $roots (i32.const 2048))
        (call $read (i32.load offset=12 (i32.load (i32.const 2048))) (i32.const 4096) (i32.const 5)
            (f64.const {from}) (i32.const {bytes}) (i32.const 2064))
        {records}
        (i32.store (i32.const 1048) (i32.const 2200))
        (i32.store (i32.const 1052) (i32.const {}))
        (call $text (i32.const 4096) (i32.const 5))",
        seen.len()
    );
    guest::declared_with(guest::DECLARATION, "", &fields, &body)
}

struct Place {
    folder: tempfile::TempDir,
    log: Log,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.txt"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        Self {
            folder,
            log: Log::default(),
        }
    }

    fn path(&self, name: &str) -> String {
        let real = self.folder.path().canonicalize().unwrap();
        real.join(name).display().to_string()
    }

    fn run(&self, limits: CallLimits, component: Vec<u8>) -> ToolResult {
        let host = PluginHost::new(PluginHostConfig {
            limits,
            ..logging(&self.log)
        });
        let path = self.folder.path().canonicalize().unwrap();
        let path = path.display().to_string();
        let call = ToolCall {
            name: "t".into(),
            grant: FsGrant {
                cwd: path.clone(),
                roots: vec![GrantRoot {
                    path,
                    access: Access::Read,
                }],
                deny: Vec::new(),
            },
            ..call("x")
        };
        let plugin = host.load("test", component).unwrap();
        plugin.call_blocking(&call, &CancelSignal::new())
    }

    /// The paths that it is believed to have seen.
    fn seen(&self, component: Vec<u8>) -> Vec<String> {
        let result = self.run(CallLimits::default(), component);
        assert!(!result.is_error, "{result:?}");
        result.observed.into_iter().map(|seen| seen.path).collect()
    }
}

#[test]
fn card_5_a_component_has_seen_only_what_the_host_has_handed_to_it() {
    let place = Place::new();
    let (read, other) = (place.path("a.txt"), place.path("b.txt"));
    let all = [
        (read.as_str(), DIGEST),
        (other.as_str(), DIGEST),
        ("/etc/passwd", DIGEST),
        ("a.txt", DIGEST),
        (&place.path("./a.txt"), DIGEST),
    ];
    assert_eq!(place.seen(component(&all, 0, 100)), [read.as_str()]);
    assert!(
        place
            .log
            .text()
            .contains(&format!("it says that it has seen {other}")),
        "{}",
        place.log.text()
    );
    // To ask for nothing, or for what is behind the end, is not to read.
    assert!(place.seen(component(&all[..1], 0, 0)).is_empty());
    assert!(place.seen(component(&all[..1], 1000, 100)).is_empty());
    assert_eq!(place.seen(component(&all[..1], 3, 1)), [read]);
}

#[test]
fn card_5_a_digest_has_its_form_and_what_is_said_of_files_is_output() {
    let place = Place::new();
    let path = place.path("a.txt");
    for digest in [
        "",
        "sha256:",
        "anything",
        &DIGEST.to_uppercase(),
        &DIGEST[..70],
        &format!("{DIGEST}0"),
        &DIGEST.replace('0', "g"),
    ] {
        let result = place.run(
            CallLimits::default(),
            component(&[(path.as_str(), digest)], 0, 100),
        );
        let text = result.joined_text();
        assert!(
            result.is_error && text.contains("64 hexadecimal digits"),
            "{digest}: {text}"
        );
        assert!(result.observed.is_empty());
    }
    let limits = |content| CallLimits {
        content,
        ..CallLimits::default()
    };
    let bytes = "a.txt".len() + path.len() + DIGEST.len();
    let one = || component(&[(path.as_str(), DIGEST)], 0, 100);
    assert_eq!(place.run(limits(bytes), one()).observed.len(), 1);
    let text = place.run(limits(bytes - 1), one()).joined_text();
    assert!(
        text.contains(&format!("its result has {bytes} bytes")),
        "{text}"
    );
}

#[test]
fn card_3_a_result_of_very_many_blocks_is_refused() {
    // A list of empty texts, which have no bytes.
    let blocks = "(drop (memory.grow (i32.const 20)))
        (i32.store (i32.const 1024) (i32.const 131072))
        (i32.store (i32.const 1028) (i32.const 50000))
        (i32.const 1024)";
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host.load("test", guest::component(blocks)).unwrap();
    let call = ToolCall {
        name: "t".into(),
        ..call("x")
    };
    let text = plugin
        .call_blocking(&call, &CancelSignal::new())
        .joined_text();
    assert!(text.contains("its result has 50000 blocks"), "{text}");
}

#[tokio::test]
async fn card_5_what_a_component_says_lets_no_file_be_changed_that_it_did_not_read() {
    let place = Place::new();
    let other = place.path("b.txt");
    let digest = windlass::plugins::Inspection::digest(b"b.txt");
    let file = place.folder.path().join("tool.wasm");
    fs::write(&file, component(&[(other.as_str(), &digest)], 0, 100)).unwrap();
    let edit = json!({ "file_path": other, "old_string": "b", "new_string": "c" });
    let model = Model::of(json!([
        calls(&[("t", json!({}))]),
        calls(&[("Edit", edit)]),
        { "expect": { "tool_results": [{ "contains": "read", "is_error": true }] }, "respond": "done" },
    ]));
    let agent = model
        .agent()
        .builtin_tools()
        .plugin(&file)
        .allowed_tools(["t", "Edit"])
        .cwd(place.folder.path())
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
    assert_eq!(fs::read_to_string(other).unwrap(), "b.txt");
}
