//! Translates messages of the Messages API to chat completions.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::content::{Block, Part};
use crate::history::Role;

/// The fields in which servers send thinking; kept as the signature of thinking that is sent back.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

#[derive(Deserialize)]
struct Message<'a> {
    role: Role,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

/// A message of the user or of the model.
#[derive(Default, Serialize)]
struct Said<'a> {
    role: &'static str,
    /// Null if there are only tool calls.
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// A single text is sent as a string: every server accepts that, few accept lists everywhere.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    /// JSON, encoded as a string.
    arguments: &'a str,
}

#[derive(Serialize)]
struct ToolMessage<'a> {
    role: &'static str,
    tool_call_id: &'a str,
    content: String,
}

/// The corresponding messages, joined by commas.
pub(super) fn message(canonical: &[u8]) -> Vec<u8> {
    // The history encodes its own messages; anything else cannot be translated.
    let Ok(message) = crate::json::read::from_slice::<Message<'_>>(canonical) else {
        return Vec::new();
    };
    let blocks = message.content.into_iter().map(Block::read);
    let mut out = Joined::default();
    match message.role {
        Role::User => user(blocks, &mut out),
        Role::Assistant => assistant(blocks, &mut out),
    }
    out.0
}

/// Results come first, each as a message right after the calls they answer, then the rest. A result can only be text, so its
/// images go with the rest, introduced by the id of their call.
fn user<'a>(blocks: impl Iterator<Item = Block<'a>>, out: &mut Joined) {
    let mut images = Vec::new();
    let mut parts = Vec::new();
    for block in blocks {
        if block.kind != "tool_result" {
            block.say(&mut parts);
            continue;
        }
        let id = block.tool_use_id.as_deref().unwrap_or("");
        let mut said = Vec::new();
        block.emit_result(&mut said);
        let (seen, texts): (Vec<_>, Vec<_>) = said.into_iter().partition(Part::is_image);
        let mut content = joined_texts(&texts, "\n");
        if block.is_error == Some(true) {
            // There is no field for errors.
            content.insert_str(0, "Error: ");
        }
        if !seen.is_empty() {
            let separator = if content.is_empty() { "" } else { "\n" };
            content.push_str(separator);
            content.push_str(match seen.len() {
                1 => "[An image follows in the next message.]",
                _ => "[Images follow in the next message.]",
            });
            images.push(Part::text(format!("From the result of the call {id}:")));
            images.extend(seen);
        }
        out.push(&ToolMessage {
            role: "tool",
            tool_call_id: id,
            content,
        });
    }
    images.append(&mut parts);
    if images.is_empty() {
        return;
    }
    let content = match images.iter().any(Part::is_image) {
        true => Content::Parts(images),
        false => Content::Text(joined_texts(&images, "\n\n")),
    };
    out.push(&Said {
        role: "user",
        content: Some(content),
        ..Said::default()
    });
}

/// Text and calls. Thinking is included only if it came from such a server and has to be sent back; content that other servers
/// produced themselves (their searches, their signed thinking) is left out.
fn assistant<'a>(blocks: impl Iterator<Item = Block<'a>>, out: &mut Joined) {
    let mut said = Said {
        role: "assistant",
        ..Said::default()
    };
    let mut text = String::new();
    for block in blocks {
        match &*block.kind {
            "text" => text.push_str(block.text.as_deref().unwrap_or("")),
            "thinking" => {
                let field = match block.signature.as_deref() {
                    Some(field) if field == REASONING_FIELDS[0] => &mut said.reasoning_content,
                    Some(field) if field == REASONING_FIELDS[1] => &mut said.reasoning,
                    _ => continue,
                };
                let thinking = block.thinking.as_deref().unwrap_or("");
                field.get_or_insert_default().push_str(thinking);
            }
            "tool_use" => said.tool_calls.push(Call {
                id: block.id.unwrap_or_default(),
                kind: "function",
                function: Function {
                    name: block.name.unwrap_or_default(),
                    arguments: block.input.map_or("{}", RawValue::get),
                },
            }),
            _ => {}
        }
    }
    if text.is_empty() && said.tool_calls.is_empty() {
        return;
    }
    said.content = (!text.is_empty()).then_some(Content::Text(text));
    out.push(&said);
}

fn joined_texts(parts: &[Part<'_>], separator: &str) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    match texts.as_slice() {
        [one] => one.to_string(),
        many => many.join(separator),
    }
}

/// JSON values, separated by commas.
#[derive(Default)]
struct Joined(Vec<u8>);

impl Joined {
    fn push<T: Serialize>(&mut self, value: &T) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        // Strings only, written into memory: encoding cannot fail.
        self.0
            .extend(crate::json::write::to_text(value).into_bytes());
    }
}
