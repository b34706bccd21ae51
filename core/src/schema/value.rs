//! Values as JSON Schema compares them: 1 and 1.0 are one number, the order of fields is none.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use core::cmp::Ordering;

use serde_json::{Number, Value};

use crate::json::write;

/// The JSON name of a value's type.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a value is of a type; none for a type that does not exist.
pub(super) fn is_type(value: &Value, name: &str) -> Option<bool> {
    Some(match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(is_integer),
        _ => return None,
    })
}

/// 5.0 is an integer too.
fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|n| n % 1.0 == 0.0)
}

pub(super) fn same(a: &Value, b: &Value) -> bool {
    let may_differ_in_spelling = !matches!(a, Value::String(_) | Value::Bool(_) | Value::Null);
    a == b
        || (may_differ_in_spelling && type_name(a) == type_name(b) && canonical(a) == canonical(b))
}

/// Equal values have equal texts.
pub(super) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(fields) => {
            // They are sorted already where serde_json's maps are.
            let fields = fields.iter().map(|(name, field)| (name.as_str(), field));
            let fields: BTreeMap<&str, &Value> = fields.collect();
            out.push('{');
            for (name, field) in fields {
                out.push_str(&write::to_text(name));
                out.push(':');
                write_canonical(field, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Number(number) => match (whole(number), decimal(number)) {
            (Some(whole), _) => out.push_str(&whole.to_string()),
            (None, Some((digits, exponent))) => {
                out.push_str(&digits.to_string());
                out.push('e');
                out.push_str(&exponent.to_string());
            }
            (None, None) => out.push_str(&write::to_text(number)),
        },
        other => out.push_str(&write::to_text(other)),
    }
}

pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// By their decimal digits: 0.3 is a multiple of 0.1.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    let exact = || {
        let (a, a_exponent) = decimal(number)?;
        let (b, b_exponent) = decimal(of)?;
        let common = a_exponent.min(b_exponent);
        let scaled = |digits: i128, exponent: i32| {
            let zeros = u32::try_from(exponent.checked_sub(common)?).ok()?;
            digits.checked_mul(10_i128.checked_pow(zeros)?)
        };
        scaled(a, a_exponent)?.checked_rem(scaled(b, b_exponent)?)
    };
    match exact() {
        Some(rest) => rest == 0,
        None => {
            let quotient = number.as_f64().unwrap_or(0.0) / of.as_f64().unwrap_or(1.0);
            quotient % 1.0 == 0.0
        }
    }
}

fn whole(number: &Number) -> Option<i128> {
    if let Some(n) = number.as_i64() {
        return Some(n.into());
    }
    if let Some(n) = number.as_u64() {
        return Some(n.into());
    }
    let (digits, exponent) = decimal(number)?;
    digits.checked_mul(10_i128.checked_pow(u32::try_from(exponent).ok()?)?)
}

/// Digits and power of ten, without zeros at the end of the digits.
fn decimal(number: &Number) -> Option<(i128, i32)> {
    let text = write::to_text(number);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let exponent: i32 = exponent.trim_start_matches('+').parse().ok()?;
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: i128 = [before, after].concat().parse().ok()?;
    let mut exponent = exponent.checked_sub(i32::try_from(after.len()).ok()?)?;
    while digits != 0 && digits % 10 == 0 {
        digits /= 10;
        exponent = exponent.checked_add(1)?;
    }
    if digits == 0 {
        exponent = 0;
    }
    Some((digits, exponent))
}

/// A value in a sentence.
pub(super) fn short(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = write::to_text(value);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => [&text[..end], "…"].concat(),
        None => text,
    }
}
