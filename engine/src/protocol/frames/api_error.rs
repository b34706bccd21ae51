//! How an answer that never came is told: its text, and the name of the error.

use windlass_core::{RawJson, content::Block, message::ErrorClass};

/// The status with which a model server says that there is no such thing.
const NOT_FOUND: u16 = 404;

/// How the session begins the message of a response that is an error.
const SAID: &str = "API error ";

/// Gives the text the prefix by which applications recognise such an answer, and returns the name of the error.
pub(super) fn told(
    class: ErrorClass,
    status: Option<u16>,
    content: &mut [RawJson],
) -> &'static str {
    let mut name = class.name();
    for block in content {
        if let Block::Text { text, .. } = Block::from_raw(block.clone()) {
            if status == Some(NOT_FOUND) && names_a_model(&text) {
                name = "model_not_found";
            }
            let said = text.strip_prefix(SAID).unwrap_or(&text);
            *block = Block::text(&format!("API Error: {said}")).to_raw();
        }
    }
    name
}

/// Whether the server has said that it does not know the model, and not that there is nothing at the address.
fn names_a_model(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.contains("not_found_error") && text.contains("model")
}
