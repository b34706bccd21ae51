//! Tool results in the form of the Model Context Protocol, as MCP servers and the handlers of SDK tools return them.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use serde::Deserialize;

use crate::{
    content::ResultBlock,
    json::{JsonError, RawJson},
    tool::ToolResult,
};

/// Image types that the Messages API accepts.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The maximum nesting depth of a result. Results are embedded a few levels deeper in transcripts and in the messages SDKs read,
/// and readers accept at most 127 levels.
const MAX_DEPTH: usize = 118;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    #[serde(default)]
    content: Vec<RawJson>,
    #[serde(default)]
    is_error: bool,
    /// The spelling of the Python SDK's handlers.
    #[serde(default, rename = "is_error")]
    is_error_in_python: bool,
    #[serde(default)]
    structured_content: Option<RawJson>,
}

/// A content block of the protocol, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Content {
    #[serde(rename = "type")]
    kind: String,
    text: String,
    data: String,
    mime_type: String,
    uri: String,
    name: String,
    description: String,
    resource: Resource,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Resource {
    uri: String,
    mime_type: String,
    text: Option<String>,
    blob: Option<String>,
}

impl ToolResult {
    /// Converts the protocol's `CallToolResult` (Agent SDK reference, `CallToolResult`; Model Context Protocol, "Tools"). Content
    /// that cannot be shown to the model (audio, other binary data) is replaced by a description. Structured content, if any, is
    /// in `tool_use_result`.
    ///
    /// # Errors
    /// [`JsonError`] if the text is not of that form.
    pub fn from_mcp(result: &RawJson) -> Result<Self, JsonError> {
        if result.depth() > MAX_DEPTH {
            return Err(JsonError {
                reason: alloc::format!("it is nested deeper than {MAX_DEPTH} levels"),
            });
        }
        let result: CallResult = result.read()?;
        let mut content = Vec::new();
        for block in &result.content {
            let shown = block.read().map(show)?;
            content.push(shown.unwrap_or_else(|| ResultBlock::Other(block.clone())));
        }
        if content.is_empty()
            && let Some(structured) = &result.structured_content
        {
            let text = structured.get().to_owned();
            content.push(ResultBlock::Text { text });
        }
        Ok(Self {
            content,
            is_error: result.is_error || result.is_error_in_python,
            structured: result.structured_content,
            ..Self::default()
        })
    }
}

/// The block in Messages API form; none for an unknown kind.
fn show(content: Content) -> Option<ResultBlock> {
    let text = |text: String| Some(ResultBlock::Text { text });
    match content.kind.as_str() {
        "text" => text(content.text),
        "image" => Some(image_or_note(&content.mime_type, content.data, "image")),
        "audio" => text(left_out("sound", &content.mime_type)),
        "resource" => Some(resource(content.resource)),
        "resource_link" => {
            let Content {
                name,
                uri,
                description,
                ..
            } = content;
            text(match description.is_empty() {
                true => format!("[{name}: {uri}]"),
                false => format!("[{name}: {uri} ({description})]"),
            })
        }
        _ => None,
    }
}

fn resource(resource: Resource) -> ResultBlock {
    let Resource {
        uri,
        mime_type,
        text,
        blob,
    } = resource;
    match (text, blob) {
        (Some(text), _) => ResultBlock::Text {
            text: format!("[{uri}]\n{text}"),
        },
        (None, Some(blob)) => image_or_note(&mime_type, blob, &uri),
        (None, None) => ResultBlock::Text {
            text: format!("[{uri}: empty]"),
        },
    }
}

fn image_or_note(mime_type: &str, data: String, what: &str) -> ResultBlock {
    if IMAGE_TYPES.contains(&mime_type) {
        ResultBlock::image(mime_type, data)
    } else {
        ResultBlock::Text {
            text: left_out(what, mime_type),
        }
    }
}

fn left_out(what: &str, mime_type: &str) -> String {
    let kind = if mime_type.is_empty() {
        "an unknown type"
    } else {
        mime_type
    };
    format!("[{what} of {kind}: left out, the model cannot be shown it]")
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::{Value, json};

    use super::*;

    fn shown(result: &Value) -> ToolResult {
        ToolResult::from_mcp(&RawJson::parse(result.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn tool_30_text_images_and_resources_reach_the_model() {
        let result = shown(&json!({"content": [
            {"type": "text", "text": "hello"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///a.gif", "mimeType": "image/gif", "blob": "aGk="}},
            {"type": "resource_link", "uri": "https://example.com", "name": "page", "description": "more"},
        ]}));
        let text = |text: &str| ResultBlock::Text { text: text.into() };
        assert_eq!(
            result.content,
            [
                text("hello"),
                ResultBlock::image("image/png", "aGk=".into()),
                text("[file:///a.txt]\ninside"),
                ResultBlock::image("image/gif", "aGk=".into()),
                text("[page: https://example.com (more)]"),
            ]
        );
        assert!(!result.is_error);
    }

    #[test]
    fn tool_30_an_error_is_one_in_both_spellings() {
        for field in ["isError", "is_error"] {
            let result = shown(&json!({"content": [{"type": "text", "text": "no"}], field: true}));
            assert!(result.is_error, "{field}");
        }
    }

    #[test]
    fn what_cannot_be_shown_is_named() {
        let result = shown(&json!({"content": [
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "image", "data": "aGk=", "mimeType": "image/tiff"},
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "aGk="}},
            {"type": "resource", "resource": {"uri": "file:///none"}},
        ]}));
        let text = result.joined_text();
        for named in [
            "audio/wav",
            "image/tiff",
            "file:///a.bin",
            "file:///none: empty",
        ] {
            assert!(text.contains(named), "{named}: {text}");
        }
    }

    #[test]
    fn structured_content_is_for_programs_and_alone_for_the_model_too() {
        let both = shown(
            &json!({"content": [{"type": "text", "text": "5"}], "structuredContent": {"sum": 5}}),
        );
        assert_eq!(both.joined_text(), "5");
        assert_eq!(both.structured.unwrap().get(), r#"{"sum":5}"#);
        let alone = shown(&json!({"structuredContent": {"sum": 5}}));
        assert_eq!(alone.joined_text(), r#"{"sum":5}"#);
    }

    #[test]
    fn blocks_of_tomorrow_pass_untouched_and_nonsense_is_an_error() {
        let result = shown(&json!({"content": [{"type": "hologram", "at": 1}]}));
        assert!(
            matches!(&result.content[0], ResultBlock::Other(raw) if raw.get().contains("hologram"))
        );
        let deep = alloc::format!(
            r#"{{"structuredContent":{}1{}}}"#,
            "[".repeat(118),
            "]".repeat(118)
        );
        for wrong in ["7", r#"{"content": "text"}"#, r#"{"content": [7]}"#, &deep] {
            let wrong = RawJson::parse(wrong).unwrap();
            assert!(ToolResult::from_mcp(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tool_30_annotations_are_read_in_both_spellings_even_at_once() {
        let read =
            |json: Value| -> crate::tool::Annotations { serde_json::from_value(json).unwrap() };
        for hints in [
            json!({"readOnly": true, "openWorld": true}),
            json!({"readOnlyHint": true, "openWorldHint": true}),
            json!({"readOnly": true, "readOnlyHint": true, "openWorldHint": true, "title": "x"}),
        ] {
            let annotations = read(hints.clone());
            assert!(annotations.read_only && annotations.open_world, "{hints}");
            assert!(
                !annotations.destructive && !annotations.idempotent,
                "{hints}"
            );
        }
        assert!(read(json!({"readOnly": false, "readOnlyHint": true})).read_only);
    }
}
