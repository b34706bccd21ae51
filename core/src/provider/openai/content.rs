//! Content blocks of the Messages API, translated to parts of a message.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The maximum nesting depth of lists of blocks in blocks, to limit the use of the stack.
const DEEPEST: u8 = 4;

/// A content block, flat: the fields of all kinds that can be translated.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) signature: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
    pub(super) is_error: Option<bool>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
}

/// The data of an image or a document.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    media_type: Cow<'a, str>,
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// A part of a message.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
pub(super) struct ImageUrl {
    url: String,
}

impl Part<'_> {
    pub(super) fn text(text: String) -> Self {
        Self::Text {
            text: Cow::Owned(text),
        }
    }

    pub(super) fn is_image(&self) -> bool {
        matches!(self, Self::ImageUrl { .. })
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::ImageUrl { .. } => None,
        }
    }
}

impl<'a> Block<'a> {
    /// A block whose fields have unexpected types is treated as one of an unknown kind.
    pub(super) fn read(raw: &'a RawValue) -> Self {
        crate::json::read::from_str(raw.get()).unwrap_or_default()
    }

    /// Translates the block, or adds a note that it was left out.
    pub(super) fn say(&self, parts: &mut Vec<Part<'a>>) {
        self.emit_at(0, parts);
    }

    fn emit_at(&self, depth: u8, parts: &mut Vec<Part<'a>>) {
        let before = parts.len();
        match &*self.kind {
            "text" => return push_text(parts, self.text.clone()),
            "image" => parts.extend(self.source.and_then(image)),
            "document" => self.emit_document(depth, parts),
            "search_result" => {
                push_text(parts, self.title.clone());
                emit_list(self.content, depth, parts);
            }
            _ => {}
        }
        if parts.len() == before {
            // Without a note the model would not understand what it is asked about.
            let kind = match &*self.kind {
                "" => "content block",
                kind => kind,
            };
            parts.push(Part::text(format!(
                "[Left out here: a {kind}, in a form that this model server cannot be given.]"
            )));
        }
    }

    /// Translates the content of a tool result: a text, or a list of blocks.
    pub(super) fn emit_result(&self, parts: &mut Vec<Part<'a>>) {
        emit_list(self.content, 0, parts);
    }

    fn emit_document(&self, depth: u8, parts: &mut Vec<Part<'a>>) {
        let Some(source) = self.source.and_then(Source::read) else {
            return;
        };
        let before = parts.len();
        match &*source.kind {
            "text" => push_text(parts, Some(source.data)),
            "content" => emit_list(source.content, depth, parts),
            _ => {}
        }
        if let Some(title) = self.title.clone()
            && parts.len() > before
        {
            parts.insert(before, Part::Text { text: title });
        }
    }
}

impl<'a> Source<'a> {
    fn read(raw: &'a RawValue) -> Option<Self> {
        crate::json::read::from_str(raw.get()).ok()
    }
}

/// An image by URL, or with its data in a data URL.
fn image<'a>(raw: &'a RawValue) -> Option<Part<'a>> {
    let source = Source::read(raw)?;
    let url = match &*source.kind {
        "base64" => format!("data:{};base64,{}", source.media_type, source.data),
        "url" => source.url.into_owned(),
        _ => return None,
    };
    Some(Part::ImageUrl {
        image_url: ImageUrl { url },
    })
}

/// Translates a text, or a list of blocks.
fn emit_list<'a>(content: Option<&'a RawValue>, depth: u8, parts: &mut Vec<Part<'a>>) {
    let Some(content) = content.map(RawValue::get).filter(|_| depth < DEEPEST) else {
        return;
    };
    if let Ok(text) = crate::json::read::from_str::<String>(content) {
        return push_text(parts, Some(Cow::Owned(text)));
    }
    let blocks: Vec<&'a RawValue> = crate::json::read::from_str(content).unwrap_or_default();
    for block in blocks {
        Block::read(block).emit_at(depth + 1, parts);
    }
}

fn push_text<'a>(parts: &mut Vec<Part<'a>>, text: Option<Cow<'a, str>>) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        parts.push(Part::Text { text });
    }
}
