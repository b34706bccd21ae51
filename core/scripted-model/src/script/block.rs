//! A content block of a scripted response.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer};
use windlass_core::json::RawJson;

use super::{
    ScriptError, stray,
    value::{TextForm, text_or_object, too_large},
};

/// The maximum length of a text in bytes: 16 MiB, all of it in memory and split into deltas.
const MAX_TEXT: u64 = 16 << 20;

/// A content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockScript {
    /// Text.
    Text(String),
    /// Thinking; without a signature no `signature_delta` is sent.
    Thinking {
        /// The thinking.
        thinking: String,
        /// The signature.
        signature: Option<String>,
    },
    /// A tool call.
    ToolUse {
        /// Its id; none means `toolu_<exchange>_<block>`.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The input.
        input: Input,
    },
    /// Any block, sent unchanged.
    Raw {
        /// The block: the content of `content_block_start`, or of the response if it is not streamed.
        block: RawJson,
        /// The `delta` objects sent after it.
        deltas: Vec<RawJson>,
    },
}

/// The input of a scripted tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A JSON value.
    Json(RawJson),
    /// Text that is sent instead, usually not valid JSON.
    Broken(String),
}

impl Input {
    /// The concatenation of the text in all `input_json_delta`s.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Json(json) => json.get(),
            Self::Broken(text) => text,
        }
    }
}

/// The `type` of a block in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// `text`
    Text,
    /// `thinking`
    Thinking,
    /// `tool_use`
    ToolUse,
    /// `raw`: not a type of the Messages API; the block itself is in the field `block`.
    Raw,
}

/// A block as written, with the fields of all types; [`BlockForm::check`] refuses fields of other types than the block's own. (A
/// tagged enum would lose the path of an error.)
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BlockFields {
    #[serde(rename = "type")]
    kind: BlockKind,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    repeat: Option<u32>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<RawJson>,
    #[serde(default)]
    input_text: Option<String>,
    #[serde(default)]
    block: Option<RawJson>,
    #[serde(default)]
    deltas: Option<Vec<RawJson>>,
}

/// A block as written: an object, or a string for text.
#[derive(Debug, Clone)]
pub(super) enum BlockForm {
    Text(String),
    Object(BlockFields),
}

impl From<BlockFields> for BlockForm {
    fn from(fields: BlockFields) -> Self {
        Self::Object(fields)
    }
}

impl TextForm for BlockForm {
    const EXPECTED: &'static str = "a string (text) or a content block";
    fn from_text(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl<'de> Deserialize<'de> for BlockForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_object::<D, Self, BlockFields>(deserializer)
    }
}

impl BlockForm {
    pub(super) fn check(self) -> Result<BlockScript, ScriptError> {
        match self {
            Self::Text(text) => Ok(BlockScript::Text(text)),
            Self::Object(fields) => fields.check(),
        }
    }
}

impl BlockFields {
    fn check(self) -> Result<BlockScript, ScriptError> {
        self.refuse_strays()?;
        Ok(match self.kind {
            BlockKind::Text => {
                let text = needed(self.text, "text", "a text block")?;
                let times = self.repeat.unwrap_or(1);
                if text.len() as u64 * u64::from(times) > MAX_TEXT {
                    return Err(too_large("repeat", MAX_TEXT));
                }
                // At most MAX_TEXT times, unless the text is empty.
                BlockScript::Text(text.repeat(times as usize))
            }
            BlockKind::Thinking => BlockScript::Thinking {
                thinking: needed(self.thinking, "thinking", "a thinking block")?,
                signature: self.signature,
            },
            BlockKind::ToolUse => BlockScript::ToolUse {
                id: self.id,
                name: needed(self.name, "name", "a tool call")?,
                input: match (self.input, self.input_text) {
                    (Some(_), Some(_)) => return Err(stray("input_text", "`input`")),
                    (Some(json), None) => Input::Json(json),
                    (None, Some(text)) => Input::Broken(text),
                    (None, None) => Input::Json(RawJson::empty_object()),
                },
            },
            BlockKind::Raw => {
                let block = needed(self.block, "block", "a raw block")?;
                if !block.is_object() {
                    return Err(ScriptError::new(
                        "block",
                        "a content block is a JSON object",
                        "write the object that the API would send",
                    ));
                }
                BlockScript::Raw {
                    block,
                    deltas: self.deltas.unwrap_or_default(),
                }
            }
        })
    }

    /// Refuses fields that belong to another type of block.
    fn refuse_strays(&self) -> Result<(), ScriptError> {
        use BlockKind::{Raw, Text, Thinking, ToolUse};
        let owners = [
            ("text", self.text.is_some(), Text),
            ("repeat", self.repeat.is_some(), Text),
            ("thinking", self.thinking.is_some(), Thinking),
            ("signature", self.signature.is_some(), Thinking),
            ("id", self.id.is_some(), ToolUse),
            ("name", self.name.is_some(), ToolUse),
            ("input", self.input.is_some(), ToolUse),
            ("input_text", self.input_text.is_some(), ToolUse),
            ("block", self.block.is_some(), Raw),
            ("deltas", self.deltas.is_some(), Raw),
        ];
        match owners
            .into_iter()
            .find(|(_, present, owner)| *present && *owner != self.kind)
        {
            Some((field, _, _)) => Err(stray(field, self.kind.described())),
            None => Ok(()),
        }
    }
}

impl BlockKind {
    fn described(self) -> &'static str {
        match self {
            Self::Text => "a text block",
            Self::Thinking => "a thinking block",
            Self::ToolUse => "a tool call",
            Self::Raw => "a raw block (the block itself goes into `block`)",
        }
    }
}

fn needed<T>(value: Option<T>, field: &str, of: &str) -> Result<T, ScriptError> {
    value.ok_or_else(|| {
        ScriptError::new(
            field,
            &format!("{of} needs the field `{field}`"),
            "add the field",
        )
    })
}
