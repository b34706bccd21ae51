//! What a request must be like.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use windlass_core::json::RawJson;

use super::{ScriptError, value::one_or_many};

/// What a request must be like. What is not named may be anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// The path without its query; none means `/v1/messages`.
    pub path: Option<String>,
    /// The model asked for.
    pub model: Option<String>,
    /// Whether a stream is asked for.
    pub stream: Option<bool>,
    /// How many messages there are.
    pub messages: Option<usize>,
    /// How many messages there are at most.
    pub max_messages: Option<usize>,
    /// Texts in the last user message: its text blocks and the texts of its tool results.
    #[serde(deserialize_with = "one_or_many")]
    pub last_user_contains: Vec<String>,
    /// Texts somewhere in the messages.
    #[serde(deserialize_with = "one_or_many")]
    pub messages_contain: Vec<String>,
    /// Tool results in the last user message.
    pub tool_results: Vec<ExpectedResult>,
    /// Texts in the system prompt.
    #[serde(deserialize_with = "one_or_many")]
    pub system_contains: Vec<String>,
    /// Names of tools that are offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_include: Vec<String>,
    /// Names of tools that are not offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_exclude: Vec<String>,
    /// Header names with what is expected of them.
    pub headers: BTreeMap<String, ExpectedHeader>,
    /// How many `cache_control` marks there are.
    pub cache_marks: Option<usize>,
    /// Values by JSON pointer (RFC 6901): `{"/thinking/budget_tokens": 1024}`.
    pub fields: BTreeMap<String, RawJson>,
    /// JSON pointers that lead nowhere.
    #[serde(deserialize_with = "one_or_many")]
    pub absent: Vec<String>,
}

/// What is expected of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedHeader {
    /// Its value.
    Value(String),
    /// Whether it is there.
    Present(bool),
}

impl<'de> Deserialize<'de> for ExpectedHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueOrPresence;
        impl Visitor<'_> for ValueOrPresence {
            type Value = ExpectedHeader;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the header's value, or true (present) or false (absent)")
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<ExpectedHeader, E> {
                Ok(ExpectedHeader::Value(value.into()))
            }
            fn visit_bool<E: de::Error>(self, present: bool) -> Result<ExpectedHeader, E> {
                Ok(ExpectedHeader::Present(present))
            }
        }
        deserializer.deserialize_any(ValueOrPresence)
    }
}

/// A tool result that must be in the last user message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedResult {
    /// The id of the call; none means any.
    #[serde(default)]
    pub id: Option<String>,
    /// Texts in the result.
    #[serde(default, deserialize_with = "one_or_many")]
    pub contains: Vec<String>,
    /// Whether it is an error.
    #[serde(default)]
    pub is_error: Option<bool>,
}

impl Expect {
    /// Whether nothing but the default path is expected: then a request need not be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self
            == Self {
                path: self.path.clone(),
                ..Self::default()
            }
    }

    /// Pointers must be pointers: a forgotten slash would never match and never say why.
    pub(super) fn check(&self) -> Result<(), ScriptError> {
        let pointers = self.fields.keys().map(|p| ("fields", p));
        let absent = self.absent.iter().map(|p| ("absent", p));
        for (field, pointer) in pointers.chain(absent) {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(ScriptError::new(
                    &format!("expect.{field}"),
                    &format!("`{pointer}` is not a JSON pointer"),
                    &format!("start it with a slash: `/{pointer}`"),
                ));
            }
        }
        Ok(())
    }
}
