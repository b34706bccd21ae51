//! What WASI costs a host: what a guest writes, names and calls is bounded before anything is made of it.

use std::{fs, time::Duration};

use windlass::plugins::{CallLimits, PluginHostConfig};

use crate::{
    plugin_probe::{Log, logging},
    wasi_guest::{CROSS_DEVICE, DONE, Ground, Guest, NAME_TOO_LONG, READ, WRITE},
};

/// A guest that has this much memory in pages of 64 KiB, and standard output as `$stream`.
fn printing(pages: u32) -> Guest {
    Guest::default()
        .import(
            "wasi:cli/stdout",
            "get-stdout",
            "(func $stdout (result i32))",
        )
        .import(
            "wasi:io/streams",
            "[method]output-stream.write",
            "(func $print (param i32 i32 i32 i32))",
        )
        .import(
            "wasi:io/streams",
            "[method]output-stream.check-write",
            "(func $check (param i32 i32))",
        )
        .then(&format!(
            "(drop (memory.grow (i32.const {pages}))) (local.set $stream (call $stdout))"
        ))
}

/// The part of a guest that writes so many bytes, all of them lines without text or with one letter.
fn print(bytes: u32) -> String {
    format!(
        "(call $print (local.get $stream) (i32.const 131072) (i32.const {bytes}) (i32.const 2048))"
    )
}

#[test]
fn card_3_a_stream_takes_no_more_than_it_said() {
    let ground = Ground::new();
    // What `check-write` answers is what is taken.
    printing(20)
        .then("(call $check (local.get $stream) (i32.const 2048))")
        .then(
            "(call $print (local.get $stream) (i32.const 131072) (i32.wrap_i64 (i64.load (i32.const 2056))) (i32.const 2048))
            (call $note (i32.const 4))",
        )
        .answers(&ground, &[DONE]);
    let newlines = "(memory.fill (i32.const 131072) (i32.const 10) (i32.const 67000000))";
    let file = Guest::default()
        .import(
            "wasi:io/streams",
            "[method]output-stream.write",
            "(func $print (param i32 i32 i32 i32))",
        )
        .open(1, "note.txt", 0, WRITE)
        .then("(drop (memory.grow (i32.const 40)))")
        .then("(call $append (local.get $file) (i32.const 2048)) (local.set $stream (i32.load (i32.const 2052)))")
        .then(&print(2_000_000));
    let flushed = printing(20).then(
        "(call $put (local.get $stream) (i32.const 131072) (i32.const 4097) (i32.const 2048))",
    );
    for (guest, bytes) in [
        (
            printing(1100).then(newlines).then(&print(67_000_000)),
            67_000_000,
        ),
        (file, 2_000_000),
        (flushed, 4097),
    ] {
        let result = guest.run(&ground);
        let told = format!("wrote {bytes} bytes to a stream at once");
        assert!(
            result.is_error && result.joined_text().contains(&told),
            "{result:?}"
        );
    }
    assert_eq!(ground.read("write/note.txt"), "write");
}

#[test]
fn card_3_what_is_printed_is_told_line_by_line_up_to_the_limit_of_the_log() {
    let ground = Ground::new();
    let log = Log::default();
    let config = || PluginHostConfig {
        limits: CallLimits {
            log: 10_000,
            ..CallLimits::default()
        },
        ..logging(&log)
    };
    let mut guest = printing(40);
    let text = guest.text("one\n\ntwo\nth");
    let rest = guest.text("ree\n");
    let put = |text: &str| format!("(call $print (local.get $stream) {text} (i32.const 2048))");
    let guest = guest
        .then(&put(&text))
        .then(&put(&rest))
        // A long line is told in pieces, cut between characters: the first has one byte less than it could have.
        .then("(i32.store8 (i32.const 131072) (i32.const 97))")
        .then("(local.set $file (i32.const 131073))")
        .then(
            "(loop $on (i32.store16 (local.get $file) (i32.const 0xa9c3))
                (local.set $file (i32.add (local.get $file) (i32.const 2)))
                (br_if $on (i32.lt_u (local.get $file) (i32.const 1000000))))",
        )
        .then(&print(800_001));
    let result = guest.run_with(config(), &ground);
    assert!(!result.is_error, "{result:?}");
    let text = log.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["one", "two", "three"]);
    assert!(lines[3].starts_with('a') && lines[4].starts_with('é'));
    assert!(
        lines[3..5]
            .iter()
            .all(|line| line.len() == 4095 || line.len() == 4096)
    );
    assert!(!text.contains('\u{fffd}'));
    assert!(text.len() <= 10_000 + lines.len(), "{}", text.len());
}

