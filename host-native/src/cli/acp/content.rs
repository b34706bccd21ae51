//! Prompts of an editor, in the form of the model.

use serde::Deserialize;
use serde_json::{Value, json};

use super::rpc::RpcError;

/// A part of a prompt.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
enum Block {
    Text { text: String },
    Image { mime_type: String, data: String },
    ResourceLink { name: String, uri: String },
    Resource { resource: Resource },
}

/// A file that the editor sends along.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

/// A prompt as the content of a message: a text, or blocks if there is more.
///
/// # Errors
/// A kind of content that this agent has not offered to take.
pub(super) fn message_content(prompt: Value) -> Result<Value, RpcError> {
    let blocks: Vec<Block> = serde_json::from_value(prompt)
        .map_err(|error| RpcError::invalid_params(format!("the prompt: {error}")))?;
    // Commands (`/review src`) are texts.
    if let [Block::Text { text }] = blocks.as_slice() {
        return Ok(text.clone().into());
    }
    let blocks: Result<Vec<Value>, RpcError> = blocks.into_iter().map(block).collect();
    Ok(blocks?.into())
}

fn block(block: Block) -> Result<Value, RpcError> {
    Ok(match block {
        Block::Text { text } => of_text(&text),
        Block::Image { mime_type, data } => of_image(&mime_type, &data),
        Block::ResourceLink { name, uri } => of_text(&format!("[@{name}]({})", place(&uri))),
        Block::Resource { resource } => {
            let place = place(&resource.uri);
            let kind = resource.mime_type.unwrap_or_default();
            match (resource.text, resource.blob) {
                (Some(text), _) => of_text(&format!(
                    "[@{place}]\n<context ref=\"{place}\">\n{text}\n</context>"
                )),
                (None, Some(blob)) if kind.starts_with("image/") => of_image(&kind, &blob),
                _ => {
                    let problem = format!("{place} is neither a text nor an image");
                    return Err(RpcError::invalid_params(problem));
                }
            }
        }
    })
}

fn of_text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn of_image(kind: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
}

/// A file by its path, which tools take; anything else by its address.
fn place(uri: &str) -> String {
    let file = reqwest::Url::parse(uri).ok();
    let file = file.filter(|url| url.scheme() == "file");
    let path = file.and_then(|url| url.to_file_path().ok());
    path.map_or_else(|| uri.to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stays_a_text_and_links_to_files_are_paths() {
        let text = json!({"type": "text", "text": "/cost"});
        assert_eq!(message_content(json!([text])).unwrap(), "/cost");
        let link = json!({"type": "resource_link", "name": "a b.rs", "uri": "file:///w/a%20b.rs"});
        let content = message_content(json!([text, link])).unwrap();
        assert_eq!(content[1]["text"], "[@a b.rs](/w/a b.rs)");
        let audio = json!([{"type": "audio", "data": "", "mimeType": "audio/wav"}]);
        assert!(
            message_content(audio)
                .unwrap_err()
                .to_string()
                .contains("audio")
        );
    }
}
