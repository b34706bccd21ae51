//! What `#[tool]` and `#[input]` make of functions and structs.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::{Value, json};
use windlass_plugin::{
    Declaration, HookEvent, Judge, Judgement, Observer, ReadPath, Structured, Tool, ToolCall,
    ToolError, ToolResult, Workspace, WritePath, event::PreToolUse, input, judge, observer, tool,
};

/// What is compared.
#[input]
struct Compare {
    /// The older one.
    left: ReadPath,
    /// Where the report goes;
    /// beside the files if left out.
    report: Option<WritePath>,
    /// How.
    #[serde(default)]
    mode: Mode,
    /// How many lines are shown.
    #[schemars(range(min = 1, max = 100))]
    lines: u32,
}

#[input]
#[derive(Default)]
enum Mode {
    /// Letter by letter.
    #[default]
    Exact,
    /// Without spaces.
    Loose,
}

/// Compares two files.
///
/// The second one is the newer.
#[tool(read_only, retry = "run_again", timeout_ms = 500)]
fn compare_files(input: Compare, call: &ToolCall, _workspace: &Workspace) -> String {
    let Compare {
        left,
        report,
        mode,
        lines,
    } = input;
    format!("{} {} {report:?} {mode:?} {lines}", call.name, &*left)
}

#[input]
struct Nothing {}

/// Fails.
#[tool(name = "Broken", destructive)]
fn fails(_input: Nothing) -> Result<Structured<u8>, ToolError> {
    Err("It is broken.".to_owned().into())
}

/// Nothing is written outside of `src`.
#[judge(on = "PreToolUse", matcher = "Write|Edit", timeout_ms = 900)]
fn only_src(call: PreToolUse) -> Judgement {
    match call
        .text("file_path")
        .is_some_and(|path| path.contains("/src/"))
    {
        true => Judgement::Pass,
        false => Judgement::deny("only in src"),
    }
}

#[observer(on = "Stop", name = "Last")]
fn sees_the_end(event: &HookEvent) -> Result<(), String> {
    Err(format!("{} is seen", event.event))
}

windlass_plugin::plugin! {
    tools: [compare_files, fails],
    judges: [only_src],
    observers: [sees_the_end],
    grants: { "filesystem": "read" },
    instance: "session",
}

#[test]
fn card_5_a_declaration_says_that_an_instance_is_kept_only_where_it_is() {
    let declaration = Declaration::new("cache", "1.0.0", json!({}), json!({}));
    let text = |declaration: Declaration| -> Value {
        serde_json::from_str(&declaration.into_json()).unwrap()
    };
    assert!(text(declaration.clone()).get("instance").is_none());
    assert_eq!(text(declaration.instance("session"))["instance"], "session");
}

#[test]
fn hook_5_functions_are_hooks_and_declare_themselves() {
    let declaration = Declaration::new("policy", "1.0.0", json!({}), json!({}));
    let declaration = declaration.hook(only_src::FACTS).hook(sees_the_end::FACTS);
    let declared: Value = serde_json::from_str(&declaration.into_json()).unwrap();
    assert_eq!(
        declared["hooks"],
        json!([
            {"name": "OnlySrc", "kind": "judge", "event": "PreToolUse", "matcher": "Write|Edit", "timeout_ms": 900},
            {"name": "Last", "kind": "observer", "event": "Stop"},
        ])
    );
    let event = |path: &str| HookEvent {
        hook: "OnlySrc".to_owned(),
        event: "PreToolUse".to_owned(),
        input: json!({"tool_name": "Write", "tool_input": {"file_path": path}}).to_string(),
        tool_use_id: None,
    };
    assert!(matches!(
        only_src::judge(&event("/work/src/a")),
        Ok(Judgement::Pass)
    ));
    assert!(matches!(
        only_src::judge(&event("/work/a")),
        Ok(Judgement::Deny(_))
    ));
    let nonsense = HookEvent {
        input: "{}".to_owned(),
        ..event("")
    };
    assert!(only_src::judge(&nonsense).is_err());
    assert_eq!(
        sees_the_end::observe(&event("")).unwrap_err().to_string(),
        "PreToolUse is seen"
    );
}

fn declared() -> Value {
    let limits = json!({"memory_bytes": 1});
    let declaration = Declaration::new("compare", "1.2.3", json!({"filesystem": "read"}), limits);
    let declaration = declaration.tool::<compare_files>().tool::<fails>();
    serde_json::from_str(&declaration.into_json()).unwrap()
}

#[test]
fn card_5_a_declaration_is_made_of_functions_and_their_comments() {
    let declared = declared();
    assert_eq!(declared["name"], "compare");
    assert_eq!(declared["version"], "1.2.3");
    assert_eq!(declared["grants"], json!({"filesystem": "read"}));
    assert_eq!(declared["limits"], json!({"memory_bytes": 1}));
    let tool = &declared["tools"][0];
    assert_eq!(tool["name"], "CompareFiles");
    assert_eq!(
        tool["description"],
        "Compares two files.\n\nThe second one is the newer."
    );
    assert_eq!(tool["annotations"]["readOnly"], true);
    assert_eq!(tool["retry"], "run_again");
    assert_eq!(tool["timeout_ms"], 500);
    assert_eq!(
        tool["paths"],
        json!([
            {"field": "left", "access": "read", "default_cwd": false},
            {"field": "report", "access": "write", "default_cwd": true},
        ])
    );
    let broken = &declared["tools"][1];
    assert_eq!(broken["name"], "Broken");
    assert_eq!(broken["annotations"]["destructive"], true);
    assert_eq!(broken["retry"], "never");
    assert!(broken.get("timeout_ms").is_none());
}

#[test]
fn card_5_the_schema_of_an_input_says_what_its_fields_are_for() {
    let schema = &declared()["tools"][0]["input_schema"];
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["left", "lines"]));
    let fields = &schema["properties"];
    assert_eq!(
        fields["left"],
        json!({"type": "string", "description": "The older one."})
    );
    let report = fields["report"]["description"].as_str().unwrap();
    assert_eq!(
        report,
        "Where the report goes;\nbeside the files if left out."
    );
    assert_eq!(fields["lines"]["maximum"], 100);
    let mode = fields["mode"].to_string();
    assert!(
        mode.contains("Loose") && mode.contains("Without spaces."),
        "{mode}"
    );
    let text = schema.to_string();
    for left in ["$ref", "$defs", "$schema", "x-windlass"] {
        assert!(!text.contains(left), "{left}: {text}");
    }
}

fn call(name: &str, input: &Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        input: input.to_string(),
        observed: Vec::new(),
    }
}

fn text(result: &ToolResult) -> String {
    format!("{:?}", result.content)
}

#[test]
fn card_5_a_function_answers_the_calls_of_its_tool() {
    let error = fails::call(&call("Broken", &json!({}))).unwrap_err();
    assert_eq!(error.to_string(), "It is broken.");
    let error = fails::call(&call("Broken", &json!({"more": 1}))).unwrap_err();
    assert!(
        error.to_string().contains("unknown field `more`"),
        "{error}"
    );
    let written = windlass_plugin::IntoToolResult::into_tool_result(Structured([1, 2])).unwrap();
    assert_eq!(written.structured.as_deref(), Some("[1,2]"));
    assert!(text(&written).contains("[1,2]"));
}
