//! What the component declares about itself.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::tool::{Access, RetryClass, ToolDefinition};

#[derive(Deserialize)]
struct Declaration {
    name: String,
    version: String,
    wit: String,
    tools: Vec<ToolDefinition>,
}

fn declaration() -> Declaration {
    serde_json::from_str(include_str!("../../plugin.json")).unwrap()
}

fn tool(name: &str) -> ToolDefinition {
    let tools = declaration().tools;
    tools.into_iter().find(|tool| tool.name == name).unwrap()
}

#[test]
fn the_declaration_has_the_version_of_the_crate_and_of_the_interfaces() {
    let declaration = declaration();
    assert_eq!(declaration.name, "files");
    assert_eq!(declaration.version, env!("CARGO_PKG_VERSION"));
    assert!(
        include_str!("../../../../wit/plugin/plugin.wit")
            .contains(&format!("package windlass:plugin@{};", declaration.wit))
    );
}

#[test]
fn the_tools_say_what_they_touch_and_whether_they_may_be_run_again() {
    for (name, field, access, default_cwd, read_only) in [
        ("Read", "file_path", Access::Read, false, true),
        ("Write", "file_path", Access::Write, false, false),
        ("Edit", "file_path", Access::Write, false, false),
        ("NotebookEdit", "notebook_path", Access::Write, false, false),
        ("Glob", "path", Access::Read, true, true),
        ("Grep", "path", Access::Read, true, true),
    ] {
        let tool = tool(name);
        assert_eq!(tool.paths.len(), 1, "{name}");
        assert_eq!(tool.paths[0].field, field, "{name}");
        assert_eq!(tool.paths[0].access, access, "{name}");
        assert_eq!(tool.paths[0].default_cwd, default_cwd, "{name}");
        assert_eq!(tool.paths[0].read_first, !read_only, "{name}");
        assert_eq!(tool.annotations.read_only, read_only, "{name}");
        assert_eq!(tool.retry == RetryClass::RunAgain, read_only, "{name}");
    }
}

#[test]
fn tool_1_tool_2_tool_3_tool_4_tool_5_inputs_have_the_published_fields() {
    for (name, required, optional) in [
        (
            "Read",
            json!(["file_path"]),
            vec!["limit", "offset", "pages"],
        ),
        ("Write", json!(["file_path", "content"]), vec![]),
        (
            "Edit",
            json!(["file_path", "old_string", "new_string"]),
            vec!["replace_all"],
        ),
        (
            "NotebookEdit",
            json!(["notebook_path", "new_source"]),
            vec!["cell_id", "cell_type", "edit_mode"],
        ),
        ("Glob", json!(["pattern"]), vec!["path"]),
        (
            "Grep",
            json!(["pattern"]),
            vec![
                "-A",
                "-B",
                "-C",
                "-i",
                "-n",
                "context",
                "glob",
                "head_limit",
                "multiline",
                "offset",
                "output_mode",
                "path",
                "type",
            ],
        ),
    ] {
        let schema: Value = tool(name).input_schema.decode().unwrap();
        assert_eq!(schema["required"], required, "{name}");
        let mut expected: Vec<String> = optional.into_iter().map(str::to_owned).collect();
        for field in required.as_array().unwrap() {
            expected.push(field.as_str().unwrap().to_owned());
        }
        expected.sort();
        let mut fields: Vec<String> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        fields.sort();
        assert_eq!(fields, expected, "{name}");
    }
}
