//! Notations that several fields share.

use alloc::{format, string::String, vec::Vec};
use core::{fmt, marker::PhantomData};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use super::ScriptError;

/// Reads one value or a list of values.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<String>,
{
    struct OneOrMany<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de> + From<String>> Visitor<'de> for OneOrMany<T> {
        type Value = Vec<T>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string or a list of strings")
        }
        fn visit_str<E: de::Error>(self, one: &str) -> Result<Vec<T>, E> {
            Ok(Vec::from([T::from(one.into())]))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut many = Vec::new();
            while let Some(one) = list.next_element()? {
                many.push(one);
            }
            Ok(many)
        }
    }
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

/// A value that may also be written as a plain string.
pub(super) trait TextForm: Sized {
    /// The expected values besides a string, for error messages.
    const EXPECTED: &'static str;
    /// The value that a string stands for.
    fn from_text(text: &str) -> Self;
}

/// Reads a string through [`TextForm`], and an object through the type's own reader.
pub(super) fn text_or_object<'de, D, T, F>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TextForm + From<F>,
    F: Deserialize<'de>,
{
    struct TextOrObject<T, F>(PhantomData<(T, F)>);
    impl<'de, T: TextForm + From<F>, F: Deserialize<'de>> Visitor<'de> for TextOrObject<T, F> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(T::EXPECTED)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from_text(text))
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            F::deserialize(MapAccessDeserializer::new(map)).map(T::from)
        }
    }
    deserializer.deserialize_any(TextOrObject(PhantomData))
}

/// The maximum size of a payload in bytes: 4 GiB, sent from one small block of memory.
const MAX_PAYLOAD: u64 = 4 << 30;

/// Bytes written as text or in hexadecimal, repeated a number of times.
///
/// A large payload takes no memory: the same small block is sent again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The repeated block.
    pub unit: Bytes,
    /// The number of repetitions.
    pub repeat: u32,
}

impl Payload {
    /// A text, not repeated.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            unit: Bytes::copy_from_slice(text.as_bytes()),
            repeat: 1,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayloadFields {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    hex: Option<String>,
    #[serde(default = "super::once")]
    repeat: u32,
}

/// A payload as written.
#[derive(Debug, Clone)]
pub(super) struct PayloadForm(PayloadFields);

impl From<PayloadFields> for PayloadForm {
    fn from(fields: PayloadFields) -> Self {
        Self(fields)
    }
}

impl TextForm for PayloadForm {
    const EXPECTED: &'static str = "a string, or an object with `text` or `hex` and `repeat`";
    fn from_text(text: &str) -> Self {
        Self(PayloadFields {
            text: Some(text.into()),
            hex: None,
            repeat: 1,
        })
    }
}

impl<'de> Deserialize<'de> for PayloadForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_object::<D, Self, PayloadFields>(deserializer)
    }
}

impl PayloadForm {
    pub(super) fn check(self) -> Result<Payload, ScriptError> {
        let unit = match (self.0.text, self.0.hex) {
            (Some(text), None) => Bytes::from(text),
            (None, Some(hex)) => Bytes::from(bytes_of_hex(&hex)?),
            _ => {
                return Err(ScriptError::new(
                    "",
                    "a payload is written either as `text` or as `hex`",
                    "give exactly one of the two",
                ));
            }
        };
        if unit.len() as u64 * u64::from(self.0.repeat) > MAX_PAYLOAD {
            return Err(too_large("repeat", MAX_PAYLOAD));
        }
        Ok(Payload {
            unit,
            repeat: self.0.repeat,
        })
    }
}

/// The error for a size that would exhaust the memory of the machine that runs the script.
pub(super) fn too_large(field: &str, most: u64) -> ScriptError {
    ScriptError::new(
        field,
        &format!("that is more than {most} bytes in all"),
        "repeat it less often",
    )
}

fn bytes_of_hex(hex: &str) -> Result<Vec<u8>, ScriptError> {
    let wrong = |found: &str| {
        ScriptError::new(
            "hex",
            &format!("`{found}` is not a byte in hexadecimal"),
            "write two hexadecimal digits a byte, with spaces where you like: \"ff fe 00\"",
        )
    };
    let digits: Vec<char> = hex.chars().filter(|c| !c.is_whitespace()).collect();
    let mut out = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks(2) {
        let text: String = pair.iter().collect();
        match u8::from_str_radix(&text, 16) {
            Ok(byte) if pair.len() == 2 && pair[0] != '+' => out.push(byte),
            _ => return Err(wrong(&text)),
        }
    }
    Ok(out)
}
