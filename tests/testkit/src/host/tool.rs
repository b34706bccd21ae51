//! Tools of a test host that run step by step.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::pin::pin;

use futures_core::Stream;
use futures_util::{
    future::{Either, select},
    stream,
};
use windlass_core::{
    effect::Answer,
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
};

use crate::clock::VirtualClock;

/// A step of a test tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolStep {
    /// Report progress.
    Progress(String),
    /// Work for this many milliseconds; cancellation interrupts it.
    Work(u64),
    /// Work for this many milliseconds, ignoring cancellation.
    WorkOn(u64),
    /// Wait until it is cancelled, then finish without a result.
    UntilCancelled,
    /// Never finish, even if cancelled; the call has to be dropped.
    Forever,
    /// Finish with this result.
    Return(ToolResult),
}

/// A tool: the steps for a call.
pub(super) type Tool = Box<dyn FnMut(&ToolCall) -> Vec<ToolStep>>;

/// Performs the steps. A tool without a final step fails.
pub(super) fn play(
    clock: VirtualClock,
    steps: Vec<ToolStep>,
    cancel: CancelSignal,
) -> impl Stream<Item = Answer> {
    stream::unfold(Some(steps.into_iter()), move |steps| {
        let (clock, cancel) = (clock.clone(), cancel.clone());
        async move {
            let mut steps = steps?;
            loop {
                let last = match steps.next() {
                    Some(ToolStep::Progress(text)) => {
                        return Some((Answer::Progress(text), Some(steps)));
                    }
                    Some(ToolStep::Work(ms)) => {
                        let work = pin!(clock.sleep(ms));
                        match select(work, cancel.cancelled()).await {
                            Either::Left(_) => continue,
                            Either::Right(_) => Answer::Cancelled,
                        }
                    }
                    Some(ToolStep::WorkOn(ms)) => {
                        clock.sleep(ms).await;
                        continue;
                    }
                    Some(ToolStep::UntilCancelled) => {
                        cancel.cancelled().await;
                        Answer::Cancelled
                    }
                    Some(ToolStep::Forever) => core::future::pending().await,
                    Some(ToolStep::Return(result)) => Answer::Tool(result),
                    None => Answer::Tool(ToolResult::error(
                        "the steps of this test's tool end without ToolStep::Return",
                    )),
                };
                return Some((last, None));
            }
        }
    })
}
