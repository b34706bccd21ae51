//! Content blocks of the Messages API.

use alloc::{borrow::ToOwned as _, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::{self, RawJson, RawObject};

/// A content block of a model response, in the form the loop works with. Unknown kinds are kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Citations as they came, if any.
        citations: Vec<RawJson>,
    },
    /// Thinking, valid in a later request only with its signature.
    Thinking {
        /// The thinking.
        thinking: String,
        /// The provider's signature; empty when it never came.
        signature: String,
    },
    /// A tool call.
    ToolUse(ToolUse),
    /// Any other kind, unchanged.
    Other(RawJson),
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The model's id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The input, or the text the model sent if it is not a JSON object.
    pub input: Result<RawJson, String>,
}

impl ToolUse {
    /// The input from the text the model wrote. An empty text is an empty object.
    ///
    /// # Errors
    /// The text itself, if it is not a JSON object.
    pub(crate) fn input_from(written: String) -> Result<RawJson, String> {
        if written.trim().is_empty() {
            return Ok(RawJson::empty_object());
        }
        match RawJson::parse(written.as_str()) {
            Ok(input) => Self::checked(input).map_err(|_| written),
            Err(_) => Err(written),
        }
    }

    /// Checks that an input is an object that every reader accepts. It is part of every later request, and a server that does not
    /// accept it would refuse all of them.
    ///
    /// # Errors
    /// The text of the input, if it is anything else.
    pub(crate) fn checked(input: RawJson) -> Result<RawJson, String> {
        match input.is_object() && input.is_readable() {
            true => Ok(input),
            false => Err(input.get().to_owned()),
        }
    }

    /// The input for messages and history: always an object, empty if the real one is unusable.
    #[must_use]
    pub fn input_or_empty(&self) -> RawJson {
        match &self.input {
            Ok(input) => input.clone(),
            Err(_) => RawJson::empty_object(),
        }
    }
}

impl Block {
    /// A text block.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text {
            text: text.into(),
            citations: Vec::new(),
        }
    }

    /// The block in Messages API form.
    #[must_use]
    pub fn to_raw(&self) -> RawJson {
        let encoded = match self {
            Self::Text { text, citations } if citations.is_empty() => {
                RawJson::encode(&TextBlock { kind: "text", text })
            }
            Self::Text { text, citations } => RawJson::encode(&CitedBlock {
                kind: "text",
                text,
                citations,
            }),
            Self::Thinking {
                thinking,
                signature,
            } => RawJson::encode(&ThinkingBlock {
                kind: "thinking",
                thinking,
                signature,
            }),
            Self::ToolUse(call) => RawJson::encode(&ToolUseBlock {
                kind: "tool_use",
                id: &call.id,
                name: &call.name,
                input: call.input_or_empty(),
            }),
            Self::Other(raw) => return raw.clone(),
        };
        // Strings and raw JSON only: encoding cannot fail.
        encoded.unwrap_or_else(|_| RawJson::empty_object())
    }

    /// Whether the block may be part of a later request: empty texts and unsigned thinking may not.
    #[must_use]
    pub fn belongs_in_history(&self) -> bool {
        match self {
            Self::Text { text, .. } => !text.trim().is_empty(),
            Self::Thinking { signature, .. } => !signature.is_empty(),
            Self::ToolUse(_) => true,
            Self::Other(raw) => match kind_of(raw).as_deref() {
                // Only malformed blocks of these kinds reach this point, and the API would refuse them.
                None | Some("" | "text" | "thinking" | "tool_use") => false,
                Some(_) => true,
            },
        }
    }

    /// Reads a complete block, as in a response that is not streamed.
    #[must_use]
    pub fn from_raw(raw: RawJson) -> Self {
        let Ok(object) = RawObject::parse(raw.get()) else {
            return Self::Other(raw);
        };
        let string = |key: &str| object.get_string(key);
        match string("type").as_deref() {
            Some("text") => match string("text") {
                Some(text) => Self::Text {
                    text,
                    citations: object
                        .get("citations")
                        .and_then(|c| c.read::<Vec<RawJson>>().ok())
                        .unwrap_or_default(),
                },
                None => Self::Other(raw),
            },
            Some("thinking") => Self::Thinking {
                thinking: string("thinking").unwrap_or_default(),
                signature: string("signature").unwrap_or_default(),
            },
            Some("tool_use") => match (string("id"), string("name")) {
                (Some(id), Some(name)) => {
                    let input = match object.get("input") {
                        Some(input) if input.is_object() => Ok(input.clone()),
                        Some(input) => Err(input.get().into()),
                        None => Ok(RawJson::empty_object()),
                    };
                    Self::ToolUse(ToolUse { id, name, input })
                }
                _ => Self::Other(raw),
            },
            _ => Self::Other(raw),
        }
    }
}

