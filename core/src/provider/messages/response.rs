//! A response that is not streamed: one JSON message.

use alloc::{string::String, vec::Vec};

use serde::Deserialize;

use crate::{
    content::Block,
    json::RawJson,
    model::{StopReason, Usage},
    provider::{Response, whole::Unread},
};

#[derive(Deserialize)]
struct WholeMessage {
    #[serde(default)]
    id: String,
    model: String,
    content: Vec<RawJson>,
    stop_reason: Option<StopReason>,
    #[serde(default)]
    stop_sequence: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// Decodes the body of a response.
pub(super) fn read(body: &[u8]) -> Result<Response, Unread> {
    let message: WholeMessage = crate::json::read::from_slice(body)?;
    Ok(Response {
        id: message.id,
        model: message.model,
        content: message.content.into_iter().map(Block::from_raw).collect(),
        stop_reason: message.stop_reason,
        stop_sequence: message.stop_sequence,
        usage: message.usage.unwrap_or_default(),
    })
}
