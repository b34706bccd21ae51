//! The data structures of a response: chunks of a stream, and the complete completion, which differs in the name of one field.
//!
//! Servers agree on the outline and differ in the details, so nothing is required here, and values of an unexpected type count as
//! absent.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;

use crate::model::Usage;

/// A chunk, or a complete completion.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) model: Text<'a>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// One of several answers; only one is ever requested.
#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u32>,
    /// The content that a chunk adds.
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    /// The content of a complete completion.
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Text<'a>,
}

impl<'a> Choice<'a> {
    pub(super) fn delta(&self) -> Option<&Delta<'a>> {
        self.delta.as_ref().or(self.message.as_ref())
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Text<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Text<'a>,
    /// Thinking, under the name used by DeepSeek, vLLM and llama.cpp.
    #[serde(borrow, default)]
    pub(super) reasoning_content: Text<'a>,
    /// Thinking, under the name used by OpenRouter, Ollama and later versions of vLLM.
    #[serde(borrow, default)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPiece<'a>>>,
    /// The call of servers that do not support parallel calls.
    #[serde(borrow, default)]
    pub(super) function_call: Option<Function<'a>>,
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
pub(super) struct CallPiece<'a> {
    #[serde(default)]
    pub(super) index: Option<u32>,
    #[serde(borrow, default)]
    pub(super) id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Function<'_> {
    /// The arguments as text: a string of JSON, or, from servers that do not encode them as a string, the JSON itself.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let Some(raw) = self.arguments.map(RawValue::get) else {
            return Cow::Borrowed("");
        };
        match raw.as_bytes().first() {
            Some(b'"') => {
                crate::json::read::from_str::<Text<'_>>(raw)
                    .unwrap_or_default()
                    .0
            }
            Some(b'n') => Cow::Borrowed(""),
            _ => Cow::Borrowed(raw),
        }
    }
}

/// A text; null, absent values and values of another type are empty. A list of parts is the concatenation of their texts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl core::ops::Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyText)
    }
}

struct AnyText;

impl<'de> de::Visitor<'de> for AnyText {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.into())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = String::new();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            joined.push_str(&part.0);
        }
        Ok(Text(Cow::Owned(joined)))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        de::IgnoredAny.visit_map(map)?;
        Ok(Text::default())
    }
}

/// A part of a content list: its field `text`, if any.
struct Part<'a>(Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Form<'a> {
            #[serde(borrow, default)]
            text: Text<'a>,
        }
        let raw: &'de RawValue = Deserialize::deserialize(deserializer)?;
        let form: Result<Form<'de>, _> = crate::json::read::from_str(raw.get());
        Ok(Self(form.map(|form| form.text).unwrap_or_default()))
    }
}

/// Token counts as this format reports them.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's name for the tokens read from the cache.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

/// Counts in an unexpected form are ignored: they are no reason to lose a response.
///
/// `prompt_tokens` includes the cached tokens; `input_tokens` of the Messages API does not.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let counts: Counts = crate::json::read::from_str::<Option<Counts>>(raw.get()).ok()??;
    let details = counts.prompt_tokens_details.unwrap_or_default();
    let prompt = counts.prompt_tokens.unwrap_or(0);
    let cached = (details.cached_tokens.or(counts.prompt_cache_hit_tokens))
        .unwrap_or(0)
        .min(prompt);
    Some(Usage {
        input_tokens: prompt - cached,
        cache_read_input_tokens: cached,
        output_tokens: counts.completion_tokens.unwrap_or(0),
        ..Usage::default()
    })
}
