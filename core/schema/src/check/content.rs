//! Texts with encoded content. Up to draft-07 `contentEncoding` and `contentMediaType` may be assertions (Validation, section 8),
//! and are assertions here; in later drafts they are annotations.

use alloc::{borrow::ToOwned, vec::Vec};

use super::Subject;
use crate::{
    fault::{Found, Kind},
    json,
    value::{Object, Value},
};

/// Checks the encoding `base64` and the type `application/json`, the only supported ones.
pub(super) fn check_content(
    schema: &Object,
    text: &str,
    subject: Subject<'_, '_>,
    found: &mut Found,
) {
    let is = |keyword: &str, what: &str| schema.get(keyword).and_then(Value::as_str) == Some(what);
    let (is_encoded, is_json) = (
        is("contentEncoding", "base64"),
        is("contentMediaType", "application/json"),
    );
    let decoded = if is_encoded { decoded(text) } else { None };
    let problem = match (is_encoded, &decoded) {
        (true, None) => "must be in base64",
        (true, Some(bytes)) if is_json && !holds_json(bytes) => {
            "must hold a JSON document in base64"
        }
        (false, _) if is_json && json::read(text).is_err() => "must hold a JSON document",
        _ => return,
    };
    found.add(subject.at, Kind::Other, problem.to_owned());
}

fn holds_json(bytes: &[u8]) -> bool {
    core::str::from_utf8(bytes).is_ok_and(|text| json::read(text).is_ok())
}

/// RFC 4648, section 4, with padding.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(bytes)
}
