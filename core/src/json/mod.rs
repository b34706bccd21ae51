//! JSON that is carried without interpretation.
//!
//! Everything that must survive a round trip byte for byte (tool inputs, schemas, unknown content blocks, structured results) is
//! a [`RawJson`]: the text itself, validated once. It is never rebuilt from a tree of values, so that key order, number notation
//! and unknown fields are preserved.

mod decimal;
mod fault;
mod number;
pub(crate) mod read;
mod string;
pub(crate) mod write;

use alloc::{borrow::ToOwned, boxed::Box, string::String, sync::Arc, vec::Vec};
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

pub use self::fault::remedy_for;
pub(crate) use self::{
    fault::{Fault, known_remedy},
    string::plain_bytes,
};

/// The name under which serde_json requests and passes raw text that is neither parsed nor written.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// One JSON value as text, shared and immutable. Cloning is cheap.
#[derive(Clone)]
pub struct RawJson(Arc<RawValue>);

impl RawJson {
    /// Takes a text that must be exactly one JSON value.
    ///
    /// # Errors
    /// [`JsonError`] with the position of the first error.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        read::raw(text.into())
            .map(Self::on_one_line)
            .map_err(JsonError::from)
    }

    /// The value in a text that was read before, whatever is around it.
    pub(crate) fn of_read(text: &str) -> Option<Self> {
        read::carried(text.trim().into())
            .map(Self::on_one_line)
            .ok()
    }

    /// Messages, transcripts and snapshots consist of lines, so line ends between the tokens of a value are replaced by blanks
    /// (strings contain none).
    fn on_one_line(raw: Box<RawValue>) -> Self {
        let text = raw.get();
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
            return Self(raw.into());
        }
        // Replacing white space by blanks does not change the value.
        let line = read::raw(text.replace(['\n', '\r'], " "));
        Self(line.unwrap_or(raw).into())
    }

    /// Encodes a value. Fails only for values that JSON cannot express (a map whose keys are not strings).
    ///
    /// # Errors
    /// [`JsonError`] as the encoder reports it.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        let raw = write::to_string(value).and_then(read::carried)?;
        Ok(Self(raw.into()))
    }

    /// The JSON string literal for `text`.
    #[must_use]
    pub fn string(text: &str) -> Self {
        // Serialising a `str` writes into memory only: this cannot fail.
        Self::encode(text).unwrap_or_else(|_| Self::null())
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned().into())
    }

    /// `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self::parse("{}").unwrap_or_else(|_| Self::null())
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The value in the type of serde_json.
    pub(crate) fn raw(&self) -> &RawValue {
        &self.0
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// [`JsonError`] if the value is not of that type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        read::from_str_by_name(self.get()).map_err(JsonError::from)
    }

    /// Decodes the value to a type of this crate.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, JsonError> {
        read::from_str(self.get()).map_err(JsonError::from)
    }

    /// Whether the text is a JSON object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// Whether every reader accepts the value, and not only those that carry it: no unpaired surrogates, no number too large for
    /// a double, at most 127 levels of objects and arrays.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        read::tree(self.get()).is_ok()
    }

    /// The depth of nested objects and arrays. Readers accept at most 127 levels when they decode to a type or a tree.
    #[must_use]
    pub fn depth(&self) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        let (mut in_string, mut escaped) = (false, false);
        for byte in self.get().bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        deepest
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self::on_one_line(raw.to_owned())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: Box<RawValue> = Deserialize::deserialize(deserializer)?;
        Ok(Self::on_one_line(raw))
    }
}

/// The serde default for fields that are true if absent.
pub(crate) fn yes() -> bool {
    true
}

/// The position of the first occurrence of a piece of JSON that begins with a quotation mark. The general search of memchr would
/// be larger than all callers together.
pub(crate) fn find(json: &[u8], piece: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'"', json).find(|at| json[*at..].starts_with(piece))
}

/// Reads an object along with the value of the field that determines its kind.
///
/// What serde derives for tagged enums parses to a tree first, which [`RawJson`] inside does not support.
pub(crate) fn tagged<'de, D: Deserializer<'de>>(
    deserializer: D,
    tag: &str,
) -> Result<(String, RawJson), D::Error> {
    let raw = RawJson::deserialize(deserializer)?;
    let kind = RawObject::parse(raw.get())
        .map_err(serde::de::Error::custom)?
        .get_string(tag)
        .ok_or_else(|| serde::de::Error::custom(alloc::format!("no text in the field `{tag}`")))?;
    Ok((kind, raw))
}