#[test]
fn card_5_a_path_is_measured_before_it_is_taken_apart() {
    let ground = Ground::new();
    // Sixteen megabytes of `/`, which would be sixteen million names.
    let path = "(i32.const 131072) (i32.const 16000000)";
    Guest::default()
        .then("(drop (memory.grow (i32.const 300)))")
        .then("(memory.fill (i32.const 131072) (i32.const 47) (i32.const 16000000))")
        .then("(i32.store8 (i32.const 131072) (i32.const 97))")
        .then(&format!(
            "(call $unlink (call $root (i32.const 1)) {path} (i32.const 2048)) (call $note (i32.const 1))
            (call $rename (call $root (i32.const 1)) {path} (call $root (i32.const 1)) {path} (i32.const 2048))
            (call $note (i32.const 1))"
        ))
        .answers(&ground, &[NAME_TOO_LONG; 2]);
}

#[test]
fn card_3_every_function_of_wasi_counts_as_a_call_of_the_host() {
    let ground = Ground::new();
    let types = "wasi:filesystem/types";
    let file = "(local.get $file)";
    let name = "(i32.const 4096) (i32.const 1)";
    let out = "(i32.const 2048)";
    let functions = [
        (
            types,
            "[method]descriptor.get-flags",
            "(param i32 i32)",
            format!("{file} {out}"),
        ),
        (
            types,
            "[method]descriptor.get-type",
            "(param i32 i32)",
            format!("{file} {out}"),
        ),
        (
            types,
            "[method]descriptor.is-same-object",
            "(param i32 i32) (result i32)",
            format!("{file} {file}"),
        ),
        (
            types,
            "[method]descriptor.set-times",
            "(param i32 i32 i64 i32 i32 i64 i32 i32)",
            format!(
                "{file} (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 0) {out}"
            ),
        ),
        (
            types,
            "[method]descriptor.link-at",
            "(param i32 i32 i32 i32 i32 i32 i32 i32)",
            format!("{file} (i32.const 0) {name} {file} {name} {out}"),
        ),
        (
            types,
            "[method]descriptor.readlink-at",
            "(param i32 i32 i32 i32)",
            format!("{file} {name} {out}"),
        ),
        (
            "wasi:clocks/monotonic-clock",
            "resolution",
            "(result i64)",
            String::new(),
        ),
        (
            "wasi:clocks/monotonic-clock",
            "subscribe-instant",
            "(param i64) (result i32)",
            "(i64.const 0)".to_owned(),
        ),
        (
            "wasi:clocks/wall-clock",
            "resolution",
            "(param i32)",
            out.to_owned(),
        ),
        (
            "wasi:random/random",
            "get-random-u64",
            "(result i64)",
            String::new(),
        ),
        (
            "wasi:random/insecure-seed",
            "insecure-seed",
            "(param i32)",
            out.to_owned(),
        ),
        (
            "wasi:cli/environment",
            "get-arguments",
            "(param i32)",
            out.to_owned(),
        ),
        ("wasi:cli/stdin", "get-stdin", "(result i32)", String::new()),
        (
            "wasi:cli/terminal-stdout",
            "get-terminal-stdout",
            "(param i32)",
            out.to_owned(),
        ),
    ];
    let mut guests: Vec<(&str, Guest)> = functions
        .iter()
        .map(|(interface, function, signature, arguments)| {
            let call = match signature.contains("result") {
                true => format!("(drop (call $it {arguments}))"),
                false => format!("(call $it {arguments})"),
            };
            let guest = Guest::default()
                .import(interface, function, &format!("(func $it {signature})"))
                .open(1, "note.txt", 0, READ)
                .then(&format!("(loop $on {call} (br $on))"));
            (*function, guest)
        })
        .collect();
    // Handles that are dropped at once.
    let dropped = Guest::default()
        .import(
            "wasi:clocks/monotonic-clock",
            "subscribe-instant",
            "(func $begin (param i64) (result i32))",
        )
        .import(
            "wasi:io/poll",
            "[resource-drop]pollable",
            "(func $drop_it (param i32))",
        )
        .then("(local.set $file (call $begin (i64.const 0))) (call $drop_it (local.get $file))")
        .then("(loop $on (call $drop_it (call $begin (i64.const 0))) (br $on))");
    guests.push(("drop", dropped));
    for (function, guest) in guests {
        let config = PluginHostConfig {
            limits: CallLimits {
                host_calls: 500,
                time: Duration::from_secs(60),
                ..CallLimits::default()
            },
            ..PluginHostConfig::default()
        };
        let text = guest.run_with(config, &ground).joined_text();
        assert!(
            text.contains("called the host more than 500 times"),
            "{function}: {text}"
        );
    }
}

