//! A response that is not streamed: one completion.

use alloc::borrow::ToOwned;

use serde::de::Error as _;

use super::{assembly::Assembly, chunk::Chunk};
use crate::provider::{Response, WireError, whole::Unread};

/// Reads the body of a response whose thinking is only shown.
pub(super) fn read(body: &[u8]) -> Result<Response, Unread> {
    assembled(body, false)
}

/// Reads the body of a response whose thinking is sent back.
pub(super) fn read_with_reasoning(body: &[u8]) -> Result<Response, Unread> {
    assembled(body, true)
}

fn assembled(body: &[u8], keeps_reasoning: bool) -> Result<Response, Unread> {
    let completion: Chunk<'_> = serde_json::from_slice(body)?;
    let mut response = Assembly::new(keeps_reasoning);
    match response.add(&completion, &mut None) {
        Ok(()) if response.is_answered() => Ok(response.finish()),
        Ok(()) => Err(Unread::Form(serde_json::Error::custom("no choices"))),
        Err(WireError::Api(error)) => Err(Unread::Reported(error)),
        Err(other) => Err(Unread::Form(serde_json::Error::custom(
            other.into_api_error().message.to_owned(),
        ))),
    }
}
