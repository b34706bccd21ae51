//! A response that is not streamed: one completion.

use super::{assembly::Assembly, chunk::Chunk};
use crate::provider::{Response, whole::Unread};

/// Decodes the body of a response whose thinking is only shown.
pub(super) fn read(body: &[u8]) -> Result<Response, Unread> {
    assembled(body, false)
}

/// Decodes the body of a response whose thinking is sent back.
pub(super) fn read_with_reasoning(body: &[u8]) -> Result<Response, Unread> {
    assembled(body, true)
}

fn assembled(body: &[u8], keeps_reasoning: bool) -> Result<Response, Unread> {
    let completion: Chunk<'_> = crate::json::read::from_slice(body)?;
    let mut response = Assembly::new(keeps_reasoning);
    match response.add(&completion, &mut None) {
        Ok(()) if response.is_answered() => Ok(response.finish()),
        Ok(()) => Err(Unread::Form),
        Err(error) => Err(Unread::Reported(error.into_api_error())),
    }
}