/// The `type` of a block, if it has one.
fn kind_of(raw: &RawJson) -> Option<String> {
    RawObject::parse(raw.get()).ok()?.get_string("type")
}

#[derive(Serialize)]
struct TextBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct CitedBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    citations: &'a [RawJson],
}

#[derive(Serialize)]
struct ThinkingBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    thinking: &'a str,
    signature: &'a str,
}

#[derive(Serialize)]
struct ToolUseBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    name: &'a str,
    input: RawJson,
}

/// The `tool_result` block that answers a call.
#[must_use]
pub fn tool_result(tool_use_id: &str, content: &[ResultBlock], is_error: bool) -> RawJson {
    #[derive(Serialize)]
    struct ToolResultBlock<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        tool_use_id: &'a str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        is_error: bool,
    }
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Content<'a> {
        Text(&'a str),
        Blocks(Vec<&'a ResultBlock>),
    }
    // A single text is sent as a plain string: shorter, and what every reader of transcripts expects. The API refuses empty texts
    // next to other blocks, and errors without any text.
    let is_empty = |block: &&ResultBlock| matches!(block, ResultBlock::Text { text } if text.trim().is_empty());
    let said: Vec<&ResultBlock> = content.iter().filter(|block| !is_empty(block)).collect();
    let content = match (said.as_slice(), content) {
        ([], _) if is_error => Content::Text("The tool failed without saying why."),
        (_, [ResultBlock::Text { text }]) => Content::Text(text),
        ([], _) => Content::Text(""),
        ([ResultBlock::Text { text }], _) => Content::Text(text),
        _ => Content::Blocks(said),
    };
    RawJson::encode(&ToolResultBlock {
        kind: "tool_result",
        tool_use_id,
        content,
        is_error,
    })
    // Strings and raw JSON only: encoding cannot fail.
    .unwrap_or_else(|_| RawJson::empty_object())
}

/// A block of a tool result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The image data.
        source: ImageSource,
    },
    /// Any other block of the Messages API, passed through as it is.
    #[serde(untagged)]
    Other(RawJson),
}

impl<'de> Deserialize<'de> for ResultBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Text {
            text: String,
        }
        #[derive(Deserialize)]
        struct Image {
            source: ImageSource,
        }
        let (kind, raw) = json::tagged(deserializer, "type")?;
        let known = match kind.as_str() {
            "text" => raw.read().ok().map(|t: Text| Self::Text { text: t.text }),
            "image" => (raw.read().ok()).map(|i: Image| Self::Image { source: i.source }),
            _ => None,
        };
        // For example an image given by URL.
        Ok(known.unwrap_or(Self::Other(raw)))
    }
}

impl ResultBlock {
    /// An image from base64 text.
    #[must_use]
    pub fn image(media_type: &str, base64: String) -> Self {
        Self::Image {
            source: ImageSource {
                kind: "base64".to_owned(),
                media_type: media_type.to_owned(),
                data: base64,
            },
        }
    }
}

/// Bytes of an image block (Messages API `source`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageSource {
    /// Always `base64`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}
