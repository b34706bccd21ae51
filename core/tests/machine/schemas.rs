//! Tool inputs against schemas, and path patterns against another implementation of them.

use globset::GlobBuilder;
use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::{
    permission::{CallFacts, Mode, PathFact, Rule, Rules, Verdict, judge},
    schema::validate,
    spec::Environment,
    tool::Access,
};

use crate::harness::{file_tool, raw};

fn fault(schema: &Value, input: &Value) -> Option<String> {
    validate(&raw(schema), &raw(input))
        .err()
        .map(|fault| fault.to_string())
}

#[test]
fn inputs_that_fit_pass() {
    for (schema, input) in [
        (json!({}), json!(7)),
        (json!(true), json!(null)),
        (json!({"type": "integer"}), json!(5.0)),
        (json!({"type": ["string", "null"]}), json!(null)),
        (json!({"enum": ["a", 1, null]}), json!(1)),
        (json!({"minLength": 2, "maxLength": 2}), json!("é日")),
        (json!({"items": {"type": "number"}}), json!([1, 2.5])),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
            json!(["a", 1]),
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({"x": "y"}),
        ),
        (
            json!({"patternProperties": {"^x-": {}}, "additionalProperties": false}),
            json!({"x-y": 1}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}),
            json!(4),
        ),
        (
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"b": 1}),
        ),
        (
            json!({"$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "$ref": "#/$defs/n"}),
            json!([[[]], []]),
        ),
        // What this validator does not know, it lets pass.
        (json!({"format": "date", "pattern": "^x$"}), json!("y")),
        (json!({"type": "of tomorrow"}), json!(1)),
        (json!({"$ref": "#/nowhere"}), json!(1)),
        (json!({"items": [{"type": "string"}]}), json!([1])),
    ] {
        assert_eq!(fault(&schema, &input), None, "{schema} {input}");
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused_with_place_and_reason() {
    let object = json!({
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"type": "integer"}, "minItems": 1}},
        "required": ["list"],
        "additionalProperties": false,
    });
    for (schema, input, expected) in [
        (
            object.clone(),
            json!([]),
            "the input must be of type object, not array",
        ),
        (
            object.clone(),
            json!({}),
            "the input lacks the required field `list`",
        ),
        (
            object.clone(),
            json!({"list": []}),
            "`list` must have at least 1 items",
        ),
        (
            object.clone(),
            json!({"list": [1, "2"]}),
            "`list[1]` must be of type integer, not string",
        ),
        (
            object,
            json!({"list": [1], "lost": 2}),
            "`lost` is not a field of this tool's input",
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            "the input must be of type integer, not number",
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!("c"),
            r#"the input must be one of "a", "b""#,
        ),
        (json!({"const": 3}), json!(4), "the input must be 3"),
        (
            json!({"minimum": 3}),
            json!(2),
            "the input must be at least 3",
        ),
        (
            json!({"exclusiveMaximum": 3}),
            json!(3),
            "the input must be less than 3",
        ),
        (
            json!({"maxLength": 1}),
            json!("ab"),
            "the input must have at most 1 characters",
        ),
        (
            json!({"anyOf": [{"type": "string"}]}),
            json!(1),
            "the input fits none of the allowed forms",
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
            json!(3),
            "the input must fit exactly one of the allowed forms",
        ),
        (
            json!({"prefixItems": [{"type": "string"}]}),
            json!([1]),
            "`[0]` must be of type string, not number",
        ),
        (json!(false), json!(1), "the input is not allowed"),
    ] {
        assert_eq!(fault(&schema, &input).as_deref(), Some(expected));
    }
}

#[test]
fn a_schema_that_leads_in_circles_ends() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}),
        json!({"oneOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}),
        json!({"allOf": [{"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, {"$ref": "#"}]}),
    ] {
        assert!(fault(&schema, &json!({})).is_some(), "{schema}");
    }
}

fn is_denied(pattern: &str, path: &str) -> bool {
    let paths = [PathFact {
        path: path.into(),
        access: Access::Read,
    }];
    let rules = Rules {
        deny: vec![Rule::parse(&format!("Read(/{pattern})")).unwrap()],
        ..Rules::default()
    };
    let tool = file_tool("Read", Access::Read);
    let call = CallFacts {
        tool: &tool,
        command: None,
        paths: &paths,
    };
    let environment = Environment::default();
    let mode = Mode::BypassPermissions;
    judge(&rules, &[], mode, false, &environment, call).verdict == Verdict::Deny
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 100_000, ..ProptestConfig::with_cases(3_000) })]

    /// The same pattern closes a file for the judge here and for the host's resolver there, which matches
    /// with globset. (Negated classes are left out: there they match a slash too, and so close more.)
    #[test]
    fn path_patterns_mean_what_they_mean_to_globset(
        pattern in prop::collection::vec(
            prop_oneof![
                Just("a"), Just("b"), Just("*"), Just("?"), Just("[ab]"), Just("[a-c]"),
                Just("\\*"), Just("é"), Just("/"), Just("/**/"), Just("/*"), Just("/**"),
            ],
            1..7,
        ),
        path in prop::collection::vec(
            prop_oneof![
                Just("a"), Just("b"), Just("c"), Just("*"), Just("é"), Just("/"), Just("/a"), Just("/b"),
            ],
            1..9,
        ),
    ) {
        let clean = |parts: Vec<&str>| {
            let mut text = format!("/{}", parts.concat());
            while text.contains("//") {
                text = text.replace("//", "/");
            }
            text.trim_end_matches('/').to_owned()
        };
        let (pattern, path) = (clean(pattern), clean(path));
        // A `**` inside of a segment is spelled differently there.
        let inside = pattern.split('/').any(|segment| segment.contains("**") && segment != "**");
        prop_assume!(!pattern.is_empty() && !path.is_empty() && !inside);
        let glob = GlobBuilder::new(&pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .unwrap()
            .compile_matcher();
        let expected = std::path::Path::new(&path).ancestors().any(|above| glob.is_match(above));
        prop_assert_eq!(is_denied(&pattern, &path), expected, "{} on {}", pattern, path);
    }
}
