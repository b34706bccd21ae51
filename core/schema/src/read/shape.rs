//! The valid types of keyword values.

use crate::value::Value;

/// The valid type of a keyword's value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Schema,
    Schemas,
    NamedSchemas,
    /// `items`: one schema, or (up to draft-07) one for each item.
    SchemaOrSchemas,
    /// `dependencies`: a schema or a list of names.
    NamedSchemasOrTexts,
    Count,
    Number,
    Divisor,
    Flag,
    Text,
    Texts,
    NamedTexts,
    Pattern,
    Type,
    Values,
}

/// The type for a keyword; none for one that is not an assertion.
pub(super) fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
            Shape::NamedSchemas
        }
        "items" => Shape::SchemaOrSchemas,
        "dependencies" => Shape::NamedSchemasOrTexts,
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems"
        | "minLength" | "minProperties" => Shape::Count,
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => Shape::Number,
        "multipleOf" => Shape::Divisor,
        "$recursiveAnchor" | "uniqueItems" => Shape::Flag,
        "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$id" | "$recursiveRef" | "$ref"
        | "$schema" | "format" => Shape::Text,
        "required" => Shape::Texts,
        "dependentRequired" => Shape::NamedTexts,
        "pattern" => Shape::Pattern,
        "type" => Shape::Type,
        "enum" => Shape::Values,
        _ => return None,
    })
}

/// A description of the expected value, if this one is not valid for the keyword. Schemas within it are not checked.
pub(super) fn misfit(shape: Shape, value: &Value) -> Option<&'static str> {
    let is_object = value.as_object().is_some();
    let list = value.as_array();
    let (fits, wanted) = match shape {
        Shape::Schema => (true, ""),
        Shape::Schemas => match list {
            Some([]) => (false, "a list of at least one schema"),
            list => (list.is_some(), "a list of schemas"),
        },
        Shape::SchemaOrSchemas => (
            is_object || list.is_some() || matches!(value, Value::Bool(_)),
            "a list of schemas",
        ),
        Shape::NamedSchemas | Shape::NamedSchemasOrTexts => {
            (is_object, "an object whose values are schemas")
        }
        Shape::Count => (value.as_count().is_some(), "a whole number from 0"),
        Shape::Number => (value.as_number().is_some(), "a number"),
        Shape::Divisor => match value.as_number() {
            Some(number) if number.is_positive() => (
                number.as_divisor().is_some(),
                "a number of at most 19 digits, zeros at its ends not counted",
            ),
            _ => (false, "a number greater than 0"),
        },
        Shape::Flag => (matches!(value, Value::Bool(_)), "true or false"),
        Shape::Text | Shape::Pattern => (value.as_str().is_some(), "a text"),
        Shape::Texts => (are_texts(value), "a list of field names"),
        Shape::NamedTexts => (
            value
                .as_object()
                .is_some_and(|lists| lists.iter().all(|(_, list)| are_texts(list))),
            "an object whose values are lists of field names",
        ),
        Shape::Values => (list.is_some(), "a list of values"),
        Shape::Type => (
            is_type_name(value),
            "one or several of object, array, string, number, integer, boolean, null",
        ),
    };
    (!fits).then_some(wanted)
}

pub(super) fn are_texts(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(|item| item.as_str().is_some()))
}

fn is_type_name(value: &Value) -> bool {
    let known = |name: &Value| {
        name.as_str()
            .is_some_and(|name| Value::Null.is_type(name).is_some())
    };
    match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(known),
        name => known(name),
    }
}
