//! What a component keeps from call to call in an instance of its session: names, and never what an earlier call could reach.

use std::fs;

use serde_json::json;
use windlass::{
    core::{
        host::CancelSignal,
        tool::{Access, DenyPattern, FsGrant, GrantRoot, ToolCall},
    },
    plugins::{ComponentGrant, Method, Plugin, PluginHost, PluginHostConfig},
};

use crate::{
    guest,
    plugin_probe::{Probe, Server, call, said},
    wasi_guest::{DONE, Ground, Guest, NO_ENTRY, READ, WRITE},
};

const DECLARATION: &str = r#"{
    "name": "test", "version": "0.1.0", "wit": "0.1.0", "instance": "session",
    "tools": [{ "name": "t", "description": "A test.", "input_schema": { "type": "object" } }]
}"#;

/// In the first call, the first part; afterwards, the other.
fn first_then(first: &str, later: &str) -> String {
    format!(
        "(if (i32.load (i32.const 2500)) (then {later}) (else (i32.store (i32.const 2500) (i32.const 1)) {first}))"
    )
}

fn text(plugin: &Plugin, grant: FsGrant) -> String {
    let call = ToolCall {
        name: "t".into(),
        grant,
        ..call("x")
    };
    let result = plugin.call_blocking(&call, &CancelSignal::new());
    assert!(!result.is_error, "{result:?}");
    result.joined_text()
}

fn only(grant: &FsGrant, index: usize) -> FsGrant {
    FsGrant {
        roots: vec![grant.roots[index].clone()],
        ..grant.clone()
    }
}

fn without(grant: &FsGrant, closed: &str) -> FsGrant {
    let mut narrowed = grant.clone();
    narrowed.deny.push(DenyPattern {
        pattern: closed.to_owned(),
        access: Access::Read,
    });
    narrowed
}

#[test]
fn card_5_a_directory_that_was_kept_is_looked_up_in_the_grant_of_the_call() {
    let ground = Ground::new();
    let keeps = "(call $roots (i32.const 2048))
        (i32.store (i32.const 2504) (i32.load offset=12 (i32.load (i32.const 2048))))";
    let reads = "(call $read (i32.load (i32.const 2504)) (i32.const 4096) (i32.const 8)
            (f64.const 0) (i32.const 100) (i32.const 2064))";
    let body = format!(
        "{} {reads}
        (if (result i32) (i32.load8_u (i32.const 2064))
            (then
                (i32.store8 (i32.const 2080) (i32.const 69))
                (i32.store8 (i32.const 2081) (i32.add (i32.load8_u (i32.const 2068)) (i32.const 48)))
                (call $text (i32.const 2080) (i32.const 2)))
            (else (call $text (i32.load (i32.const 2068)) (i32.load (i32.const 2072)))))",
        first_then(keeps, "")
    );
    let fields = "(data (i32.const 4096) \"note.txt\")";
    let component = guest::declared_with(DECLARATION, "", fields, &body);
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host.load("test", component).unwrap();
    let grant = ground.grant();
    let missing = "E0";
    assert_eq!(text(&plugin, grant.clone()), "read");
    assert_eq!(text(&plugin, without(&grant, "**/note.txt")), missing);
    // The tree that is the first one now is another.
    assert_eq!(text(&plugin, only(&grant, 1)), missing);
    assert_eq!(
        text(
            &plugin,
            FsGrant {
                roots: Vec::new(),
                ..grant.clone()
            }
        ),
        missing
    );
    let outside = GrantRoot {
        path: ground.path("outside").display().to_string(),
        access: Access::Read,
    };
    let mut reordered = grant.clone();
    reordered.roots.insert(0, outside);
    assert_eq!(text(&plugin, reordered), "read");
    assert_eq!(text(&plugin, grant), "read");
}

/// A guest of WASI that keeps its instance, loaded.
fn keeping(guest: &Guest) -> Plugin {
    let host = PluginHost::new(PluginHostConfig::default());
    host.load("test", guest.component_declaring(DECLARATION))
        .unwrap()
}

