//! Requests as the scripted model sees them.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};
use core::fmt;

use serde::{
    Deserialize,
    de::{Deserializer as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

/// A borrowed request.
#[derive(Debug, Clone, Copy)]
pub struct RequestView<'a> {
    /// Path and query.
    pub path: &'a str,
    /// Headers; names are case-insensitive.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

impl<'a> RequestView<'a> {
    /// A header by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    #[must_use]
    pub fn route(&self) -> &'a str {
        self.path.split_once('?').map_or(self.path, |(p, _)| p)
    }
}

/// The fields that a response depends on.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) model: Option<String>,
    pub(super) stream: Option<bool>,
    /// Whether token counts are requested at the end of a stream of chat completions.
    pub(super) include_usage: bool,
}

impl Asked {
    /// Reads a whole request of chat completions, since the third field may be anywhere.
    pub(super) fn read_chat(body: &[u8]) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Chat {
            model: Option<String>,
            stream: Option<bool>,
            stream_options: Option<StreamOptions>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct StreamOptions {
            include_usage: bool,
        }
        let chat: Chat = serde_json::from_slice(body).unwrap_or_default();
        Self {
            model: chat.model,
            stream: chat.stream,
            include_usage: chat.stream_options.unwrap_or_default().include_usage,
        }
    }

    /// Reads a request of the Messages API only up to model and stream. If a client writes them first, a long history costs
    /// nothing.
    pub(super) fn read(body: &[u8]) -> Self {
        struct Fields<'a>(&'a mut Asked);
        impl<'de> Visitor<'de> for Fields<'_> {
            type Value = ();
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a request")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
                while self.0.model.is_none() || self.0.stream.is_none() {
                    let Some(key) = map.next_key::<Cow<'de, str>>()? else {
                        break;
                    };
                    match key.as_ref() {
                        "model" => self.0.model = map.next_value()?,
                        "stream" => self.0.stream = map.next_value()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(())
            }
        }
        let mut asked = Self::default();
        // Stopping early counts as an error for the decoder, and a malformed body does not matter here: the fields found so far
        // are used.
        let mut decoder = serde_json::Deserializer::from_slice(body);
        let _ = decoder.deserialize_map(Fields(&mut asked));
        asked
    }
}

/// The model in a request of the Messages API; none if it is missing.
#[must_use]
pub fn requested_model(body: &[u8]) -> Option<String> {
    Asked::read(body).model
}

/// The elements of a field that is an array; empty if it is anything else.
pub(super) fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The content blocks of a message; empty if its content is a plain string.
pub(super) fn blocks(message: &Value) -> &[Value] {
    list(message, "content")
}

/// The number of `cache_control` marks in a request body, at the places where they count.
pub(super) fn cache_marks(body: &Value) -> usize {
    let marked = |block: &Value| usize::from(block.get("cache_control").is_some());
    let mut marks = marked(body);
    marks += list(body, "system").iter().map(marked).sum::<usize>();
    marks += list(body, "tools").iter().map(marked).sum::<usize>();
    for message in list(body, "messages") {
        for block in blocks(message) {
            marks += marked(block);
            // Only a tool result has nested content; a tool input may contain anything.
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                marks += blocks(block).iter().map(marked).sum::<usize>();
            }
        }
    }
    marks
}

/// The text of a message, including that of its tool results.
pub(super) fn message_text(message: &Value) -> String {
    let mut texts: Vec<String> = Vec::new();
    match message.get("content") {
        Some(Value::String(text)) => texts.push(text.clone()),
        _ => {
            for block in blocks(message) {
                match block.get("type").and_then(Value::as_str) {
                    Some("text") => texts.extend(text_of(block)),
                    Some("tool_result") => texts.push(message_text(block)),
                    _ => {}
                }
            }
        }
    }
    texts.join("\n")
}

/// The system prompt as a single text.
pub(super) fn system_text(body: &Value) -> String {
    match body.get("system") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts: Vec<String> = blocks.iter().filter_map(text_of).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn text_of(block: &Value) -> Option<String> {
    block
        .get("text")
        .and_then(Value::as_str)
        .map(ToOwned::to_owned)
}