/// The text is not JSON, or not of the expected type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the expected JSON: {reason}")]
pub struct JsonError {
    /// The message of the parser or encoder, with line and column.
    pub reason: String,
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        Self {
            reason: alloc::format!("{error}"),
        }
    }
}

impl From<Fault> for JsonError {
    fn from(error: Fault) -> Self {
        Self {
            reason: alloc::format!("{error}"),
        }
    }
}

/// A JSON object as a list of fields in order, with unchanged values.
///
/// Content blocks of unknown kinds are kept in this form: fields can be read and replaced without affecting the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawObject(Vec<(String, RawJson)>);

impl RawObject {
    /// Reads an object.
    ///
    /// # Errors
    /// [`JsonError`] if the text is not a JSON object.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        crate::json::read::from_str(text).map_err(JsonError::from)
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawJson> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The names of the fields, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// The value of a field if it is a string.
    #[must_use]
    pub fn get_string(&self, key: &str) -> Option<String> {
        self.get(key)?.read().ok()
    }

    /// The first field that occurs twice. JSON readers differ in which of the two counts.
    #[must_use]
    pub fn duplicate(&self) -> Option<&str> {
        let mut seen = alloc::collections::BTreeSet::new();
        self.keys().find(|key| !seen.insert((*key).to_owned()))
    }

    /// The fields in their order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Removes all occurrences of a field.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| known != key);
    }

    /// Replaces a field in place, or appends it.
    pub fn set(&mut self, key: &str, value: RawJson) {
        match self.0.iter_mut().find(|(k, _)| k == key) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// The object as text.
    #[must_use]
    pub fn to_raw(&self) -> RawJson {
        // Keys are strings and values are JSON already: encoding cannot fail.
        RawJson::encode(self).unwrap_or_else(|_| RawJson::null())
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.to_raw()
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = RawObject;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<RawObject, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(RawObject(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::RawJson;

    #[test]
    fn types_of_others_may_have_aliases() {
        #[derive(serde::Deserialize, PartialEq, Debug)]
        struct Theirs {
            #[serde(alias = "a", alias = "z")]
            first: u8,
            kind: Kind,
        }
        #[derive(serde::Deserialize, PartialEq, Debug)]
        enum Kind {
            #[serde(alias = "b")]
            One,
            Two,
        }
        for text in [
            r#"{"first":1,"kind":"Two"}"#,
            r#"{"a":1,"kind":"Two"}"#,
            r#"{"kind":"Two","z":1}"#,
        ] {
            let read: Theirs = RawJson::parse(text).unwrap().decode().unwrap();
            assert_eq!((read.first, read.kind), (1, Kind::Two), "{text}");
        }
        let one: Kind = RawJson::parse(r#""b""#).unwrap().decode().unwrap();
        assert_eq!(one, Kind::One);
    }

    #[test]
    fn depth_is_that_of_the_deepest_place_and_strings_have_none() {
        for (text, depth) in [
            ("1", 0),
            (r#""[[\"{""#, 0),
            ("[]", 1),
            (r#"{"a":[1,{"b[":"}"}],"c":{}}"#, 3),
        ] {
            assert_eq!(RawJson::parse(text).unwrap().depth(), depth, "{text}");
        }
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);
        assert_eq!(RawJson::parse(deep).unwrap().depth(), 300_000);
    }

    #[test]
    fn a_value_is_one_line_however_it_was_spelled() {
        let spelled = "{\n  \"a\": [1,\r\n 2.50],\n  \"b\": \"x\\ny\"\n}";
        let line = r#"{   "a": [1,   2.50],   "b": "x\ny" }"#;
        assert_eq!(RawJson::parse(spelled).unwrap().get(), line);
        let inside: alloc::vec::Vec<RawJson> =
            serde_json::from_str(&alloc::format!("[{spelled}]")).unwrap();
        assert_eq!(inside[0].get(), line);
    }
}