#[test]
fn card_5_a_directory_of_wasi_that_was_kept_is_looked_up_in_the_grant_of_the_call() {
    let ground = Ground::new();
    fs::create_dir(ground.path("read/sub")).unwrap();
    fs::write(ground.path("read/sub/in.txt"), "in").unwrap();
    let mut guest = Guest::default();
    let (sub, note, inner) = (
        guest.text("sub"),
        guest.text("note.txt"),
        guest.text("in.txt"),
    );
    let keeps = format!(
        "(i32.store (i32.const 2504) (call $root (i32.const 0)))
        (call $open_at (i32.load (i32.const 2504)) (i32.const 1) {sub} (i32.const 2) (i32.const 1) (i32.const 2048))
        (i32.store (i32.const 2508) (i32.load (i32.const 2052)))"
    );
    let opens = |directory: u32, name: &str| {
        format!(
            "(call $open_at (i32.load (i32.const {directory})) (i32.const 1) {name} (i32.const 0) (i32.const 1)
                (i32.const 2048)) (call $note (i32.const 4))"
        )
    };
    let guest = guest
        .then("(global.set $end (i32.const 2080))")
        .then(&first_then(&keeps, ""))
        .then(&opens(2504, &note))
        .then(&opens(2508, &inner));
    let plugin = keeping(&guest);
    let grant = ground.grant();
    let answer = |signs: [char; 2]| signs.iter().collect::<String>();
    assert_eq!(text(&plugin, grant.clone()), answer([DONE, DONE]));
    assert_eq!(text(&plugin, grant.clone()), answer([DONE, DONE]));
    assert_eq!(
        text(&plugin, without(&grant, "**/note.txt")),
        answer([NO_ENTRY, DONE])
    );
    assert_eq!(
        text(&plugin, without(&grant, "**/sub")),
        answer([DONE, NO_ENTRY])
    );
    assert_eq!(text(&plugin, only(&grant, 1)), answer([NO_ENTRY, NO_ENTRY]));
    assert_eq!(text(&plugin, grant), answer([DONE, DONE]));
}

#[test]
fn card_5_an_instance_that_was_not_told_of_a_directory_ends_before_a_call_that_has_it() {
    let ground = Ground::new();
    let note = |code: u32| format!("(call $say (i32.const {code}))");
    let guest = Guest::default()
        .then("(global.set $end (i32.const 2080))")
        .then(&first_then(
            &format!("(drop (call $root (i32.const 0))) {}", note(65)),
            &note(66),
        ));
    let plugin = keeping(&guest);
    let grant = ground.grant();
    let nothing = FsGrant {
        roots: Vec::new(),
        ..grant.clone()
    };
    assert_eq!(text(&plugin, only(&grant, 0)), "A");
    assert_eq!(text(&plugin, nothing), "B");
    assert_eq!(text(&plugin, only(&grant, 0)), "B");
    assert_eq!(text(&plugin, grant.clone()), "A");
    assert_eq!(text(&plugin, only(&grant, 1)), "B");
}

#[test]
fn card_5_files_streams_and_listings_of_an_earlier_call_do_not_go_on() {
    let ground = Ground::new();
    let types = "wasi:filesystem/types";
    let mut guest = Guest::default()
        .import(
            types,
            "[method]descriptor.read",
            "(func $read (param i32 i64 i64 i32))",
        )
        .import(
            types,
            "[method]descriptor.read-via-stream",
            "(func $stream (param i32 i64 i32))",
        )
        .import(
            types,
            "[method]descriptor.read-directory",
            "(func $list (param i32 i32))",
        )
        .import(
            types,
            "[method]directory-entry-stream.read-directory-entry",
            "(func $entry (param i32 i32))",
        )
        .import(
            "wasi:io/streams",
            "[method]input-stream.read",
            "(func $take (param i32 i64 i32))",
        );
    let note = guest.text("note.txt");
    let keeps = format!(
        "(call $open_at (call $root (i32.const 1)) (i32.const 1) {note} (i32.const 0) (i32.const {})
            (i32.const 2048))
        (i32.store (i32.const 2504) (i32.load (i32.const 2052)))
        (call $write (i32.load (i32.const 2504)) {note} (i64.const 0) (i32.const 2048))
        (call $stream (i32.load (i32.const 2504)) (i64.const 0) (i32.const 2048))
        (i32.store (i32.const 2508) (i32.load (i32.const 2052)))
        (call $list (call $root (i32.const 1)) (i32.const 2048))
        (i32.store (i32.const 2512) (i32.load (i32.const 2052)))
        (call $append (i32.load (i32.const 2504)) (i32.const 2048))
        (i32.store (i32.const 2516) (i32.load (i32.const 2052)))",
        READ | WRITE
    );
    // An open file of the call at hand, which none of those before is mistaken for.
    let opens = format!(
        "(call $open_at (call $root (i32.const 1)) (i32.const 1) {note} (i32.const 0) (i32.const 3) (i32.const 2048))
        (call $note (i32.const 4))"
    );
    let uses = format!(
        "(call $read (i32.load (i32.const 2504)) (i64.const 10) (i64.const 0) (i32.const 2048)) (call $note (i32.const 4))
        (call $write (i32.load (i32.const 2504)) {note} (i64.const 0) (i32.const 2048)) (call $note (i32.const 8))
        (call $entry (i32.load (i32.const 2512)) (i32.const 2048)) (call $note (i32.const 4))
        (call $take (i32.load (i32.const 2508)) (i64.const 10) (i32.const 2048)) (call $note (i32.const 4))
        (call $put (i32.load (i32.const 2516)) {note} (i32.const 2048)) (call $note (i32.const 4))"
    );
    let guest = guest
        .then("(global.set $end (i32.const 2080))")
        .then(&first_then(&keeps, &opens))
        .then(&uses);
    let plugin = keeping(&guest);
    let works = [DONE; 5].iter().collect::<String>();
    // The last two tell that it failed, and no reason.
    let gone: String = [DONE, NO_ENTRY, NO_ENTRY, NO_ENTRY, 'A', 'A']
        .iter()
        .collect();
    assert_eq!(text(&plugin, ground.grant()), works);
    let written = ground.read("write/note.txt");
    fs::write(ground.path("write/note.txt"), "since").unwrap();
    assert_eq!(text(&plugin, ground.grant()), gone);
    assert!(written.starts_with("note.txt"), "{written}");
    assert_eq!(ground.read("write/note.txt"), "since");
}

