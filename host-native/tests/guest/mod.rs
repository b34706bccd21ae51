//! Components for tests, written by hand in the text format: a guest that misbehaves on purpose cannot be written
//! in a language that helps against it.

#![allow(clippy::unwrap_used)]
#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A declaration with one tool `t`.
pub(crate) const DECLARATION: &str = r#"{
    "name": "test", "version": "0.1.0", "wit": "0.1.0",
    "tools": [{ "name": "t", "description": "A test.", "input_schema": { "type": "object" } }]
}"#;

/// What every guest begins with: an allocator, and `$text`, which makes a result of one text.
///
/// The result lies at 1024: content list, is-error at +8, structured at +12, observations at +24. Its one content
/// block lies at 1056.
const PRELUDE: &str = r#"
    (import "windlass:host/filesystem@0.1.0" "roots" (func $roots (param i32)))
    (import "windlass:host/filesystem@0.1.0" "[method]directory.read"
        (func $read (param i32 i32 i32 f64 i32 i32)))
    (import "windlass:host/filesystem@0.1.0" "[method]directory.write"
        (func $write (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "windlass:host/http@0.1.0" "send" (func $send (param i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "windlass:host/log@0.1.0" "log" (func $log (param i32 i32 i32)))
    (memory (export "memory") 2)
    (global $heap (mut i32) (i32.const 8192))
    (func $alloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
        (global.set $heap (i32.add (local.get $at) (local.get 3)))
        (loop $more
            (if (i32.gt_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536)))
                (then
                    (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then unreachable))
                    (br $more))))
        (local.get $at))
    (func $text (param $at i32) (param $len i32) (result i32)
        (i32.store (i32.const 1024) (i32.const 1056))
        (i32.store (i32.const 1028) (i32.const 1))
        (i32.store (i32.const 1060) (local.get $at))
        (i32.store (i32.const 1064) (local.get $len))
        (i32.const 1024))
"#;

/// A component with this declaration whose tools say the value of a setting (`windlass:host/config`), or `-`.
pub(crate) fn saying(declaration: &str, setting: &str) -> Vec<u8> {
    let imports = r#"(import "windlass:host/config@0.1.0" "get" (func $get (param i32 i32 i32)))"#;
    let fields = format!("(data (i32.const 3000) {setting:?})");
    let body = format!(
        r#"
        (call $get (i32.const 3000) (i32.const {}) (i32.const 2200))
        (if (result i32) (i32.load8_u (i32.const 2200))
            (then (call $text (i32.load (i32.const 2204)) (i32.load (i32.const 2208))))
            (else
                (i32.store8 (i32.const 3100) (i32.const 45))
                (call $text (i32.const 3100) (i32.const 1))))
        "#,
        setting.len()
    );
    declared_with(declaration, imports, &fields, &body)
}

/// A component whose `call` has this body. Parameters 2 and 3 are where the input is and its length.
pub(crate) fn component(body: &str) -> Vec<u8> {
    declared(DECLARATION, body)
}

/// The same with a declaration of one's own.
pub(crate) fn declared(declaration: &str, body: &str) -> Vec<u8> {
    declared_with(declaration, "", "", body)
}

/// The same with further imports, and further fields of the module.
pub(crate) fn declared_with(declaration: &str, imports: &str, fields: &str, body: &str) -> Vec<u8> {
    begun(PRELUDE, declaration, imports, fields, body)
}

/// The same where the allocator begins with this. Its parameter 3 is how much it is asked for.
pub(crate) fn allocating(declaration: &str, first: &str, fields: &str, body: &str) -> Vec<u8> {
    const LOCAL: &str = "(local $at i32)";
    let (before, after) = PRELUDE.split_once(LOCAL).unwrap();
    let prelude = format!("{before}{LOCAL} {first} {after}");
    begun(&prelude, declaration, "", fields, body)
}

/// A component that begins like this.
fn begun(prelude: &str, declaration: &str, imports: &str, fields: &str, body: &str) -> Vec<u8> {
    let module = format!(
        r#"(module {imports} {prelude} {fields}
            (func $again (param i32) (result i32) (i32.add (call $again (local.get 0)) (i32.const 1)))
            (table $t 1 funcref)
            (global $calls (mut i32) (i32.const 0))
            (func (export "call") (param i32 i32 i32 i32 i32 i32) (result i32) {body}))"#
    );
    encoded(&module, &["tools"], declaration)
}

