//! Parses text to values with serde_json, preserving the notation of numbers.
//!
//! serde_json passes numbers as a `u64`, an `i64` or an `f64`, and rounds numbers that do not fit. Its feature
//! `arbitrary_precision` would avoid that, but it applies to the whole program. The text is therefore scanned a second time in
//! parallel: both encounter the numbers in the same order.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{
    number::Number,
    value::{Object, Value},
};

/// Parses exactly one value.
///
/// # Errors
/// The error of serde_json: not JSON, an unpaired surrogate, a number too large for a double, more than 127 levels.
pub(crate) fn read(text: &str) -> Result<Value, serde_json::Error> {
    let tokens = Tokens {
        text,
        at: Cell::new(0),
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = AnyValue(&tokens).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The numbers and the beginnings of objects in a text, which is known to be JSON as far as it was parsed.
struct Tokens<'t> {
    text: &'t str,
    at: Cell<usize>,
}

enum Token<'t> {
    Object,
    Number(&'t str),
}

impl<'t> Tokens<'t> {
    fn next(&self) -> Option<Token<'t>> {
        let bytes = self.text.as_bytes();
        let mut at = self.at.get();
        let token = loop {
            match bytes.get(at)? {
                b'"' => {
                    at += 1;
                    while *bytes.get(at)? != b'"' {
                        at += 1 + usize::from(bytes[at] == b'\\');
                    }
                    at += 1;
                }
                b'{' => {
                    at += 1;
                    break Token::Object;
                }
                b'-' | b'0'..=b'9' => {
                    let is_part =
                        |b: &u8| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let length = bytes[at..].iter().take_while(|b| is_part(b)).count();
                    let number = self.text.get(at..at + length)?;
                    at += length;
                    break Token::Number(number);
                }
                _ => at += 1,
            }
        };
        self.at.set(at);
        Some(token)
    }

    fn number<E: serde::de::Error>(&self) -> Result<Value, E> {
        match self.next() {
            Some(Token::Number(text)) => Ok(Value::Number(Number::new(text))),
            // The parser has just found one there.
            _ => Err(E::custom("a number that is not in the text")),
        }
    }
}

#[derive(Clone, Copy)]
struct AnyValue<'a, 't>(&'a Tokens<'t>);

impl<'de> DeserializeSeed<'de> for AnyValue<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Value, E> {
        self.0.number()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Value, E> {
        self.0.number()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Value, E> {
        self.0.number()
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        if let Some(Token::Number(text)) = self.0.next() {
            // If another crate enables `arbitrary_precision`, numbers are passed as a map.
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            let number = Number::new(text);
            if number.overflows() {
                return Err(serde::de::Error::custom("number out of range"));
            }
            return Ok(Value::Number(number));
        }
        let mut fields = Object::default();
        while let Some(name) = map.next_key::<String>()? {
            fields.insert(name, map.next_value_seed(self)?);
        }
        Ok(Value::Object(Box::new(fields)))
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::value::{Value, short};
    use alloc::{borrow::ToOwned, string::ToString};

    #[test]
    fn numbers_keep_their_spelling_wherever_they_stand() {
        for text in [
            "1.0",
            "-0",
            "123456789012345678901234567890",
            r#"["1",2.50,{"3":4e2,"a\"5\\":[6,true,null]},-7E-1]"#,
            r#"{"a":{"b":{}},"c":18446744073709551616}"#,
        ] {
            assert_eq!(short(&read(text).unwrap()), text);
        }
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let deep = "[".repeat(128) + &"]".repeat(128);
        for (text, why) in [
            ("", "EOF"),
            ("1 2", "trailing"),
            ("{\"a\":1e999}", "out of range"),
            (r#""\ud800""#, "hex escape"),
            (deep.as_str(), "recursion limit"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn of_two_fields_of_one_name_the_last_counts() {
        let value = read(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(short(&value), r#"{"a":3,"b":2}"#);
        let other = read(r#"{"b":2.0,"a":3}"#).unwrap();
        assert_eq!(value, other);
        assert_ne!(value, Value::String("a".to_owned()));
    }
}