#[cfg(unix)]
#[test]
fn card_5_a_file_that_is_renamed_to_another_of_its_names_is_not_lost() {
    use std::os::unix::fs::symlink;
    let ground = Ground::new().with("write/sub");
    for name in ["one", "sub/file"] {
        fs::write(ground.path("write").join(name), name).unwrap();
    }
    fs::hard_link(ground.path("write/one"), ground.path("write/two")).unwrap();
    symlink("sub", ground.path("write/alias")).unwrap();
    symlink("one", ground.path("write/link")).unwrap();
    Guest::default()
        .rename((1, "one"), (1, "two"))
        .rename((1, "sub/file"), (2, "file"))
        .rename((2, "file"), (1, "sub/file"))
        .rename((1, "alias/file"), (1, "sub/file"))
        .rename((1, "sub/./file"), (1, "sub/file"))
        // A link to it would be written through.
        .rename((1, "one"), (1, "link"))
        .answers(&ground, &[DONE, DONE, DONE, DONE, DONE, CROSS_DEVICE]);
    assert_eq!(ground.read("write/one"), "one");
    assert_eq!(ground.read("write/two"), "one");
    assert_eq!(ground.read("write/sub/file"), "sub/file");
    // Another file is replaced as ever.
    Guest::default()
        .rename((2, "file"), (1, "two"))
        .answers(&ground, &[DONE]);
    assert_eq!(ground.read("write/two"), "sub/file");
    assert!(!ground.path("write/sub/file").exists());
}

/// A listing holds the names of a whole page, so it counts as many handles.
#[test]
fn card_3_few_directories_are_listed_at_one_time() {
    let ground = Ground::new();
    let guest = Guest::default()
        .import(
            "wasi:filesystem/types",
            "[method]descriptor.read-directory",
            "(func $names (param i32 i32))",
        )
        .then("(local.set $file (call $root (i32.const 0)))")
        .then("(loop $on (call $names (local.get $file) (i32.const 2048)) (br $on))");
    let config = PluginHostConfig {
        limits: CallLimits {
            host_calls: 100,
            time: Duration::from_secs(60),
            ..CallLimits::default()
        },
        ..PluginHostConfig::default()
    };
    let text = guest.run_with(config, &ground).joined_text();
    assert!(text.contains("more handles"), "{text}");
}
