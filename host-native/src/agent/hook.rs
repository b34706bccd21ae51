//! Closures as hooks.

use std::{any::Any, fmt, future::Future, panic::AssertUnwindSafe, sync::Arc};

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use windlass_core::{
    EffectId,
    effect::Answer,
    hook::{HookAnswer, HookCall, HookInput, HookOutput, SyncOutput},
    host::{CancelSignal, Cancelled},
};

use crate::host::{RunHook, panic_text};

/// Describes a hook's run, beside its input.
#[derive(Debug)]
pub struct HookContext {
    tool_use_id: Option<String>,
    id: EffectId,
    cancel: CancelSignal,
}

impl HookContext {
    /// The id of the tool call, for events about tool calls.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<&str> {
        self.tool_use_id.as_deref()
    }

    /// The id of this run. It is the same when the hook is run again after a crash, so it can serve as an idempotency key.
    #[must_use]
    pub fn effect_id(&self) -> EffectId {
        self.id
    }

    /// Whether the time limit was reached or the run was interrupted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Completes when the time limit is reached or the run is interrupted; the answer is no longer waited for.
    /// Supports one waiter at a time.
    #[must_use]
    pub fn cancelled(&self) -> Cancelled {
        self.cancel.cancelled()
    }
}

/// What a hook may return: an output, or a failure, which is handled by the hook's failure policy.
pub trait IntoHookAnswer {
    /// The answer.
    fn into_answer(self) -> HookAnswer;
}

impl IntoHookAnswer for HookOutput {
    fn into_answer(self) -> HookAnswer {
        HookAnswer::Output(self.to_json())
    }
}

impl IntoHookAnswer for SyncOutput {
    fn into_answer(self) -> HookAnswer {
        HookOutput::from(self).into_answer()
    }
}

impl<O: IntoHookAnswer, E: fmt::Display> IntoHookAnswer for Result<O, E> {
    fn into_answer(self) -> HookAnswer {
        match self {
            Ok(output) => output.into_answer(),
            Err(error) => HookAnswer::Failed(error.to_string()),
        }
    }
}

type Work = dyn Fn(HookInput, HookContext) -> BoxFuture<'static, HookAnswer> + Send + Sync;

/// A closure as a hook of the host.
pub(super) struct HookClosure(Arc<Work>);

impl HookClosure {
    pub(super) fn new<F, Fut>(handler: F) -> Self
    where
        F: Fn(HookInput, HookContext) -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: IntoHookAnswer,
    {
        Self(Arc::new(move |input, context| {
            handler(input, context)
                .map(IntoHookAnswer::into_answer)
                .boxed()
        }))
    }
}

impl RunHook for HookClosure {
    fn run(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let work = Arc::clone(&self.0);
        let context = HookContext {
            tool_use_id: call.tool_use_id,
            id,
            cancel,
        };
        // The closure may panic before it gives a future, so it is called where panics are caught.
        let answer = AssertUnwindSafe(async move {
            match call.input.decode() {
                Ok(input) => work(input, context).await,
                Err(error) => HookAnswer::Failed(error.to_string()),
            }
        })
        .catch_unwind()
        .map(|answer| Answer::Hook(answer.unwrap_or_else(|panic| panicked(&*panic))));
        stream::once(answer).boxed()
    }
}

fn panicked(payload: &(dyn Any + Send)) -> HookAnswer {
    HookAnswer::Failed(format!("it panicked: {}", panic_text(payload)))
}
