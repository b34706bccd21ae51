//! Bytes in JSON: text where they are text, base64 (RFC 4648, section 4) where they are not.

use alloc::{borrow::Cow, string::String, vec::Vec};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// For `#[serde(with = …)]`: a string, or `{"base64": …}` for what is not UTF-8.
pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    match core::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => Coded {
            base64: Cow::Owned(encode(bytes)),
        }
        .serialize(serializer),
    }
}

/// For `#[serde(with = …)]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
    struct Visitor;
    impl<'de> de::Visitor<'de> for Visitor {
        type Value = Bytes;

        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("a text, or {\"base64\": …}")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
            Ok(Bytes::copy_from_slice(text.as_bytes()))
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Bytes, A::Error> {
            let coded = Coded::deserialize(de::value::MapAccessDeserializer::new(map))?;
            let bytes = decode(&coded.base64);
            bytes
                .map(Bytes::from)
                .ok_or_else(|| de::Error::custom("`base64` holds something that is not base64"))
        }
    }
    deserializer.deserialize_any(Visitor)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Coded<'a> {
    base64: Cow<'a, str>,
}

fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            // Six bits: always a place in the alphabet.
            let digit = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= group.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    out
}

fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits.as_bytes().chunks(4) {
        let mut bits = 0;
        for digit in group {
            let value = ALPHABET.iter().position(|known| known == digit)?;
            // A place in an alphabet of 64.
            bits = bits << 6 | value as u32;
        }
        bits <<= 6 * (4 - group.len());
        let [_, bytes @ ..] = bits.to_be_bytes();
        out.extend_from_slice(bytes.get(..group.len().checked_sub(1)?)?);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Body(#[serde(with = "super")] Bytes);

    fn back(bytes: &[u8]) -> String {
        let body = Body(Bytes::copy_from_slice(bytes));
        let json = serde_json::to_string(&body).unwrap();
        assert_eq!(serde_json::from_str::<Body>(&json).unwrap(), body, "{json}");
        json
    }

    #[test]
    fn text_stays_readable_and_everything_comes_back() {
        assert_eq!(back("Grüße\n".as_bytes()), r#""Grüße\n""#);
        assert_eq!(back(b""), r#""""#);
        assert_eq!(back(&[0xff]), r#"{"base64":"/w=="}"#);
        assert_eq!(back(&[0xff, 0xfe]), r#"{"base64":"//4="}"#);
        assert_eq!(back(&[0xff, 0xfe, 0xfd]), r#"{"base64":"//79"}"#);
        for length in 0..70 {
            let bytes: Vec<u8> = (0..length).map(|i: u8| i.wrapping_mul(37) ^ 0x80).collect();
            assert_eq!(decode(&encode(&bytes)).unwrap(), bytes);
            back(&bytes);
        }
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        for bad in [
            "{\"base64\":\"a\"}",
            "{\"base64\":\"a===\"}",
            "{\"base64\":\"ä==\"}",
            "7",
            "{}",
        ] {
            let error = serde_json::from_str::<Body>(bad).unwrap_err().to_string();
            assert!(error.contains("base64"), "{bad}: {error}");
        }
    }
}
