//! Values fit our schemas exactly when the `jsonschema` crate says so: over a table of schemas as people write
//! them, and over schemas made at random.
#![allow(clippy::unwrap_used, missing_docs)]

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_core::schema::Schema;

fn read(schema: &Value) -> Schema {
    Schema::read(&schema.to_string()).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// Schemas as people write them, each with what exercises it. Whether a value fits is for the oracle to say.
fn table() -> Vec<(Value, Vec<Value>)> {
    let tree = json!({"$defs": {"tree": {"type": "object", "properties": {"children": {"items": {"$ref": "#/$defs/tree"}}}, "unevaluatedProperties": false}}, "$ref": "#/$defs/tree"});
    let shapes = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number", "exclusiveMinimum": 0}}, "required": ["kind", "r"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"const": "rect"}, "w": {"type": "number"}, "h": {"type": "number"}}, "required": ["kind", "w", "h"]}
    ]});
    let draft_7 = "http://json-schema.org/draft-07/schema#";
    vec![
        (json!(true), vec![json!(null)]),
        (json!(false), vec![json!(null)]),
        (json!({}), vec![json!([1, {"a": null}])]),
        (
            json!({"type": "integer"}),
            vec![
                json!(5.0),
                json!(5.5),
                json!(1e300),
                json!(-7),
                json!(u64::MAX),
                json!("5"),
            ],
        ),
        (
            json!({"type": ["string", "null"]}),
            vec![json!(null), json!("a"), json!(1)],
        ),
        (
            json!({"enum": ["a", 1, null, {"b": [2.0]}]}),
            vec![
                json!(1.0),
                json!("b"),
                json!({"b": [2]}),
                json!(null),
                json!(true),
            ],
        ),
        (
            json!({"const": {"a": 1, "b": [1.50]}}),
            vec![json!({"b": [1.5], "a": 1.0}), json!({"a": 1}), json!(null)],
        ),
        (
            json!({"const": 0}),
            vec![json!(0.0), json!(-0.0), json!(false), json!("0")],
        ),
        (
            json!({"minLength": 2, "maxLength": 3.0}),
            vec![json!("é日"), json!("a"), json!("😀😀😀😀"), json!(5)],
        ),
        (
            json!({"pattern": "^[a-z]+$"}),
            vec![json!("abc"), json!("aB"), json!(3)],
        ),
        (
            json!({"pattern": r"^(?=.*\d)\S{3,}$"}),
            vec![json!("ab1"), json!("abc"), json!("a 1")],
        ),
        (
            json!({"minimum": 3, "maximum": 5.5}),
            vec![json!(3), json!(2.999), json!(5.5), json!(6), json!("1")],
        ),
        (
            json!({"exclusiveMinimum": -1, "exclusiveMaximum": 1}),
            vec![json!(-1), json!(0.5), json!(1.0)],
        ),
        (
            json!({"minimum": 9_007_199_254_740_993_i64}),
            vec![
                json!(9_007_199_254_740_992_i64),
                json!(9_007_199_254_740_993_i64),
            ],
        ),
        (
            json!({"multipleOf": 0.1}),
            vec![json!(0.3), json!(1.1), json!(0.35), json!(7), json!("x")],
        ),
        (
            json!({"multipleOf": 2}),
            vec![json!(4), json!(4.0), json!(5), json!(-6), json!(0)],
        ),
        (
            json!({"multipleOf": 1e-8}),
            vec![json!(0.000_000_01), json!(12.5), json!(0.000_000_005)],
        ),
        (
            json!({"items": {"type": "number"}, "minItems": 1, "maxItems": 2}),
            vec![json!([1, 2.5]), json!([]), json!([1, 2, 3]), json!(["1"])],
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
            vec![
                json!(["a", 1]),
                json!(["a"]),
                json!(["a", 1, 2]),
                json!([1]),
            ],
        ),
        (
            json!({"$schema": draft_7, "items": [{"type": "string"}], "additionalItems": {"type": "null"}}),
            vec![json!(["a", null]), json!([1]), json!(["a", 1]), json!([])],
        ),
        (
            json!({"uniqueItems": true}),
            vec![
                json!([1, 1.0]),
                json!([{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
                json!([[1], [2]]),
                json!([1, "1", true, null]),
            ],
        ),
        (
            json!({"contains": {"type": "integer"}}),
            vec![json!([]), json!(["a", 1]), json!(["a"])],
        ),
        (
            json!({"contains": {"minimum": 5}, "minContains": 2, "maxContains": 3}),
            vec![
                json!([5, 6]),
                json!([5]),
                json!([5, 6, 7, 8]),
                json!([1, 2]),
            ],
        ),
        (json!({"contains": true, "minContains": 0}), vec![json!([])]),
        (
            json!({"required": ["a", "b"], "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "integer"}}),
            vec![
                json!({"a": "x", "b": 1}),
                json!({"a": 1, "b": 1}),
                json!({"b": "1", "a": ""}),
                json!({}),
                json!([]),
            ],
        ),
        (
            json!({"patternProperties": {"^x-": {"type": "string"}, "y$": {"minLength": 2}}, "additionalProperties": false}),
            vec![
                json!({"x-y": "ab"}),
                json!({"x-y": "a"}),
                json!({"z": 1}),
                json!({"x-": 1}),
            ],
        ),
        (
            json!({"propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}}),
            vec![json!({"abc": 1}), json!({"abcd": 1}), json!({"A": 1})],
        ),
        (
            json!({"minProperties": 1, "maxProperties": 2}),
            vec![json!({}), json!({"a": 1}), json!({"a": 1, "b": 2, "c": 3})],
        ),
        (
            json!({"dependentRequired": {"card": ["address", "name"]}}),
            vec![
                json!({"card": 1}),
                json!({"card": 1, "address": 1, "name": 1}),
                json!({"address": 1}),
            ],
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            vec![json!({"a": 1}), json!({"a": 1, "b": 1}), json!({})],
        ),
        (
            json!({"$schema": draft_7, "dependencies": {"a": ["b"], "c": {"maxProperties": 1}}}),
            vec![
                json!({"a": 1}),
                json!({"a": 1, "b": 1}),
                json!({"c": 1, "d": 1}),
                json!({"c": 1}),
            ],
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}),
            vec![json!(4), json!("a"), json!(2), json!([])],
        ),
        (
            shapes,
            vec![
                json!({"kind": "circle", "r": 1}),
                json!({"kind": "circle", "r": 0}),
                json!({"kind": "rect", "w": 1, "h": 2, "x": 3}),
                json!({"kind": "oval"}),
                json!([]),
            ],
        ),
        (
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            vec![json!({"b": 1}), json!({"a": 1, "b": 1}), json!({})],
        ),
        (
            json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}),
            vec![json!(2), json!(0), json!(4)],
        ),
        (
            json!({"not": {"type": "string"}}),
            vec![json!("a"), json!(1)],
        ),
        (
            json!({"if": {"properties": {"c": {"const": "NL"}}, "required": ["c"]}, "then": {"required": ["p"]}, "else": {"maxProperties": 1}}),
            vec![
                json!({"c": "NL"}),
                json!({"c": "NL", "p": 1}),
                json!({"c": "DE", "p": 1}),
                json!({"c": "DE"}),
                json!(3),
            ],
        ),
        (json!({"then": {"type": "string"}}), vec![json!(1)]),
        (
            tree,
            vec![
                json!({"children": [{"children": []}]}),
                json!({"children": [{"child": 1}]}),
                json!({"x": 1}),
            ],
        ),
        (
            json!({"definitions": {"a/b~c %": {"type": "string"}}, "$ref": "#/definitions/a~1b~0c%20%25"}),
            vec![json!("x"), json!(1)],
        ),
        (
            json!({"$schema": draft_7, "definitions": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}}),
            vec![json!({"a": "xyz"}), json!({"a": 1})],
        ),
        (
            json!({"$defs": {"s": {"$anchor": "text", "type": "string"}}, "properties": {"a": {"$ref": "#text", "maxLength": 1}}}),
            vec![json!({"a": "xyz"}), json!({"a": "x"}), json!({"a": 1})],
        ),
        (
            json!({"$id": "https://example.org/root.json", "$defs": {"item": {"$id": "item.json", "$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}}, "$ref": "item.json"}),
            vec![json!([1]), json!(["a"])],
        ),
        (
            json!({"$id": "https://example.org/a/root.json", "$defs": {"x": {"$id": "/other/x.json", "$anchor": "me", "type": "null"}}, "$ref": "/other/x.json#me"}),
            vec![json!(null), json!(1)],
        ),
        (
            json!({"$dynamicAnchor": "node", "type": "object", "properties": {"next": {"$dynamicRef": "#node"}}}),
            vec![json!({"next": {"next": {}}}), json!({"next": 1})],
        ),
        (
            json!({"components": {"x": {"type": "string", "allOf": [{"$ref": "#/components/y"}]}, "y": {"maxLength": 1}}, "$ref": "#/components/x"}),
            vec![json!("a"), json!("ab"), json!(1)],
        ),
        (
            json!({"allOf": [{"properties": {"a": true}}, {"patternProperties": {"^b": true}}], "anyOf": [{"properties": {"c": {"type": "string"}}}, {"properties": {"d": true}}], "unevaluatedProperties": false}),
            vec![
                json!({"a": 1, "bb": 2, "c": "x", "d": 1}),
                json!({"c": 1}),
                json!({"c": 1, "d": 2}),
                json!({"e": 1}),
            ],
        ),
        (
            json!({"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"properties": {"b": true}}, "unevaluatedProperties": {"type": "string"}}),
            vec![
                json!({"a": 1, "b": 2}),
                json!({"a": 2, "b": 2}),
                json!({"a": "2", "b": "2"}),
            ],
        ),
        (
            json!({"prefixItems": [true], "contains": {"type": "string"}, "unevaluatedItems": false}),
            vec![json!([1, "a"]), json!([1, 2, "a"]), json!(["a"]), json!([])],
        ),
        (
            json!({"anyOf": [{"prefixItems": [true, {"type": "string"}]}, {"items": {"type": "integer"}}], "unevaluatedItems": {"type": "null"}}),
            vec![json!([1, "a", null]), json!([1, 2, 3]), json!([1, "a", 3])],
        ),
        (
            json!({"format": "date"}),
            vec![
                json!("2024-02-29"),
                json!("2023-02-29"),
                json!("2023-2-9"),
                json!("x"),
                json!(1),
            ],
        ),
        (
            json!({"format": "time"}),
            vec![
                json!("08:30:06Z"),
                json!("08:30:06.283185+01:30"),
                json!("08:30:06"),
                json!("24:00:00Z"),
                json!("08:30:06.Z"),
            ],
        ),
        (
            json!({"format": "date-time"}),
            vec![
                json!("1963-06-19T08:30:06.28Z"),
                json!("1963-06-19t08:30:06z"),
                json!("1963-06-19 08:30:06Z"),
                json!("1963-06-19"),
            ],
        ),
        (
            json!({"format": "email"}),
            vec![
                json!("joe.bloggs@example.com"),
                json!("2962"),
                json!("@example.com"),
                json!("joe@"),
            ],
        ),
        (
            json!({"format": "ipv4"}),
            vec![json!("192.168.0.1"), json!("256.0.0.1"), json!("1.2.3")],
        ),
        (
            json!({"format": "ipv6"}),
            vec![json!("::1"), json!("12345::"), json!("fe80::a%eth1")],
        ),
        (
            json!({"format": "uri"}),
            vec![
                json!("http://foo.bar/?baz=qux#quux"),
                json!("mailto:a@b.c"),
                json!("//foo.bar/"),
                json!("foo"),
                json!("http:// x"),
            ],
        ),
        (
            json!({"format": "uuid"}),
            vec![
                json!("2EB8AA08-AA98-11EA-B4AA-73B441D16380"),
                json!("2eb8aa08aa9811eab4aa73b441d16380"),
                json!("x"),
            ],
        ),
        (
            json!({"format": "of tomorrow", "x-mine": {"type": 3}}),
            vec![json!("a")],
        ),
    ]
}

fn oracle(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[test]
fn loop_18_values_fit_exactly_when_the_jsonschema_crate_says_so() {
    let (mut fit, mut misfit) = (0, 0);
    let mut wrong = Vec::new();
    let table = table();
    let values: Vec<&Value> = table.iter().flat_map(|(_, values)| values).collect();
    for (schema, _) in &table {
        let (ours, theirs) = (read(schema), oracle(schema));
        for value in &values {
            let expected = theirs.is_valid(value);
            let found = ours.validate(&value.to_string());
            if found.is_ok() != expected {
                wrong.push(format!("{schema} on {value}: {found:?}"));
            }
            *(if expected { &mut fit } else { &mut misfit }) += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(fit > 1_000 && misfit > 1_000, "{fit} fit, {misfit} do not");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_schema_judges_any_value_as_the_jsonschema_crate_does(
        schema in arbitrary_schema(),
        values in prop::collection::vec(arbitrary_value(), 1..6),
    ) {
        let (ours, theirs) = (read(&schema), oracle(&schema));
        for value in values {
            let found = ours.validate(&value.to_string());
            prop_assert_eq!(found.is_ok(), theirs.is_valid(&value), "{} on {}: {:?}", schema, value, found);
        }
    }

    #[test]
    fn no_text_makes_the_reader_of_schemas_panic(schema in arbitrary_value(), keyword in keyword(), value in arbitrary_value()) {
        let schema = json!({keyword: schema});
        if let Ok(schema) = Schema::read(&schema.to_string()) {
            let _ = schema.validate(&value.to_string());
        }
    }
}

fn arbitrary_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        (-3_i64..4).prop_map(|n| json!(n)),
        (-6_i64..7).prop_map(|n| json!(n as f64 / 2.0)),
        prop_oneof![Just(""), Just("a"), Just("ab"), Just("b1"), Just("ä")].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("ab")].prop_map(str::to_owned)
}

fn keyword() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "type",
        "enum",
        "required",
        "properties",
        "patternProperties",
        "items",
        "prefixItems",
        "anyOf",
        "not",
        "if",
        "minimum",
        "multipleOf",
        "minLength",
        "uniqueItems",
        "pattern",
        "dependentRequired",
        "dependencies",
        "$ref",
        "$id",
        "$anchor",
        "$dynamicRef",
        "unevaluatedItems",
        "maxContains",
        "format",
        "const",
    ])
    .prop_map(str::to_owned)
}

fn arbitrary_schema() -> impl Strategy<Value = Value> {
    let count = || 0_u64..4;
    let number = || {
        prop_oneof![
            (-3_i64..4).prop_map(|n| json!(n)),
            (-3_i64..4).prop_map(|n| json!(n as f64 / 2.0))
        ]
    };
    let types = || {
        prop::sample::select(vec![
            "object", "array", "string", "number", "integer", "boolean", "null",
        ])
    };
    let pattern = || prop::sample::select(vec!["^a", "b$", "^(a|b)+$", r"\d", "^.{2}$"]);
    let texts = || prop::collection::btree_set(field(), 0..3).prop_map(|names| json!(names));
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        types().prop_map(|name| json!({"type": name})),
        prop::collection::btree_set(types(), 1..4).prop_map(|names| json!({"type": names})),
        arbitrary_value().prop_map(|value| json!({"const": value})),
        prop::collection::vec(arbitrary_value(), 1..3).prop_map(|values| json!({"enum": values})),
        number().prop_map(|n| json!({"minimum": n})),
        number().prop_map(|n| json!({"exclusiveMaximum": n})),
        (1_i64..4).prop_map(|n| json!({"multipleOf": n as f64 / 2.0})),
        count().prop_map(|n| json!({"minLength": n})),
        count().prop_map(|n| json!({"maxItems": n})),
        count().prop_map(|n| json!({"minProperties": n})),
        pattern().prop_map(|p| json!({"pattern": p})),
        texts().prop_map(|names| json!({"required": names})),
        (field(), texts()).prop_map(|(name, names)| json!({"dependentRequired": {name: names}})),
        Just(json!({"uniqueItems": true})),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        let single = |keyword: &'static str| inner.clone().prop_map(move |s| json!({keyword: s}));
        prop_oneof![
            list().prop_map(|parts| json!({"allOf": parts})),
            list().prop_map(|parts| json!({"anyOf": parts})),
            list().prop_map(|parts| json!({"oneOf": parts})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(i, t, e)| json!({"if": i, "then": t, "else": e})),
            prop_oneof![
                single("not"),
                single("items"),
                single("propertyNames"),
                single("additionalProperties"),
                single("unevaluatedProperties"),
                single("unevaluatedItems")
            ],
            (inner.clone(), 0_u64..3, 0_u64..3).prop_map(
                |(s, min, max)| json!({"contains": s, "minContains": min, "maxContains": max})
            ),
            (list(), inner.clone())
                .prop_map(|(first, rest)| json!({"prefixItems": first, "items": rest})),
            prop::collection::btree_map(field(), inner.clone(), 1..3)
                .prop_map(|fields| json!({"properties": fields})),
            (field(), inner.clone()).prop_map(|(name, s)| json!({"dependentSchemas": {name: s}})),
            (prop::sample::select(vec!["^a", "b"]), inner.clone())
                .prop_map(|(p, s)| json!({"patternProperties": {p: s}})),
            // Several keywords beside each other see what the others have looked at.
            (
                inner.clone(),
                inner.clone(),
                prop::sample::select(vec![
                    "unevaluatedProperties",
                    "unevaluatedItems",
                    "additionalProperties"
                ]),
                inner.clone()
            )
                .prop_map(|(a, b, keyword, rest)| merged(vec![
                    a,
                    b,
                    json!({keyword: rest})
                ])),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| merged(vec![a, b])),
        ]
    })
}

fn merged(schemas: Vec<Value>) -> Value {
    let mut all = serde_json::Map::new();
    for schema in schemas {
        if let Value::Object(fields) = schema {
            all.extend(fields);
        }
    }
    Value::Object(all)
}
