//! Runs a call that waits for the network: until it is done, cancelled, or out of time.

use std::{future::Future, time::Duration};

use futures_util::{
    FutureExt as _,
    future::{Either, select},
    stream::{self, BoxStream, StreamExt as _},
};
use windlass_core::{
    effect::Answer,
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
};

/// The time limit of a call that has none of its own.
const LONGEST: Duration = Duration::from_secs(300);

/// The answer of a call. Dropping the stream drops the work.
pub(super) fn answers(
    call: &ToolCall,
    cancel: &CancelSignal,
    work: impl Future<Output = ToolResult> + Send + 'static,
) -> BoxStream<'static, Answer> {
    let limit = call
        .timeout_ms
        .map(u64::from)
        .map_or(LONGEST, Duration::from_millis);
    let (name, cancelled) = (call.name.clone(), cancel.cancelled());
    stream::once(async move {
        let in_time = tokio::time::timeout(limit, work).map(|done| {
            done.unwrap_or_else(|_| {
                ToolResult::error(format!(
                    "{name} took longer than {} s and was stopped.",
                    limit.as_secs_f64()
                ))
            })
        });
        match select(cancelled, Box::pin(in_time)).await {
            Either::Left(_) => Answer::Cancelled,
            Either::Right((result, _)) => Answer::Tool(result),
        }
    })
    .boxed()
}
