//! What the authors of plugins need from the library: the declaration of a component that was just built.

use std::path::Path;

use windlass::plugins::{AuthorError, Inspection, with_declaration};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::guest;

/// A component of the world `windlass:plugin/authored-tools`: `call` traps, `declaration` has this body.
fn built(declaration: &str) -> Vec<u8> {
    let module = format!(
        r#"(module
            (memory (export "memory") 1)
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 4096))
            (func (export "call") (param i32 i32 i32 i32 i32 i32) (result i32) unreachable)
            (func (export "declaration") (result i32) {declaration}))"#
    );
    let mut module = wat::parse_str(module).unwrap();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("wit");
    let mut resolve = Resolve::default();
    resolve.push_dir(wit.join("host")).unwrap();
    let (package, _) = resolve.push_dir(wit.join("plugin")).unwrap();
    let world = resolve
        .select_world(&[package], Some("authored-tools"))
        .unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    let mut encoder = ComponentEncoder::default();
    let encoder = encoder.module(&module).unwrap();
    encoder.encode().unwrap()
}

/// A component that declares this text.
fn declares(text: &str) -> Vec<u8> {
    let stores: String = (0_u32..)
        .zip(text.bytes())
        .map(|(at, byte)| format!("(i32.store8 (i32.const {}) (i32.const {byte}))", 1024 + at))
        .collect();
    built(&format!(
        "{stores}
        (i32.store (i32.const 16) (i32.const 1024))
        (i32.store (i32.const 20) (i32.const {}))
        (i32.const 16)",
        text.len()
    ))
}

#[test]
fn card_5_a_built_component_is_asked_for_its_declaration_once_and_carries_it_then() {
    let component = declares(guest::DECLARATION);
    assert!(Inspection::of(&component).is_err(), "nothing declared yet");
    let declared = with_declaration(&component).unwrap();
    let read = Inspection::of(&declared).unwrap();
    assert_eq!(read.declaration.tools[0].name, "t");
    assert!(declared.starts_with(&component), "the code is as it was");

    // What was declared before gives way.
    let mut other = component;
    guest::append_declaration(&mut other, "{}");
    assert_eq!(with_declaration(&other).unwrap(), declared);
    assert_eq!(with_declaration(&declared).unwrap(), declared);
}

#[test]
fn card_5_a_component_that_declares_nothing_usable_is_refused_when_it_is_built() {
    let cases: [(Vec<u8>, &str); 5] = [
        (b"#!/bin/sh".to_vec(), "not WebAssembly"),
        (
            guest::component("unreachable"),
            "does not export `declaration",
        ),
        (built("unreachable"), "failed when it was asked"),
        (declares("{}"), "would not be loaded"),
        (
            declares(&guest::DECLARATION.replace("\"t\"", "\"Bash\"")),
            "another name",
        ),
    ];
    for (component, expected) in cases {
        let error: AuthorError = with_declaration(&component).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn card_5_a_component_that_never_says_what_it_declares_ends() {
    let error = with_declaration(&built(
        "(loop $on (drop (memory.grow (i32.const 4096))) (br $on)) unreachable",
    ));
    assert!(matches!(error, Err(AuthorError::Failed(_))), "{error:?}");
}