#[test]
fn card_5_an_answer_of_an_earlier_call_is_not_read_on() {
    let server = Server::saying("hello");
    let origin = server.origin();
    // The first call leaves its answer; the next one asks again, and reads and drops the old answer before the new one.
    let probe = Probe::default()
        .step("(global.set $len (i32.const 0))")
        .step("(i32.store (i32.const 2504) (i32.load (i32.const 2508)))")
        .send_unread("GET")
        .step("(i32.store (i32.const 2508) (i32.load (i32.const 2064)))")
        .step(
            "(if (i32.load (i32.const 2504)) (then
                (call $body_read (i32.load (i32.const 2504)) (i32.const 1000) (i32.const 2100))
                (call $digit (i32.load (i32.const 2108)))
                (call $body_drop (i32.load (i32.const 2504)))
                (call $body_read (i32.load (i32.const 2508)) (i32.const 1000) (i32.const 2100))
                (call $put (i32.load (i32.const 2104)) (i32.load (i32.const 2108)))))",
        );
    let asks = json!({
        "instance": "session",
        "grants": { "http": [{ "origin": origin, "methods": ["GET"] }] },
        // Enough for the one answer of a call, and not for those of all.
        "limits": { "http_bytes": 8 },
    });
    let grant = ComponentGrant::default().origin(origin.parse().unwrap(), [Method::Get]);
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = probe.granted(&host, &asks, &grant);
    assert_eq!(said(&plugin, &origin), "");
    assert_eq!(said(&plugin, &origin), "0hello");
    assert_eq!(said(&plugin, &origin), "0hello");
}

#[test]
fn card_5_what_an_earlier_call_has_read_is_not_seen_by_the_next() {
    let ground = Ground::new();
    let path = ground.path("read/note.txt").display().to_string();
    let reads = "(call $roots (i32.const 2048))
        (call $read (i32.load offset=12 (i32.load (i32.const 2048))) (i32.const 4096) (i32.const 8)
            (f64.const 0) (i32.const 100) (i32.const 2064))";
    let digest = format!("sha256:{}", "0".repeat(64));
    let body = format!(
        "{}
        (i32.store (i32.const 2200) (i32.const 4104)) (i32.store (i32.const 2204) (i32.const {}))
        (i32.store (i32.const 2208) (i32.const {})) (i32.store (i32.const 2212) (i32.const {}))
        (i32.store (i32.const 1048) (i32.const 2200)) (i32.store (i32.const 1052) (i32.const 1))
        (call $text (i32.const 4096) (i32.const 8))",
        first_then(reads, ""),
        path.len(),
        4104 + path.len(),
        digest.len()
    );
    let fields = format!("(data (i32.const 4096) \"note.txt{path}{digest}\")");
    let component = guest::declared_with(DECLARATION, "", &fields, &body);
    let host = PluginHost::new(PluginHostConfig::default());
    let plugin = host.load("test", component).unwrap();
    let seen = || {
        let call = ToolCall {
            name: "t".into(),
            grant: ground.grant(),
            ..call("x")
        };
        let result = plugin.call_blocking(&call, &CancelSignal::new());
        assert!(!result.is_error, "{result:?}");
        result.observed.len()
    };
    assert_eq!([seen(), seen()], [1, 0]);
}
