//! What a schema says of a value by itself: its type, which values it may have, how long or large it may be.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use core::cmp::Ordering;

use serde_json::{Map, Value};

use crate::json::write;

use super::{
    check::{NAMED, Subject, texts},
    fault::{Found, Kind},
    read::as_count,
    value::{compare, is_multiple, is_type, same, short, type_name},
};

pub(super) fn check_type(schema: &Map<String, Value>, subject: Subject<'_, '_>, found: &mut Found) {
    let Some(wanted) = schema.get("type") else {
        return;
    };
    let names: Vec<&str> = wanted.as_str().into_iter().chain(texts(wanted)).collect();
    let fits = |value: &Value| names.iter().any(|name| is_type(value, name) == Some(true));
    if fits(subject.value) {
        return;
    }
    let inner = subject.value.as_str().map(crate::json::read::tree);
    let is = match inner {
        // Models like to encode twice.
        Some(Ok(inner @ (Value::Object(_) | Value::Array(_)))) if fits(&inner) => {
            format!(
                "a string that holds the JSON text of one: write the {} itself",
                type_name(&inner)
            )
        }
        _ => type_name(subject.value).to_owned(),
    };
    let problem = format!("must be of type {}, not {is}", names.join(" or "));
    found.add(subject.at, Kind::Type, problem);
}

pub(super) fn check_values(
    schema: &Map<String, Value>,
    subject: Subject<'_, '_>,
    found: &mut Found,
) {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.iter().any(|allowed| same(allowed, subject.value))
    {
        let mut named: Vec<String> = allowed.iter().take(NAMED).map(short).collect();
        if allowed.len() > NAMED {
            named.push("…".to_owned());
        }
        let problem = format!("must be one of {}", named.join(", "));
        found.add(subject.at, Kind::Value, problem);
    }
    if let Some(only) = schema.get("const")
        && !same(only, subject.value)
    {
        found.add(subject.at, Kind::Value, format!("must be {}", short(only)));
    }
}

pub(super) fn check_size(schema: &Map<String, Value>, subject: Subject<'_, '_>, found: &mut Found) {
    let (size, min, max, unit) = match subject.value {
        Value::String(text) => (text.chars().count(), "minLength", "maxLength", "characters"),
        Value::Array(items) => (items.len(), "minItems", "maxItems", "items"),
        Value::Object(fields) => (fields.len(), "minProperties", "maxProperties", "fields"),
        _ => return,
    };
    let size = size as u64;
    let bound = |keyword: &str| schema.get(keyword).and_then(as_count);
    if let Some(min) = bound(min).filter(|min| size < *min) {
        let problem = format!("must have at least {min} {unit}, and has {size}");
        found.add(subject.at, Kind::Other, problem);
    }
    if let Some(max) = bound(max).filter(|max| size > *max) {
        let problem = format!("must have at most {max} {unit}, and has {size}");
        found.add(subject.at, Kind::Other, problem);
    }
}

pub(super) fn check_number(
    schema: &Map<String, Value>,
    subject: Subject<'_, '_>,
    found: &mut Found,
) {
    use Ordering::{Equal, Greater, Less};
    const BOUNDS: [(&str, &[Ordering], &str); 4] = [
        ("minimum", &[Equal, Greater], "at least"),
        ("maximum", &[Less, Equal], "at most"),
        ("exclusiveMinimum", &[Greater], "more than"),
        ("exclusiveMaximum", &[Less], "less than"),
    ];
    let Value::Number(number) = subject.value else {
        return;
    };
    for (keyword, allowed, words) in BOUNDS {
        if let Some(Value::Number(bound)) = schema.get(keyword)
            && !compare(number, bound).is_some_and(|order| allowed.contains(&order))
        {
            found.add(
                subject.at,
                Kind::Other,
                format!("must be {words} {}", write::to_text(bound)),
            );
        }
    }
    if let Some(Value::Number(of)) = schema.get("multipleOf")
        && !is_multiple(number, of)
    {
        found.add(
            subject.at,
            Kind::Other,
            format!("must be a multiple of {}", write::to_text(of)),
        );
    }
}
