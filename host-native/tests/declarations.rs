//! Components that anybody could have made: what they declare is read, or refused, and nothing is run for it.
#![allow(clippy::unwrap_used)]

use std::thread;

use serde_json::Value;
use windlass::plugins::{LoadError, PluginHost, PluginHostConfig};
use windlass_builtin::DECLARATION_SECTION;
use windlass_fuzz::Mutator;

/// A number as WebAssembly writes it.
fn number(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn section(id: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(id);
    number(content.len(), out);
    out.extend_from_slice(content);
}

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A component that declares this and has nothing else.
fn declaring(declaration: &str) -> Vec<u8> {
    let mut content = Vec::new();
    number(DECLARATION_SECTION.len(), &mut content);
    content.extend_from_slice(DECLARATION_SECTION.as_bytes());
    content.extend_from_slice(declaration.as_bytes());
    let mut component = COMPONENT.to_vec();
    section(0, &content, &mut component);
    component
}

fn tools(tools: &str) -> Vec<u8> {
    let head = "\"name\":\"n\",\"version\":\"1\",\"wit\":\"0.1.0\"";
    declaring(&format!("{{{head},\"tools\":[{tools}]}}"))
}

fn tool(name: &str, schema: &str) -> String {
    format!("{{\"name\":\"{name}\",\"description\":\"d\",\"input_schema\":{schema}}}")
}

/// Loads it on a stack on which a recursion would show.
fn load(component: Vec<u8>) -> Result<(), LoadError> {
    let thread = thread::Builder::new().stack_size(1 << 20);
    let loading = thread.spawn(move || {
        let host = PluginHost::new(PluginHostConfig::default());
        let loaded = host.load("strange", component).map(|_| ());
        assert!(!host.has_started(), "nothing runs to read a declaration");
        loaded
    });
    loading.unwrap().join().unwrap()
}

#[track_caller]
fn refused(component: Vec<u8>, words: &str) {
    let error = load(component).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

/// Variants of components in the test command; `WINDLASS_ATTACK_ROUNDS` says of how many else.
const VARIANTS: u64 = 2_000;

#[test]
fn whatever_a_file_holds_it_is_loaded_or_refused() {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    // A thread is started for each: a twentieth of what is only opened.
    let variants = rounds.map_or(VARIANTS, |all| all.parse::<u64>().unwrap() / 20);
    let object = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let seeds = [
        tools(&tool("echo", object)),
        tools(&[tool("a", "{}"), tool("b", object)].join(",")),
        [
            &tools(&tool("echo", object))[..],
            b"\x01\x08\0asm\x01\0\0\0",
        ]
        .concat(),
        windlass_builtin::FILES.to_vec()[..4096].to_vec(),
    ];
    for number in 0..variants {
        let variant = Mutator::new(number).variant(&seeds);
        if let Err(error) = load(variant) {
            assert!(error.to_string().contains("strange"), "{error}");
        }
    }
    eprintln!("tried: {variants} variants of components");
}

#[test]
fn card_5_a_plugin_is_called_by_a_name_and_by_no_path() {
    let called = |name: &str, version: &str| {
        let tool = tool("echo", "{}");
        let (name, version) = (Value::from(name), Value::from(version));
        declaring(&format!(
            r#"{{"name":{name},"version":{version},"wit":"0.1.0","tools":[{tool}]}}"#
        ))
    };
    let long = "n".repeat(65);
    for name in [
        "", "../../x", "/etc/x", "a/b", ".", "..", "-rf", "A", "a b", "a.wasm", "ä", "con:",
        "a\\b", "a\0", &long,
    ] {
        refused(called(name, "1"), "small letters, digits and hyphens");
    }
    for version in ["", "1 2", "1\u{7f}", "ü", &long] {
        refused(called("n", version), "visible ASCII characters");
    }
}

#[test]
fn much_of_anything_is_refused_and_not_looked_at_again_and_again() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    for declaration in [
        deep.clone(),
        "[".repeat(1_000_000),
        format!("{{\"x\":{deep}}}"),
    ] {
        refused(declaring(&declaration), "cannot be read");
    }
    let many: Vec<String> = (0..50_000).map(|n| tool(&format!("t{n}"), "{}")).collect();
    refused(tools(&many.join(",")), "declares 50000 tools");
    refused(
        tools(&tool(&"t".repeat(1 << 20), "{}")),
        "is not made of 1 to 64",
    );

    // Sections that say they are longer than the file, very many of them, and components in components.
    let mut cut = tools("");
    section(0, b"", &mut cut);
    cut.extend([0, 0xff, 0xff, 0xff, 0xff, 0x0f]);
    assert!(load(cut).is_err());
    let mut many = COMPONENT.to_vec();
    (0..500_000).for_each(|_| section(0, b"\x01x", &mut many));
    assert!(load(many).is_err());
    let mut nested = COMPONENT.to_vec();
    for _ in 0..2_000 {
        let mut around = COMPONENT.to_vec();
        section(4, &nested, &mut around);
        nested = around;
    }
    let declared = [&tools(&tool("a", "{}"))[..], &nested[8..]].concat();
    assert!(load(declared).is_err());
}

#[test]
fn card_5_a_tool_whose_input_nobody_could_check_is_refused_when_it_is_loaded() {
    for (schema, words) in [
        (r#"{"type":5}"#, "the tool `a` is none: at #/type"),
        (r##"{"$ref":"#/$defs/b"}"##, "the tool `a` is none: at #"),
        (r#"{"pattern":"("}"#, "the tool `a` is none: at #/pattern"),
        ("[]", "the tool `a` is not a JSON object"),
    ] {
        refused(tools(&tool("a", schema)), words);
    }
}
