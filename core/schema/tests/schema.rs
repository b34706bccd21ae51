//! Values against schemas: what a model is told, and what is no schema. That values fit exactly when another
//! implementation says so is shown in `tests/tests/schema_oracle.rs`, where such a large dependency hurts nobody.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use windlass_schema::Schema;

fn read(schema: &Value) -> Schema {
    Schema::read(&schema.to_string()).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

fn faults(schema: &Value, value: &Value) -> String {
    match read(schema).validate(&value.to_string()) {
        Ok(()) => String::new(),
        Err(faults) => faults.to_string(),
    }
}

#[test]
fn loop_18_a_model_reads_every_fault_with_its_place_and_what_would_be_right() {
    let object = json!({
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"type": "integer"}, "minItems": 1}, "size": {"enum": ["s", "m"]}},
        "required": ["list"],
        "additionalProperties": false,
    });
    let shapes = json!({"properties": {"shape": {"anyOf": [
        {"type": "null"},
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
        {"type": "object", "properties": {"kind": {"const": "rect"}, "w": {"type": "number"}}, "required": ["kind", "w"]}
    ]}}});
    for (schema, value, expected) in [
        (
            &object,
            json!([]),
            "the input must be of type object, not array",
        ),
        (
            &object,
            json!({}),
            "the input lacks the required field `list`",
        ),
        (
            &object,
            json!({"list": []}),
            "`list` must have at least 1 items, and has 0",
        ),
        (
            &object,
            json!({"list": [1, "2", 3.5], "size": "xl", "lost": 2, "other": 3}),
            "`list[1]` must be of type integer, not string; `list[2]` must be of type integer, not number; `size` must be one of \"s\", \"m\"; the input has no place for the fields `lost`, `other` (its fields are `list`, `size`)",
        ),
        (
            &object,
            json!({"list": "[1]"}),
            "`list` must be of type array, not a string that holds the JSON text of one: write the array itself",
        ),
        // Which form was meant is plain from its `kind`.
        (
            &shapes,
            json!({"shape": {"kind": "rect", "w": "3"}}),
            "`shape.w` must be of type number, not string",
        ),
        (
            &shapes,
            json!({"shape": {"kind": "oval"}}),
            "`shape` fits none of the allowed forms: `shape` must be of type null, not object – or: `shape` lacks the required field `r` – or: `shape` lacks the required field `w`",
        ),
        (
            &json!({"oneOf": [{"minimum": 1}, {"type": "string"}, {"minimum": 2}]}),
            json!(3),
            "the input must fit exactly one of the allowed forms, and fits numbers 1 and 3",
        ),
        (
            &json!({"not": {"required": ["a"]}}),
            json!({"a": 1}),
            r#"the input must not be of the form {"required":["a"]}"#,
        ),
        (
            &json!({"pattern": "^x$"}),
            json!("y"),
            "the input must match the pattern ^x$",
        ),
        (
            &json!({"format": "date"}),
            json!("y"),
            "the input must be a date such as 2026-01-31",
        ),
        (&json!({"const": 3}), json!(4), "the input must be 3"),
        (
            &json!({"minimum": 3}),
            json!(2),
            "the input must be at least 3",
        ),
        (
            &json!({"exclusiveMaximum": 3}),
            json!(3),
            "the input must be less than 3",
        ),
        (
            &json!({"multipleOf": 0.5}),
            json!(0.7),
            "the input must be a multiple of 0.5",
        ),
        (
            &json!({"uniqueItems": true}),
            json!([1, 2, 1.0]),
            "the input must not hold an item twice; item 2 is a repetition",
        ),
        (
            &json!({"contains": {"const": 1}}),
            json!([2]),
            r#"the input must hold at least 1 items of the form {"const":1}"#,
        ),
        (
            &json!({"propertyNames": {"maxLength": 1}}),
            json!({"ab": 1}),
            "the input has the field `ab`, whose name must have at most 1 characters, and has 2",
        ),
        (
            &json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1}),
            "the input has the field `a` and so needs `b`",
        ),
        (&json!(false), json!(1), "the input is not allowed"),
    ] {
        assert_eq!(faults(schema, &value), expected);
    }
}

