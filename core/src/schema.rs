//! Tool inputs against their JSON Schema: the part of the 2020-12 vocabulary that tools use.
//!
//! A full validator would cost the browser more than everything else together. What this one does not
//! know (`pattern`, `format`, `if` …) it lets pass: a tool checks its own input again.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::Cell;

use serde_json::{Map, Value};

use crate::json::RawJson;

/// `$ref` may lead in circles; no real input is nested this deep.
const DEPTH: u32 = 64;
/// A schema may try ever more combinations of itself; no real input needs so many comparisons.
const STEPS: u32 = 200_000;

/// Checks an input. A schema that is itself unreadable lets everything pass.
///
/// # Errors
/// [`SchemaFault`]: the first place that does not fit, and what would.
pub fn validate(schema: &RawJson, input: &RawJson) -> Result<(), SchemaFault> {
    let Ok(schema) = serde_json::from_str::<Value>(schema.get()) else {
        return Ok(());
    };
    let value: Value = serde_json::from_str(input.get()).map_err(|e| SchemaFault {
        place: "the input".to_owned(),
        problem: e.to_string(),
    })?;
    let validator = Validator {
        root: &schema,
        steps: Cell::new(STEPS),
    };
    validator.check(&schema, &value, "", DEPTH)
}

/// An input that its schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} {problem}")]
pub struct SchemaFault {
    /// Where: a field path, or "the input".
    pub place: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

struct Validator<'a> {
    root: &'a Value,
    /// Comparisons that are left.
    steps: Cell<u32>,
}

impl Validator<'_> {
    fn check(
        &self,
        schema: &Value,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), SchemaFault> {
        let Some(schema) = schema.as_object() else {
            return match schema {
                Value::Bool(false) => Err(fault(at, "is not allowed")),
                _ => Ok(()),
            };
        };
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        if depth == 0 || left == 0 {
            return Err(fault(
                at,
                "is nested too deep, or fits its schema in too many ways",
            ));
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.resolve(target)
        {
            self.check(target, value, at, depth - 1)?;
        }
        check_type(schema, value, at)?;
        check_values(schema, value, at)?;
        check_bounds(schema, value, at)?;
        self.check_object(schema, value, at, depth)?;
        self.check_array(schema, value, at, depth)?;
        self.check_combinations(schema, value, at, depth)
    }

    fn resolve(&self, target: &str) -> Option<&Value> {
        self.root.pointer(target.strip_prefix('#')?)
    }

    fn check_object(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), SchemaFault> {
        let Some(object) = value.as_object() else {
            return Ok(());
        };
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Some(name) = name.as_str().filter(|name| !object.contains_key(*name)) {
                return Err(fault(at, &format!("lacks the required field `{name}`")));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, field) in object {
            let place = join(at, name);
            match properties.and_then(|p| p.get(name)) {
                Some(schema) => self.check(schema, field, &place, depth - 1)?,
                // Which names the patterns mean is not known here: such a field may be one of them.
                None if schema.contains_key("patternProperties") => {}
                None => match schema.get("additionalProperties") {
                    Some(Value::Bool(false)) => {
                        return Err(fault(&place, "is not a field of this tool's input"));
                    }
                    Some(other) => self.check(other, field, &place, depth - 1)?,
                    None => {}
                },
            }
        }
        Ok(())
    }

    fn check_array(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), SchemaFault> {
        let Some(array) = value.as_array() else {
            return Ok(());
        };
        // `items` is about those after the ones that have a schema each.
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        for (i, (item, each)) in array.iter().zip(prefix).enumerate() {
            self.check(each, item, &format!("{at}[{i}]"), depth - 1)?;
        }
        for (i, item) in array.iter().enumerate().skip(prefix.len()) {
            let items = schema.get("items").unwrap_or(&Value::Bool(true));
            self.check(items, item, &format!("{at}[{i}]"), depth - 1)?;
        }
        Ok(())
    }

    fn check_combinations(
        &self,
        schema: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), SchemaFault> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            self.check(part, value, at, depth - 1)?;
        }
        let fits = |part: &&Value| self.check(part, value, at, depth - 1).is_ok();
        if let Some(parts) = list("anyOf")
            && !parts.iter().any(|part| fits(&part))
        {
            return Err(fault(at, "fits none of the allowed forms"));
        }
        if let Some(parts) = list("oneOf")
            && parts.iter().filter(fits).count() != 1
        {
            return Err(fault(at, "must fit exactly one of the allowed forms"));
        }
        Ok(())
    }
}

fn check_type(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), SchemaFault> {
    let (fits, wanted) = match schema.get("type") {
        Some(Value::String(name)) => (is_type(value, name), name.clone()),
        Some(Value::Array(names)) => {
            let mut names = names.iter().filter_map(Value::as_str);
            let wanted: Vec<&str> = names.clone().collect();
            (names.any(|name| is_type(value, name)), wanted.join(" or "))
        }
        _ => return Ok(()),
    };
    if fits {
        Ok(())
    } else {
        Err(fault(
            at,
            &format!("must be of type {wanted}, not {}", type_name(value)),
        ))
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // 5.0 is an integer in JSON Schema.
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n % 1.0 == 0.0)
        }
        _ => true,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_values(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), SchemaFault> {
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        return Err(fault(at, &format!("must be one of {}", allowed.join(", "))));
    }
    match schema.get("const") {
        Some(only) if only != value => Err(fault(at, &format!("must be {only}"))),
        _ => Ok(()),
    }
}

fn check_bounds(schema: &Map<String, Value>, value: &Value, at: &str) -> Result<(), SchemaFault> {
    let size = match value {
        Value::String(text) => Some((text.chars().count(), "minLength", "maxLength", "characters")),
        Value::Array(items) => Some((items.len(), "minItems", "maxItems", "items")),
        Value::Object(fields) => Some((fields.len(), "minProperties", "maxProperties", "fields")),
        _ => None,
    };
    if let Some((size, min, max, unit)) = size {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        if let Some(min) = bound(min).filter(|min| (size as u64) < *min) {
            return Err(fault(at, &format!("must have at least {min} {unit}")));
        }
        if let Some(max) = bound(max).filter(|max| (size as u64) > *max) {
            return Err(fault(at, &format!("must have at most {max} {unit}")));
        }
    }
    let Some(number) = value.as_f64() else {
        return Ok(());
    };
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let broken = [
        (
            "minimum",
            bound("minimum").is_some_and(|b| number < b),
            "at least",
        ),
        (
            "maximum",
            bound("maximum").is_some_and(|b| number > b),
            "at most",
        ),
        (
            "exclusiveMinimum",
            bound("exclusiveMinimum").is_some_and(|b| number <= b),
            "more than",
        ),
        (
            "exclusiveMaximum",
            bound("exclusiveMaximum").is_some_and(|b| number >= b),
            "less than",
        ),
    ];
    match broken.iter().find(|(_, broken, _)| *broken) {
        Some((key, _, words)) => Err(fault(
            at,
            &format!(
                "must be {words} {}",
                schema.get(*key).unwrap_or(&Value::Null)
            ),
        )),
        None => Ok(()),
    }
}

fn fault(at: &str, problem: &str) -> SchemaFault {
    SchemaFault {
        place: if at.is_empty() {
            "the input".to_owned()
        } else {
            format!("`{at}`")
        },
        problem: problem.to_owned(),
    }
}

fn join(at: &str, name: &str) -> String {
    if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    }
}
