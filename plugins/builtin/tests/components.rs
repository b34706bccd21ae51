//! The components as they are carried into the hosts.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use serde::Deserialize;
use windlass_builtin::{COMPONENTS, FILES, declaration, section};
use windlass_core::tool::ToolDefinition;

#[derive(Deserialize)]
struct Declaration {
    name: String,
    tools: Vec<ToolDefinition>,
}

#[test]
fn every_component_declares_its_tools_in_the_form_of_the_core() {
    for component in COMPONENTS {
        let text = declaration(component.bytes).unwrap();
        let declaration: Declaration = serde_json::from_str(text).unwrap();
        assert_eq!(declaration.name, component.name);
        for tool in declaration.tools {
            assert!(tool.input_schema.is_object(), "{}", tool.name);
            assert!(!tool.description.is_empty(), "{}", tool.name);
        }
    }
}

#[test]
fn tool_1_tool_2_tool_3_tool_4_tool_5_come_with_the_program() {
    let declaration: Declaration = serde_json::from_str(declaration(FILES).unwrap()).unwrap();
    let names: Vec<&str> = declaration
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep"]
    );
}

#[test]
fn the_declaration_is_there_once_and_not_inside_as_well() {
    let text = declaration(FILES).unwrap().as_bytes();
    let copies = FILES
        .windows(text.len())
        .filter(|window| window == &text)
        .count();
    assert_eq!(copies, 1);
    let last = section::sections(FILES).unwrap().last().unwrap().unwrap();
    assert_eq!(last.name, Some(windlass_builtin::DECLARATION_SECTION));
}