#[test]
fn what_a_model_reads_is_bounded() {
    let many = json!({"items": {"type": "string"}});
    let value: Vec<u32> = (0..1_000).collect();
    let text = faults(&many, &json!(value));
    assert!(
        text.ends_with("; and 990 more") && text.len() < 1_000,
        "{text}"
    );
    let choices: Vec<String> = (0..1_000)
        .map(|n| format!("{n}{}", "x".repeat(500)))
        .collect();
    let text = faults(&json!({"enum": choices}), &json!(1));
    assert!(text.len() < 4_000, "{}", text.len());
}

/// Each level has the fault of the one below it twice.
#[test]
fn what_a_model_reads_of_forms_of_forms_is_bounded() {
    let levels = (0..12).map(|level| {
        let below = json!({"$ref": format!("#/$defs/f{}", level + 1)});
        (format!("f{level}"), json!({"anyOf": [below, below]}))
    });
    let mut defs: serde_json::Map<String, Value> = levels.collect();
    defs.insert("f12".to_owned(), json!({"required": ["missing"]}));
    let told = faults(&json!({"$defs": defs, "$ref": "#/$defs/f0"}), &json!({}));
    assert!(told.contains("fits none of the allowed forms"), "{told}");
    assert!(told.len() < 2_000, "{} bytes", told.len());
}

#[test]
fn a_malformed_schema_is_refused_with_its_place() {
    for (schema, place, reason) in [
        (json!([]), "#", "an object, true or false"),
        (
            json!({"type": "of tomorrow"}),
            "#/type",
            "one or several of object",
        ),
        (json!({"type": []}), "#/type", "one or several of object"),
        (
            json!({"properties": {"a": {"type": "text"}}}),
            "#/properties/a/type",
            "not \"text\"",
        ),
        (
            json!({"properties": []}),
            "#/properties",
            "an object whose values are schemas",
        ),
        (
            json!({"properties": {"a/b": 3}}),
            "#/properties/a~1b",
            "not 3",
        ),
        (
            json!({"items": {"minimum": "3"}}),
            "#/items/minimum",
            "must be a number",
        ),
        (
            json!({"exclusiveMinimum": true}),
            "#/exclusiveMinimum",
            "must be a number",
        ),
        (json!({"minLength": -1}), "#/minLength", "a whole number"),
        (json!({"multipleOf": 0}), "#/multipleOf", "greater than 0"),
        (
            json!({"required": true}),
            "#/required",
            "a list of field names",
        ),
        (
            json!({"dependentRequired": {"a": "b"}}),
            "#/dependentRequired",
            "lists of field names",
        ),
        (json!({"enum": 1}), "#/enum", "a list of values"),
        (json!({"anyOf": []}), "#/anyOf", "at least one schema"),
        (
            json!({"anyOf": [{"not": 1}]}),
            "#/anyOf/0/not",
            "an object, true or false",
        ),
        (json!({"uniqueItems": 1}), "#/uniqueItems", "true or false"),
        (json!({"pattern": "(a"}), "#/pattern", "not closed"),
        (
            json!({"patternProperties": {"[": {}}}),
            "#/patternProperties/[",
            "not closed",
        ),
        (json!({"$ref": "#/nowhere"}), "#/$ref", "leads to nothing"),
        (
            json!({"$ref": "https://example.org/other.json"}),
            "#/$ref",
            "other documents are not followed",
        ),
        (json!({"$ref": 3}), "#/$ref", "a text"),
        (json!({"$ref": "#"}), "#", "without end"),
        (
            json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
            "#",
            "without end",
        ),
        (
            json!({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
            "#/$defs/",
            "without end",
        ),
    ] {
        let error = Schema::read(&schema.to_string()).expect_err(&schema.to_string());
        assert!(error.to_string().contains(reason), "{schema}: {error}");
        assert!(error.place.starts_with(place), "{schema}: {error}");
    }
}

#[test]
fn values_and_schemas_that_grow_without_bound_come_to_an_end() {
    let tree = json!({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}, false], "type": "array"});
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert_ne!(faults(&tree, &deep), "");
}

