//! Guests for WASI, made of one step after the other, and the directories that they are granted.

use std::{
    fs,
    path::{Path, PathBuf},
};

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
pub(crate) const CREATE: u32 = 1;
pub(crate) const EXCLUSIVE: u32 = 4;
pub(crate) const TRUNCATE: u32 = 8;
pub(crate) const READ: u32 = 1;
pub(crate) const WRITE: u32 = 2;

/// The letters of error codes.
pub(crate) const EXIST: char = 'H';
pub(crate) const TOO_LARGE: char = 'I';
pub(crate) const LOOP: char = 'P';
pub(crate) const NAME_TOO_LONG: char = 'S';
pub(crate) const NO_ENTRY: char = 'U';
pub(crate) const NOT_DIRECTORY: char = 'Y';
pub(crate) const NOT_PERMITTED: char = '`';
pub(crate) const READ_ONLY: char = 'b';
pub(crate) const CROSS_DEVICE: char = 'e';
pub(crate) const BAD_DESCRIPTOR: char = 'D';
pub(crate) const DONE: char = '.';

/// A guest that does one thing after the other and answers with a character for each.
#[derive(Default)]
pub(crate) struct Guest {
    imports: String,
    data: String,
    used: usize,
    body: String,
}

impl Guest {
    /// Where a text lies in memory, and its length.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let at = 4096 + self.used;
        let bytes: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        self.data += &format!("(data (i32.const {at}) \"{bytes}\")");
        self.used += text.len();
        format!("(i32.const {at}) (i32.const {})", text.len())
    }

    pub(crate) fn then(mut self, code: &str) -> Self {
        self.body += code;
        self
    }

    /// Imports one more function, in the text format.
    pub(crate) fn import(mut self, interface: &str, function: &str, local: &str) -> Self {
        self.imports += &format!("(import \"{interface}@0.2.12\" \"{function}\" {local})");
        self
    }

    /// Opens a path below a root, following links. What is opened is `$file`.
    pub(crate) fn open(mut self, root: u32, path: &str, how: u32, flags: u32) -> Self {
        let path = self.text(path);
        self.then(&format!(
            "(call $open_at (call $root (i32.const {root})) (i32.const 1) {path} (i32.const {how}) (i32.const {flags})
                (i32.const 2048)) (call $note (i32.const 4)) (local.set $file (i32.load (i32.const 2052)))"
        ))
    }

    /// Calls a function with a path below a root.
    pub(crate) fn at(mut self, function: &str, root: u32, path: &str) -> Self {
        let path = self.text(path);
        self.then(&format!(
            "(call {function} (call $root (i32.const {root})) {path} (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    pub(crate) fn rename(mut self, (from, path): (u32, &str), (to, new): (u32, &str)) -> Self {
        let (path, new) = (self.text(path), self.text(new));
        self.then(&format!(
            "(call $rename (call $root (i32.const {from})) {path} (call $root (i32.const {to})) {new}
                (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    pub(crate) fn write(mut self, text: &str, at: u64) -> Self {
        let text = self.text(text);
        let at = at.cast_signed();
        self.then(&format!(
            "(call $write (local.get $file) {text} (i64.const {at}) (i32.const 2048)) (call $note (i32.const 8))"
        ))
    }

    pub(crate) fn set_size(self, size: u64) -> Self {
        let size = size.cast_signed();
        self.then(&format!(
            "(call $set_size (local.get $file) (i64.const {size}) (i32.const 2048)) (call $note (i32.const 1))"
        ))
    }

    pub(crate) fn component(&self) -> Vec<u8> {
        self.component_declaring(guest::DECLARATION)
    }

    /// The same with a declaration of one's own.
    pub(crate) fn component_declaring(&self, declaration: &str) -> Vec<u8> {
        let module = format!(
            r#"(module {} {PRELUDE} {}
                (func (export "call") (param i32 i32 i32 i32 i32 i32) (result i32)
                    (local $file i32) (local $stream i32) (local $first i64) {}
                    (i32.store (i32.const 1024) (i32.const 1056))
                    (i32.store (i32.const 1028) (i32.const 1))
                    (i32.store (i32.const 1060) (i32.const 2080))
                    (i32.store (i32.const 1064) (i32.sub (global.get $end) (i32.const 2080)))
                    (i32.const 1024)))"#,
            self.imports, self.data, self.body
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
        guest::append_declaration(&mut component, declaration);
        component
    }

    /// What a call of it gives, in a place.
    pub(crate) fn run(&self, ground: &Ground) -> ToolResult {
        self.run_with(PluginHostConfig::default(), ground)
    }

    /// The same on another host.
    pub(crate) fn run_with(&self, config: PluginHostConfig, ground: &Ground) -> ToolResult {
        let host = PluginHost::new(config);
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
            model: None,
            shell: None,
        };
        plugin.call_blocking(&call, &CancelSignal::new())
    }

    /// Asserts what it answers.
    pub(crate) fn answers(&self, ground: &Ground, expected: &[char]) {
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
pub(crate) struct Ground {
    folder: tempfile::TempDir,
    more: Vec<&'static str>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read", "write", "outside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("note.txt"), name).unwrap();
        }
        fs::write(folder.path().join("write/closed.key"), "closed").unwrap();
        Self {
            folder,
            more: Vec::new(),
        }
    }

    /// With one more granted directory, which may be written: the next root.
    pub(crate) fn with(mut self, name: &'static str) -> Self {
        fs::create_dir_all(self.path(name)).unwrap();
        self.more.push(name);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn grant(&self) -> FsGrant {
        let root = |name: &str, access| GrantRoot {
            path: self.path(name).display().to_string(),
            access,
        };
        let mut roots = vec![root("read", Access::Read), root("write", Access::Write)];
        roots.extend(self.more.iter().map(|name| root(name, Access::Write)));
        FsGrant {
            cwd: self.path("read").display().to_string(),
            roots,
            deny: vec![DenyPattern {
                pattern: "**/*.key".to_owned(),
                access: Access::Read,
            }],
        }
    }
}
