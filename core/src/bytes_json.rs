//! Bytes in JSON: as text if they are UTF-8, otherwise as base64 (RFC 4648, section 4).

use alloc::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// For `#[serde(with = …)]`: a string, or `{"base64": …}` for bytes that are not UTF-8.
pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    match core::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => Coded {
            base64: Cow::Owned(STANDARD.encode(bytes)),
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
            let bytes = STANDARD.decode(coded.base64.as_bytes());
            bytes
                .map(Bytes::from)
                .map_err(|error| de::Error::custom(format_args!("`base64` holds {error}")))
        }
    }
    deserializer.deserialize_any(Visitor)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Coded<'a> {
    base64: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use std::{
        string::{String, ToString},
        vec::Vec,
    };

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