fn fits(schema: &str, value: &str) -> bool {
    Schema::read(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
        .validate(value)
        .is_ok()
}

#[test]
fn numbers_are_exact_at_every_size() {
    for (schema, value, is) in [
        (r#"{"multipleOf": 0.1}"#, "0.3", true),
        (r#"{"multipleOf": 0.5}"#, "1e308", true),
        (r#"{"multipleOf": 3}"#, "1e308", false),
        (r#"{"multipleOf": 1e308}"#, "1e308", true),
        (r#"{"multipleOf": 1e308}"#, "1e307", false),
        (r#"{"multipleOf": 1e-300}"#, "1e308", true),
        (r#"{"multipleOf": 2}"#, "9007199254740993", false),
        (
            r#"{"maximum": 9007199254740992}"#,
            "9007199254740993",
            false,
        ),
        (
            r#"{"exclusiveMinimum": 123456789012345678901234567890}"#,
            "123456789012345678901234567891",
            true,
        ),
        (r#"{"const": 1.0}"#, "1", true),
        (r#"{"const": 0}"#, "-0.0", true),
        (
            r#"{"enum": [18446744073709551616]}"#,
            "18446744073709551617",
            false,
        ),
        (r#"{"type": "integer"}"#, "1.0", true),
        (r#"{"type": "integer"}"#, "1e300", true),
        (r#"{"type": "integer"}"#, "9007199254740993.5", false),
        (
            r#"{"uniqueItems": true}"#,
            "[9007199254740992, 9007199254740993]",
            true,
        ),
        (
            r#"{"uniqueItems": true}"#,
            r#"[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]"#,
            false,
        ),
    ] {
        assert_eq!(fits(schema, value), is, "{schema} on {value}");
    }
    let error = Schema::read(r#"{"multipleOf": 12345678901234567890123}"#).unwrap_err();
    assert!(error.to_string().contains("at most 19 digits"), "{error}");
    let faults = Schema::read(r#"{"minimum": 1.50}"#)
        .unwrap()
        .validate("1")
        .unwrap_err();
    assert_eq!(faults.to_string(), "the input must be at least 1.50");
}

#[test]
fn formats_are_checked_unless_they_are_to_be_remarks() {
    let schema = Schema::read(r#"{"format": "date"}"#).unwrap();
    assert!(schema.validate("\"x\"").is_err());
    assert!(schema.without_formats().validate("\"x\"").is_ok());
    let old =
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "contentEncoding": "base64"}"#;
    assert!(fits(old, "\"YQ==\"") && !fits(old, "\"a%\""));
    assert!(fits(r#"{"contentEncoding": "base64"}"#, "\"a%\""));
    // What cannot be matched here is a regular expression all the same.
    assert!(fits(r#"{"format": "regex"}"#, r#""(?<n>a)\\k<n>\\1""#));
    assert!(!fits(r#"{"format": "regex"}"#, r#""(?P<n>a)""#));
}

#[test]
fn what_was_not_checked_to_its_end_is_refused_under_not_as_well() {
    let long = "a".repeat(20_000);
    let text = format!("\"{long}\"");
    for schema in [
        r#"{"not": {"pattern": "(?=(a*)*b)"}}"#,
        r#"{"if": {"pattern": "(?=(a*)*b)"}, "else": true}"#,
    ] {
        assert!(!fits(schema, &text), "{schema}");
    }
    let circle = r##"{"not": {"dependentSchemas": {"a": {"$ref": "#"}}}}"##;
    assert!(!fits(circle, r#"{"a": 1}"#));
}

#[test]
fn a_value_that_is_nested_too_deep_is_refused_before_the_stack_ends() {
    // Each array takes two steps: the schema of its elements, and what that refers to.
    let lists = json!({"type": "array", "items": {"$ref": "#"}});
    let nested = |depth: usize| {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        read(&lists).validate(&text)
    };
    nested(60).unwrap();
    let error = nested(70).unwrap_err().to_string();
    assert!(error.contains("nested too deep"), "{error}");
}
