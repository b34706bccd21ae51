//! WASI for components: the files that a call was granted, and nothing else behind it.

use std::{fs, path::Path, path::PathBuf};

use windlass::{
    core::{
        host::CancelSignal,
        json::RawJson,
        tool::{Access, DenyPattern, FsGrant, GrantRoot, ToolCall, ToolResult},
    },
    plugins::{PluginHost, PluginHostConfig},
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::guest;

/// What a guest for WASI begins with: `$note` adds a character to the answer, `.` for success and else `A` plus the error code.
const PRELUDE: &str = r#"
    (import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $directories (param i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.open-at"
        (func $open_at (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.write"
        (func $write (param i32 i32 i32 i64 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.set-size" (func $set_size (param i32 i64 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.sync" (func $sync (param i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.stat-at"
        (func $stat_at (param i32 i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.append-via-stream"
        (func $append (param i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.unlink-file-at"
        (func $unlink (param i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.create-directory-at"
        (func $make (param i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.symlink-at"
        (func $link (param i32 i32 i32 i32 i32 i32)))
    (import "wasi:filesystem/types@0.2.12" "[method]descriptor.rename-at"
        (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wasi:io/streams@0.2.12" "[method]output-stream.blocking-write-and-flush"
        (func $put (param i32 i32 i32 i32)))
    (import "wasi:io/streams@0.2.12" "[method]output-stream.write-zeroes" (func $zeroes (param i32 i64 i32)))
    (import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))
    (import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))
    (import "wasi:cli/environment@0.2.12" "get-environment" (func $environment (param i32)))
    (import "wasi:cli/exit@0.2.12" "exit" (func $exit (param i32)))
    (memory (export "memory") 2)
    (global $heap (mut i32) (i32.const 8192))
    (global $end (mut i32) (i32.const 2080))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
        (global.set $heap (i32.add (local.get $at) (local.get 3)))
        (local.get $at))
    (func $say (param $character i32)
        (i32.store8 (global.get $end) (local.get $character))
        (global.set $end (i32.add (global.get $end) (i32.const 1))))
    ;; Notes the result at 2048, whose error code lies so far behind it.
    (func $note (param $code i32)
        (if (i32.load8_u (i32.const 2048))
            (then (call $say (i32.add (i32.const 65)
                (i32.load8_u (i32.add (i32.const 2048) (local.get $code))))))
            (else (call $say (i32.const 46)))))
    (func $root (param $index i32) (result i32)
        (call $directories (i32.const 2048))
        (i32.load (i32.add (i32.load (i32.const 2048)) (i32.mul (local.get $index) (i32.const 12)))))
"#;

/// How to open, as WASI numbers it.
const CREATE: u32 = 1;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;
const READ: u32 = 1;
const WRITE: u32 = 2;

/// The letters of error codes.
const EXIST: char = 'H';
const TOO_LARGE: char = 'I';
const LOOP: char = 'P';
const NO_ENTRY: char = 'U';
const NOT_DIRECTORY: char = 'Y';
const NOT_PERMITTED: char = '`';
const READ_ONLY: char = 'b';
const BAD_DESCRIPTOR: char = 'D';
const DONE: char = '.';

/// A guest that does one thing after the other and answers with a character for each.
#[derive(Default)]
struct Guest {
    data: String,
    used: usize,
    body: String,
}

impl Guest {
    /// Where a text lies in memory, and its length.
    fn text(&mut self, text: &str) -> String {
        let at = 4096 + self.used;
        let bytes: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        self.data += &format!("(data (i32.const {at}) \"{bytes}\")");
        self.used += text.len();
        format!("(i32.const {at}) (i32.const {})", text.len())
    }

    fn then(mut self, code: &str) -> Self {
        self.body += code;
        self
    }

    /// Opens a path below a root, following links. What is opened is `$file`.
    fn open(mut self, root: u32, path: &str, how: u32, flags: u32) -> Self {
        let path = self.text(path);
        self.then(&format!(
            "(call $open_at (call $root (i32.const {root})) (i32.const 1) {path} (i32.const {how}) (i32.const {flags})
                (i32.const 2048)) (call $note (i32.const 4)) (local.set $file (i32.load (i32.const 2052)))"
        ))
    }

    /// Calls a function with a path below a root.
    fn at(mut self, function: &str, root: u32, path: &str) -> Self {
        let path = self.text(path);
        self.then(&format!(
            "(call {function} (call $root (i32.const {root})) {path} (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    fn rename(mut self, (from, path): (u32, &str), (to, new): (u32, &str)) -> Self {
        let (path, new) = (self.text(path), self.text(new));
        self.then(&format!(
            "(call $rename (call $root (i32.const {from})) {path} (call $root (i32.const {to})) {new}
                (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    fn write(mut self, text: &str, at: u64) -> Self {
        let text = self.text(text);
        let at = at.cast_signed();
        self.then(&format!(
            "(call $write (local.get $file) {text} (i64.const {at}) (i32.const 2048)) (call $note (i32.const 8))"
        ))
    }

    fn set_size(self, size: u64) -> Self {
        let size = size.cast_signed();
        self.then(&format!(
            "(call $set_size (local.get $file) (i64.const {size}) (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    fn component(&self) -> Vec<u8> {
        let module = format!(
            r#"(module {PRELUDE} {}
                (func (export "call") (param i32 i32 i32 i32 i32 i32) (result i32)
                    (local $file i32) (local $stream i32) (local $first i64) {}
                    (i32.store (i32.const 1024) (i32.const 1056))
                    (i32.store (i32.const 1028) (i32.const 1))
                    (i32.store (i32.const 1060) (i32.const 2080))
                    (i32.store (i32.const 1064) (i32.sub (global.get $end) (i32.const 2080)))
                    (i32.const 1024)))"#,
            self.data, self.body
        );
        let mut module = wat::parse_str(module).unwrap();
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut resolve = Resolve::default();
        for folder in ["wasi", "wit/host", "wit/plugin"] {
            resolve.push_dir(here.join(folder)).unwrap();
        }
        let world = "package test:guest; world guest { include windlass:plugin/tools@0.1.0; include windlass:wasi/wasi; }";
        let package = resolve.push_str("guest.wit", world).unwrap();
        let world = resolve.select_world(&[package], Some("guest")).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
            .unwrap();
        let mut encoder = ComponentEncoder::default();
        let encoder = encoder.module(&module).unwrap();
        let mut component = encoder.encode().unwrap();
        guest::append_declaration(&mut component, guest::DECLARATION);
        component
    }

    /// What a call of it gives, in a place.
    fn run(&self, ground: &Ground) -> ToolResult {
        let host = PluginHost::new(PluginHostConfig::default());
        let plugin = host.load("test", self.component()).unwrap();
        let call = ToolCall {
            tool_use_id: "toolu_1".into(),
            name: "t".into(),
            input: RawJson::parse("{}").unwrap(),
            grant: ground.grant(),
            observed: Vec::new(),
            timeout_ms: None,
            agent: None,
            command: None,
            outside_sandbox: false,
            shell: None,
        };
        plugin.call_blocking(&call, &CancelSignal::new())
    }

    /// Asserts what it answers.
    fn answers(&self, ground: &Ground, expected: &[char]) {
        let result = self.run(ground);
        let expected: String = expected.iter().collect();
        let text = result.content.first().map(|block| format!("{block:?}"));
        let text = text.unwrap_or_default();
        assert!(
            !result.is_error && text.contains(&format!("\"{expected}\"")),
            "{expected}: {text}"
        );
    }
}

/// Two granted directories, `read` (root 0) and `write` (root 1), and one beside them that is not.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read", "write", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("note.txt"), name).unwrap();
        }
        fs::write(folder.path().join("write/closed.key"), "closed").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn grant(&self) -> FsGrant {
        let root = |name: &str, access| GrantRoot {
            path: self.path(name).display().to_string(),
            access,
        };
        FsGrant {
            cwd: self.path("read").display().to_string(),
            roots: vec![root("read", Access::Read), root("write", Access::Write)],
            deny: vec![DenyPattern {
                pattern: "**/*.key".to_owned(),
                access: Access::Read,
            }],
        }
    }
}

#[test]
fn card_5_nothing_of_wasi_changes_what_may_only_be_read() {
    let ground = Ground::new();
    Guest::default()
        .open(0, "note.txt", TRUNCATE, READ)
        .open(0, "note.txt", TRUNCATE, READ | WRITE)
        .open(0, "note.txt", 0, WRITE)
        .open(0, "new.txt", CREATE, WRITE)
        .open(0, "new.txt", CREATE | EXCLUSIVE, READ)
        .at("$unlink", 0, "note.txt")
        .at("$make", 0, "new")
        .rename((0, "note.txt"), (1, "moved.txt"))
        .rename((1, "note.txt"), (0, "note.txt"))
        .answers(&ground, &[READ_ONLY; 9]);
    // What was opened for reading is not written through its handle.
    Guest::default()
        .open(0, "note.txt", 0, READ)
        .write("gone", 0)
        .set_size(0)
        .then("(call $append (local.get $file) (i32.const 2048)) (call $note (i32.const 4))")
        .answers(
            &ground,
            &[DONE, BAD_DESCRIPTOR, BAD_DESCRIPTOR, BAD_DESCRIPTOR],
        );
    assert_eq!(ground.read("read/note.txt"), "read");
    assert_eq!(ground.read("write/note.txt"), "write");
    assert_eq!(fs::read_dir(ground.path("read")).unwrap().count(), 1);
    assert!(!ground.path("write/moved.txt").exists());
}

#[test]
fn card_5_what_was_not_granted_is_not_there_for_wasi_either() {
    let ground = Ground::new();
    let outside = ground.path("outside/note.txt").display().to_string();
    let mut guest = Guest::default();
    let paths = [
        "../outside/note.txt",
        "a/../../outside/note.txt",
        "/etc/passwd",
        &outside,
        "..",
        "closed.key",
    ];
    for path in paths {
        guest = guest.open(1, path, 0, READ).at("$unlink", 1, path);
    }
    guest = guest.open(1, "closed.key", CREATE, WRITE);
    guest.answers(&ground, &[NO_ENTRY; 13]);
    assert_eq!(ground.read("write/closed.key"), "closed");
}

#[cfg(unix)]
#[test]
fn card_5_no_link_leads_wasi_out_with_a_slash_at_its_end_or_without() {
    use std::os::unix::fs::symlink;
    let ground = Ground::new();
    symlink(ground.path("outside"), ground.path("write/folder")).unwrap();
    symlink("../outside/note.txt", ground.path("write/file")).unwrap();
    symlink("note.txt", ground.path("write/own")).unwrap();
    let mut guest = Guest::default();
    for path in [
        "folder",
        "folder/",
        "folder/.",
        "folder/note.txt",
        "file",
        "file/",
    ] {
        guest = guest.open(1, path, 0, READ);
    }
    guest = guest
        .open(1, "file", CREATE, WRITE)
        .open(1, "folder/new.txt", CREATE, WRITE);
    guest.answers(&ground, &[NO_ENTRY; 8]);
    Guest::default()
        .open(1, "own", 0, READ)
        .open(1, "own/", 0, READ)
        .open(1, "own", CREATE | EXCLUSIVE, WRITE)
        .answers(&ground, &[DONE, NOT_DIRECTORY, EXIST]);
    // Not followed: a link is none of the things that can be opened. And nobody makes one.
    let mut guest = Guest::default();
    let (own, new) = (guest.text("own"), guest.text("new"));
    guest
        .then(&format!(
            "(call $open_at (call $root (i32.const 1)) (i32.const 0) {own} (i32.const 0) (i32.const 1) (i32.const 2048))
            (call $note (i32.const 4))
            (call $link (call $root (i32.const 1)) {own} {new} (i32.const 2048)) (call $note (i32.const 1))"
        ))
        .answers(&ground, &[LOOP, NOT_PERMITTED]);
    assert_eq!(ground.read("outside/note.txt"), "outside");
    assert_eq!(fs::read_dir(ground.path("outside")).unwrap().count(), 1);
}

#[test]
fn card_5_no_number_of_a_guest_is_memory_of_the_host() {
    let ground = Ground::new();
    Guest::default()
        .open(1, "note.txt", 0, WRITE)
        .set_size(u64::MAX)
        .set_size(1 << 40)
        .write("x", 1 << 40)
        .write("x", u64::MAX)
        .then("(call $append (local.get $file) (i32.const 2048)) (local.set $stream (i32.load (i32.const 2052)))")
        // A failed stream operation is case 0 of its error.
        .then("(call $zeroes (local.get $stream) (i64.const -1) (i32.const 2048)) (call $note (i32.const 4))")
        .answers(&ground, &[DONE, TOO_LARGE, TOO_LARGE, TOO_LARGE, TOO_LARGE, 'A']);
    assert_eq!(ground.read("write/note.txt"), "write");
    let random = Guest::default().then("(call $random (i64.const 1099511627776) (i32.const 2048))");
    let handles = Guest::default().then("(loop $on (drop (call $root (i32.const 0))) (br $on))");
    for (guest, expected) in [(random, "random bytes"), (handles, "more handles")] {
        let result = guest.run(&ground);
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(expected), "{text}");
    }
}

#[test]
fn card_5_what_wasi_wrote_is_there_whole_when_it_is_synced_looked_at_or_the_call_ends() {
    let ground = Ground::new();
    let writes = |guest: Guest| {
        guest
            .open(1, "new.txt", CREATE, WRITE)
            .write("all of it", 0)
    };
    writes(Guest::default()).answers(&ground, &[DONE; 2]);
    assert_eq!(ground.read("write/new.txt"), "all of it");

    // What a call that fails had not closed or synced is not there.
    let failed = Guest::default()
        .open(1, "new.txt", TRUNCATE, WRITE)
        .write("synced", 0)
        .then("(call $sync (local.get $file) (i32.const 2048))")
        .write("not this", 0)
        .then("(call $exit (i32.const 0))")
        .run(&ground);
    assert!(
        failed.is_error && format!("{failed:?}").contains("exit"),
        "{failed:?}"
    );
    assert_eq!(ground.read("write/new.txt"), "synced");

    let mut guest = Guest::default().open(1, "new.txt", 0, WRITE);
    let more = guest.text(" and more");
    guest
        .then("(call $append (local.get $file) (i32.const 2048)) (local.set $stream (i32.load (i32.const 2052)))")
        .then(&format!("(call $put (local.get $stream) {more} (i32.const 2048)) (call $note (i32.const 4))"))
        .rename((1, "new.txt"), (1, "moved.txt"))
        .at("$unlink", 1, "note.txt")
        .answers(&ground, &[DONE; 4]);
    assert_eq!(ground.read("write/moved.txt"), "synced and more");
    assert!(!ground.path("write/new.txt").exists() && !ground.path("write/note.txt").exists());
}

#[test]
fn card_5_the_clock_of_wasi_stands_still_and_the_environment_is_empty() {
    let ground = Ground::new();
    Guest::default()
        .then(
            "(local.set $first (call $now))
            (loop $on
                (local.set $file (i32.add (local.get $file) (i32.const 1)))
                (br_if $on (i32.lt_u (local.get $file) (i32.const 1000000))))
            (call $say (i32.add (i32.const 48) (i64.ne (local.get $first) (call $now))))
            (call $environment (i32.const 2048))
            (call $say (i32.add (i32.const 48) (i32.load (i32.const 2052))))",
        )
        .answers(&ground, &['0', '0']);
}
