//! Estimates the size of a conversation in tokens.
//!
//! After a response the provider has reported the count; everything added since is estimated from its bytes. The estimate is
//! rather high for text (a token is about four bytes of English, and more of other content), and counts an image as an image, not
//! as its base64. It determines when to compact and to clear; it is not used for billing.

use serde::{Deserialize, Serialize};

use crate::{
    json::{RawJson, find},
    model::Usage,
};

/// Bytes that count as one token.
pub const BYTES_A_TOKEN: usize = 4;
/// Tokens of an image: those of the largest one that is not scaled down, rounded up.
pub const IMAGE_TOKENS: u32 = 1_600;
/// Bytes of a document in base64 that count as one token: text and layout are a small part of a file.
const DOCUMENT_BYTES_A_TOKEN: usize = 24;
/// Tokens of a message in addition to its blocks.
const MESSAGE_TOKENS: u32 = 4;
/// Shorter values count as text, whatever the name of their field.
const SHORTEST_DATA: usize = 256;

/// Tokens of a text with this many bytes.
#[must_use]
pub fn text(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_A_TOKEN)).unwrap_or(u32::MAX)
}

/// Tokens of a content block.
#[must_use]
pub fn block(block: &RawJson) -> u32 {
    let json = block.get().as_bytes();
    if json.len() < SHORTEST_DATA || find(json, b"\"base64\"").is_none() {
        return text(json.len());
    }
    let key = b"\"data\":\"";
    let (mut bytes, mut tokens) = (json.len(), 0u32);
    let mut rest = json;
    while let Some(at) = find(rest, key) {
        rest = &rest[at + key.len()..];
        let length = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        let data = &rest[..length];
        rest = &rest[length..];
        if length >= SHORTEST_DATA {
            bytes -= length;
            tokens = tokens.saturating_add(data_tokens(data));
        }
    }
    tokens.saturating_add(text(bytes))
}

/// Tokens of base64 data: a PDF begins with the letters of `%PDF`, everything else is an image.
fn data_tokens(data: &[u8]) -> u32 {
    if data.starts_with(b"JVBERi") {
        u32::try_from(data.len().div_ceil(DOCUMENT_BYTES_A_TOKEN)).unwrap_or(u32::MAX)
    } else {
        IMAGE_TOKENS
    }
}

/// Tokens of a message with these blocks.
#[must_use]
pub fn message(blocks: &[RawJson]) -> u32 {
    blocks
        .iter()
        .map(block)
        .fold(MESSAGE_TOKENS, u32::saturating_add)
}

/// The provider's last count, and the estimate at that time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Tokens of the last request and its response.
    tokens: u64,
    /// The estimate of the history including that response.
    estimated: u64,
}

impl Counted {
    /// The count reported with a response, after it was added to the history. None if the server did not count.
    #[must_use]
    pub fn new(usage: &Usage, history_estimate: u64) -> Option<Self> {
        let tokens = (usage.input_tokens)
            .saturating_add(usage.cache_read_input_tokens)
            .saturating_add(usage.cache_creation_input_tokens)
            .saturating_add(usage.output_tokens);
        // Servers that do not count report zero input tokens; no request is empty.
        (tokens > usage.output_tokens).then_some(Self {
            tokens,
            estimated: history_estimate,
        })
    }
}

/// Tokens of a request with this history: the last count, adjusted by what was added or removed since. Without a count,
/// everything is estimated.
#[must_use]
pub fn context(counted: Option<Counted>, prefix_bytes: u64, history_estimate: u64) -> u64 {
    match counted {
        Some(counted) => (counted.tokens)
            .saturating_add(history_estimate)
            .saturating_sub(counted.estimated),
        None => (prefix_bytes.div_ceil(BYTES_A_TOKEN as u64)).saturating_add(history_estimate),
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use super::*;

    fn raw(json: String) -> RawJson {
        RawJson::parse(json).unwrap()
    }

    #[test]
    fn text_counts_by_its_bytes() {
        let block_of = |n: usize| raw(format!(r#"{{"type":"text","text":"{}"}}"#, "a".repeat(n)));
        assert_eq!(block(&block_of(0)), 7);
        assert!((1_000..1_020).contains(&block(&block_of(4_000))));
        // Only base64 counts as data.
        let named = raw(format!(
            r#"{{"type":"text","data":"{}"}}"#,
            "a".repeat(4_000)
        ));
        assert!(block(&named) > 1_000);
    }

    #[test]
    fn a_picture_counts_as_a_picture_and_a_document_as_a_part_of_its_bytes() {
        let source = |data: &str| {
            raw(format!(
                r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}"#
            ))
        };
        let picture = "iVBO".repeat(200_000);
        assert!((1_600..1_700).contains(&block(&source(&picture))));
        let document = format!("JVBERi{}", "A".repeat(240_000));
        assert!((10_000..10_100).contains(&block(&source(&document))));
        let cut = raw(format!(
            r#"{{"type":"x","source":{{"type":"base64","data":"{}"}},"more":[{{"data":"{}"}}]}}"#,
            "a".repeat(300),
            "b".repeat(300)
        ));
        assert!((3_200..3_300).contains(&block(&cut)));
    }

    #[test]
    fn a_count_beats_the_estimate_and_what_came_since_is_added() {
        let usage = Usage {
            input_tokens: 10,
            cache_read_input_tokens: 900,
            cache_creation_input_tokens: 50,
            output_tokens: 40,
            ..Usage::default()
        };
        let counted = Counted::new(&usage, 700);
        assert_eq!(context(counted, 4_000, 700), 1_000);
        assert_eq!(context(counted, 4_000, 750), 1_050);
        // Cleared results make it smaller, but never negative.
        assert_eq!(context(counted, 4_000, 200), 500);
        assert_eq!(context(None, 4_000, 750), 1_750);
        assert_eq!(
            Counted::new(
                &Usage {
                    output_tokens: 5,
                    ..Usage::default()
                },
                1
            ),
            None
        );
    }
}
