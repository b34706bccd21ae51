//! Keywords for a single value: types, allowed values, lengths and bounds.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use core::cmp::Ordering;

use super::{NAMED, Subject};
use crate::{
    fault::{Found, Kind},
    json,
    value::{Object, Value, short},
};

pub(super) fn check_type(schema: &Object, subject: Subject<'_, '_>, found: &mut Found) {
    let Some(wanted) = schema.get("type") else {
        return;
    };
    let names: Vec<&str> = wanted.as_str().into_iter().chain(wanted.texts()).collect();
    let fits = |value: &Value| names.iter().any(|name| value.is_type(name) == Some(true));
    if fits(subject.value) {
        return;
    }
    let inner = subject.value.as_str().map(json::read);
    let is = match inner {
        // Models sometimes encode JSON twice.
        Some(Ok(inner @ (Value::Object(_) | Value::Array(_)))) if fits(&inner) => {
            format!(
                "a string that holds the JSON text of one: write the {} itself",
                inner.type_name()
            )
        }
        _ => subject.value.type_name().to_owned(),
    };
    let problem = format!("must be of type {}, not {is}", names.join(" or "));
    found.add(subject.at, Kind::Type, problem);
}

pub(super) fn check_values(schema: &Object, subject: Subject<'_, '_>, found: &mut Found) {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(subject.value)
    {
        let mut named: Vec<String> = allowed.iter().take(NAMED).map(short).collect();
        if allowed.len() > NAMED {
            named.push("…".to_owned());
        }
        let problem = format!("must be one of {}", named.join(", "));
        found.add(subject.at, Kind::Value, problem);
    }
    if let Some(only) = schema.get("const")
        && only != subject.value
    {
        found.add(subject.at, Kind::Value, format!("must be {}", short(only)));
    }
}

pub(super) fn check_size(schema: &Object, subject: Subject<'_, '_>, found: &mut Found) {
    let (size, min, max, unit) = match subject.value {
        Value::String(text) => (text.chars().count(), "minLength", "maxLength", "characters"),
        Value::Array(items) => (items.len(), "minItems", "maxItems", "items"),
        Value::Object(fields) => (fields.len(), "minProperties", "maxProperties", "fields"),
        _ => return,
    };
    let size = size as u64;
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_count);
    if let Some(min) = bound(min).filter(|min| size < *min) {
        let problem = format!("must have at least {min} {unit}, and has {size}");
        found.add(subject.at, Kind::Other, problem);
    }
    if let Some(max) = bound(max).filter(|max| size > *max) {
        let problem = format!("must have at most {max} {unit}, and has {size}");
        found.add(subject.at, Kind::Other, problem);
    }
}

pub(super) fn check_number(schema: &Object, subject: Subject<'_, '_>, found: &mut Found) {
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
            && !allowed.contains(&number.cmp(bound))
        {
            found.add(
                subject.at,
                Kind::Other,
                format!("must be {words} {}", bound.as_str()),
            );
        }
    }
    if let Some(Value::Number(of)) = schema.get("multipleOf")
        && !of.as_divisor().is_some_and(|of| of.divides(number))
    {
        found.add(
            subject.at,
            Kind::Other,
            format!("must be a multiple of {}", of.as_str()),
        );
    }
}
