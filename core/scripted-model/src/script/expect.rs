//! Expectations of a request.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};
use windlass_core::json::RawJson;

use super::{ScriptError, value::one_or_many};

/// Expectations of a request. Fields that are not set accept anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// The path without its query; none means `/v1/messages`.
    pub path: Option<String>,
    /// The requested model.
    pub model: Option<String>,
    /// Whether a stream is requested.
    pub stream: Option<bool>,
    /// The number of messages.
    pub messages: Option<usize>,
    /// The maximum number of messages.
    pub max_messages: Option<usize>,
    /// Texts that occur in the last user message: in its text blocks or its tool results.
    #[serde(deserialize_with = "one_or_many")]
    pub last_user_contains: Vec<String>,
    /// Texts that occur anywhere in the messages.
    #[serde(deserialize_with = "one_or_many")]
    pub messages_contain: Vec<String>,
    /// Tool results in the last user message.
    pub tool_results: Vec<ExpectedResult>,
    /// Texts that occur in the system prompt.
    #[serde(deserialize_with = "one_or_many")]
    pub system_contains: Vec<String>,
    /// Names of tools that are offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_include: Vec<String>,
    /// Names of tools that are not offered.
    #[serde(deserialize_with = "one_or_many")]
    pub tools_exclude: Vec<String>,
    /// Headers by name, and their expectations.
    pub headers: BTreeMap<String, ExpectedHeader>,
    /// The number of `cache_control` marks.
    pub cache_marks: Option<usize>,
    /// Values by JSON pointer (RFC 6901): `{"/thinking/budget_tokens": 1024}`.
    pub fields: BTreeMap<String, RawJson>,
    /// JSON pointers that must not exist.
    #[serde(deserialize_with = "one_or_many")]
    pub absent: Vec<String>,
}

/// The expectation of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedHeader {
    /// Its value.
    Value(String),
    /// Whether it is present.
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
    /// Texts that occur in the result.
    #[serde(default, deserialize_with = "one_or_many")]
    pub contains: Vec<String>,
    /// Whether it is an error.
    #[serde(default)]
    pub is_error: Option<bool>,
}

impl Expect {
    /// Whether nothing but the default path is expected, so that a request need not be parsed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self
            == Self {
                path: self.path.clone(),
                ..Self::default()
            }
    }

    /// Checks that pointers are valid: without its leading slash, a pointer would never match and the reason would not show.
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
