//! Where references lead, and which draft a schema is of.
#![allow(clippy::unwrap_used)]

use windlass_schema::{Draft, Schema};

fn fits(schema: &str, value: &str) -> bool {
    Schema::read(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
        .validate(value)
        .is_ok()
}

#[test]
fn beside_a_reference_nothing_counts_up_to_draft_07_and_everything_later() {
    let schema = |meta: &str| {
        format!(
            r#"{{
                "$schema": "{meta}",
                "$id": "https://example.org/base/root.json",
                "definitions": {{
                    "text": {{"$id": "https://example.org/other/item.json", "type": "string"}},
                    "number": {{"$id": "item.json", "type": "number"}}
                }},
                "allOf": [{{"$id": "https://example.org/other/", "$ref": "item.json", "maximum": 1}}]
            }}"#
        )
    };
    for (meta, value, is) in [
        ("http://json-schema.org/draft-07/schema#", "5", true),
        ("http://json-schema.org/draft-07/schema#", "\"a\"", false),
        ("https://json-schema.org/draft/2020-12/schema", "5", false),
        (
            "https://json-schema.org/draft/2020-12/schema",
            "\"a\"",
            true,
        ),
    ] {
        assert_eq!(fits(&schema(meta), value), is, "{meta} on {value}");
    }
    // Who reads can say what a schema is that says nothing.
    let silent = r##"{"definitions": {"a": true}, "$ref": "#/definitions/a", "maximum": 1}"##;
    let read = |draft| {
        Schema::read_as(silent, draft)
            .unwrap()
            .validate("5")
            .is_ok()
    };
    assert!(read(Draft::Draft7) && !read(Draft::Draft2020));
    assert!(!fits(silent, "5"));
}

#[test]
fn a_dialect_that_is_not_known_is_refused() {
    for known in [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema#",
    ] {
        assert!(Schema::read(&format!(r#"{{"$schema": "{known}"}}"#)).is_ok());
    }
    for unknown in [
        "https://example.org/our-own",
        "http://json-schema.org/draft-03/schema#",
        "",
    ] {
        let error = Schema::read(&format!(r#"{{"$schema": "{unknown}"}}"#)).unwrap_err();
        assert_eq!(error.place, "#/$schema");
        assert!(error.to_string().contains("is not known"), "{error}");
    }
    let within = r#"{"$defs": {"a": {"$id": "https://example.org/a", "$schema": "http://json-schema.org/draft-07/schema#"}}}"#;
    let error = Schema::read(within).unwrap_err();
    assert_eq!(error.place, "#/$defs/a/$schema");
    // Without an address of its own it is the schema around it that counts.
    assert!(fits(
        r#"{"items": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}}"#,
        "[\"a\"]"
    ));
}

#[test]
fn references_that_stand_on_addresses_are_resolved_from_the_nearest_one() {
    let schema = r##"{
        "$id": "https://example.org/a/b/root.json",
        "$defs": {
            "up": {"$id": "../up.json?v=1", "components": {"n": {"$ref": "#/components/m"}, "m": {"type": "number"}}},
            "here": {"$ref": "../up.json?v=1#/components/n"}
        },
        "$ref": "#/$defs/here"
    }"##;
    assert!(fits(schema, "1") && !fits(schema, "\"a\""));
}

#[test]
fn a_dynamic_reference_is_refused_where_it_can_mean_several_schemas() {
    let two = |keyword: &str, reference: &str| {
        format!(
            r#"{{
                "$id": "https://example.org/root.json",
                {keyword},
                "$defs": {{"other": {{"$id": "other.json", {keyword}, "items": {reference}}}}},
                "type": "array",
                "items": {reference}
            }}"#
        )
    };
    for (keyword, reference, problem) in [
        (
            r#""$dynamicAnchor": "node""#,
            r##"{"$dynamicRef": "#node"}"##,
            "the $dynamicAnchor `node`",
        ),
        (
            r#""$recursiveAnchor": true"#,
            r##"{"$recursiveRef": "#"}"##,
            "a $recursiveAnchor",
        ),
    ] {
        let error = Schema::read(&two(keyword, reference)).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
    // A pointer, or an anchor that is not dynamic, means one.
    for reference in [
        r##"{"$dynamicRef": "#"}"##,
        r##"{"$dynamicRef": "#plain"}"##,
    ] {
        let schema = two(r#""$dynamicAnchor": "node", "$anchor": "plain""#, reference);
        assert!(fits(&schema, "[[]]") && !fits(&schema, "1"), "{schema}");
    }
}
