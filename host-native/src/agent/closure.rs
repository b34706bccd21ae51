//! One call of a closure: reads its input, catches panics, applies the timeout and delivers the cancellation.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Either, select},
    stream::{self, BoxStream, PollNext, StreamExt},
};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use windlass_core::{
    EffectId, RawJson,
    effect::{Answer, Probe, Probed},
    host::{CancelSignal, Cancelled},
    tool::{ToolCall, ToolResult},
};

use crate::host::{RunTool, panic_text};

/// Capacity of the channel for progress reports. Further ones are dropped.
const PROGRESS_AHEAD: usize = 16;

/// Describes the tool call to a closure and lets it report progress.
#[derive(Debug)]
pub struct ToolContext {
    call: ToolCall,
    id: EffectId,
    cancel: CancelSignal,
    progress: mpsc::Sender<String>,
}

impl ToolContext {
    /// The tool call: its id from the model, its file grants, and the file versions that earlier calls saw.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The id of this call. It is the same when the call is repeated after a crash, so it can serve as an idempotency key.
    #[must_use]
    pub fn effect_id(&self) -> EffectId {
        self.id
    }

    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Completes when the call is cancelled. Supports one waiter at a time.
    #[must_use]
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.cancelled()
    }

    /// Reports progress: the application gets a `tool_progress` message.
    pub fn progress(&self, text: impl Into<String>) {
        // If the channel is full, enough reports are waiting; if it is closed, nobody listens.
        let _ = self.progress.try_send(text.into());
    }
}

/// The body of a closure: takes the input, returns the result.
pub(super) type Work = dyn Fn(RawJson, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync;

/// Deserializes the input before the closure is called.
pub(super) fn typed<I, F>(handler: F) -> Box<Work>
where
    I: DeserializeOwned,
    F: Fn(I, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync + 'static,
{
    Box::new(move |input, context| match input.decode::<I>() {
        Ok(input) => handler(input, context),
        // The input matches the schema, but the type is stricter.
        Err(error) => {
            let text = format!("The input of {} does not fit: {error}", context.call.name);
            std::future::ready(ToolResult::error(text)).boxed()
        }
    })
}

/// How a call is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its future is dropped at once.
    Drop,
    /// It is signalled and ends by itself.
    Signal,
}

/// A closure as a tool of the host.
pub(super) struct Closure {
    work: Box<Work>,
    stop: Stop,
}

impl Closure {
    pub(super) fn new(work: Box<Work>, stop: Stop) -> Self {
        Self { work, stop }
    }
}

impl RunTool for Closure {
    fn run(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let (sender, mut reports) = mpsc::channel(PROGRESS_AHEAD);
        let name = call.name.clone();
        let timeout = call.timeout_ms.map(u64::from).map(Duration::from_millis);
        let context = ToolContext {
            call: call.clone(),
            id,
            cancel: cancel.clone(),
            progress: sender,
        };
        // The closure may panic before it gives a future, so it is called where panics are caught.
        let work =
            match std::panic::catch_unwind(AssertUnwindSafe(|| (self.work)(call.input, context))) {
                Ok(work) => AssertUnwindSafe(work)
                    .catch_unwind()
                    .map(|done| done.unwrap_or_else(|panic| panicked(&*panic)))
                    .boxed(),
                Err(panic) => std::future::ready(panicked(&*panic)).boxed(),
            };
        let stopped = match self.stop {
            Stop::Drop => cancel.cancelled().boxed(),
            Stop::Signal => std::future::pending().boxed(),
        };
        let done = stream::once(async move {
            let in_time = async move {
                match timeout {
                    Some(limit) => tokio::time::timeout(limit, work)
                        .await
                        .unwrap_or_else(|_| timed_out(&name, limit)),
                    None => work.await,
                }
            };
            match select(stopped, Box::pin(in_time)).await {
                Either::Left(_) => Answer::Cancelled,
                Either::Right((result, _)) => Answer::Tool(result),
            }
        });
        let reports = stream::poll_fn(move |cx| reports.poll_recv(cx)).map(Answer::Progress);
        stream::select_with_strategy(reports, done, |(): &mut ()| PollNext::Left).boxed()
    }
}

/// A tool together with the probe for its lost calls.
pub(super) struct WithProbe {
    pub(super) handler: Arc<dyn RunTool>,
    pub(super) probe: Box<dyn Fn(Probe) -> BoxFuture<'static, Probed> + Send + Sync>,
}

impl RunTool for WithProbe {
    fn run(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        self.handler.run(id, call, cancel)
    }

    fn probe(&self, probe: Probe) -> BoxFuture<'static, Probed> {
        (self.probe)(probe)
    }
}

fn timed_out(name: &str, limit: Duration) -> ToolResult {
    ToolResult::error(format!(
        "{name} was stopped: it took longer than {} seconds.",
        limit.as_secs_f64()
    ))
}

pub(super) fn panicked(payload: &(dyn Any + Send)) -> ToolResult {
    ToolResult::error(format!("The tool panicked: {}", panic_text(payload)))
}