/// What the functions of a component with hooks are made of, in the text format; those left out are not exported.
#[derive(Default)]
pub(crate) struct Hooked<'a> {
    /// As in [`component`].
    pub(crate) call: Option<&'a str>,
    /// Parameters 0 and 1 are where the hook's name is and its length, 2 and 3 the event, 4 and 5 the input.
    pub(crate) judge: Option<&'a str>,
    /// The same parameters.
    pub(crate) observe: Option<&'a str>,
    /// What lies at 4096, at most 4096 bytes.
    pub(crate) text: &'a str,
}

/// What hooks answer with. The answer lies at 1200: whether it is an error, then the judgement, or where the error is.
const ANSWERS: &str = r#"
    (func $judged (param $kind i32) (param $at i32) (param $len i32) (result i32)
        (i32.store8 (i32.const 1200) (i32.const 0))
        (i32.store8 (i32.const 1204) (local.get $kind))
        (i32.store (i32.const 1208) (local.get $at))
        (i32.store (i32.const 1212) (local.get $len))
        (i32.const 1200))
    (func $pass (result i32) (call $judged (i32.const 0) (i32.const 0) (i32.const 0)))
    (func $ask (param $at i32) (param $len i32) (result i32)
        (call $judged (i32.const 1) (local.get $at) (local.get $len)))
    (func $deny (param $at i32) (param $len i32) (result i32)
        (call $judged (i32.const 2) (local.get $at) (local.get $len)))
    (func $narrow (param $at i32) (param $len i32) (param $ms i32) (result i32)
        (i32.store (i32.const 1300) (local.get $at))
        (i32.store (i32.const 1304) (local.get $len))
        (i32.store8 (i32.const 1308) (i32.const 0))
        (i32.store8 (i32.const 1216) (i32.ne (local.get $ms) (i32.const 0)))
        (i32.store (i32.const 1220) (local.get $ms))
        (call $judged (i32.const 3) (i32.const 1300) (i32.ne (local.get $len) (i32.const 0))))
    (func $failed (param $at i32) (param $len i32) (result i32)
        (i32.store8 (i32.const 1200) (i32.const 1))
        (i32.store (i32.const 1204) (local.get $at))
        (i32.store (i32.const 1208) (local.get $len))
        (i32.const 1200))
    (func $seen (result i32) (i32.store8 (i32.const 1200) (i32.const 0)) (i32.const 1200))
"#;

/// A component with hooks.
pub(crate) fn hooked(declaration: &str, with: &Hooked<'_>) -> Vec<u8> {
    let call = "(param i32 i32 i32 i32 i32 i32)";
    let event = "(param i32 i32 i32 i32 i32 i32 i32 i32 i32)";
    let functions = [
        ("call", call, with.call, "tools"),
        ("judge", event, with.judge, "judge"),
        ("observe", event, with.observe, "observer"),
    ];
    let mut worlds = Vec::new();
    let mut exports = String::new();
    for (name, parameters, body, world) in functions {
        if let Some(body) = body {
            exports += &format!("(func (export \"{name}\") {parameters} (result i32) {body})");
            worlds.push(world);
        }
    }
    let text: String = with
        .text
        .bytes()
        .map(|byte| format!("\\{byte:02x}"))
        .collect();
    let data = format!("(data (i32.const 4096) \"{text}\")");
    encoded(
        &format!("(module {PRELUDE} {ANSWERS} {data} {exports})"),
        &worlds,
        declaration,
    )
}

/// The component of a module that is made for these worlds.
fn encoded(module: &str, worlds: &[&str], declaration: &str) -> Vec<u8> {
    let mut module = wat::parse_str(module).unwrap();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("wit");
    let mut resolve = Resolve::default();
    resolve.push_dir(wit.join("host")).unwrap();
    resolve.push_dir(wit.join("plugin")).unwrap();
    let includes = worlds
        .iter()
        .map(|world| format!("include windlass:plugin/{world}@0.1.0;"));
    let guest = format!(
        "package test:guest; world guest {{ {} }}",
        includes.collect::<String>()
    );
    let package = resolve.push_str("guest.wit", &guest).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    let mut encoder = ComponentEncoder::default();
    let encoder = encoder.module(&module).unwrap();
    let mut component = encoder.encode().unwrap();
    append_declaration(&mut component, declaration);
    component
}

/// Adds the custom section that lists the tools.
pub(crate) fn append_declaration(component: &mut Vec<u8>, declaration: &str) {
    const NAME: &[u8] = b"windlass:plugin";
    let mut content = leb128(NAME.len());
    content.extend_from_slice(NAME);
    content.extend_from_slice(declaration.as_bytes());
    component.push(0);
    component.extend(leb128(content.len()));
    component.extend(content);
}

fn leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}
