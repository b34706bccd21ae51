//! Hooks of a test host.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::pin::pin;

use futures_core::Stream;
use futures_util::{
    future::{Either, select},
    stream,
};
use windlass_core::{
    effect::Answer,
    hook::{HookAnswer, HookInput, HookOutput},
    host::CancelSignal,
};

use crate::clock::VirtualClock;

/// A step of a test hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStep {
    /// Write to standard output.
    Write(String),
    /// Work for this many milliseconds; cancellation interrupts it.
    Work(u64),
    /// Hang until it is cancelled.
    UntilCancelled,
    /// Finish with this answer.
    End(HookAnswer),
}

impl HookStep {
    /// Finish with this output.
    #[must_use]
    pub fn answer(output: impl Into<HookOutput>) -> Self {
        Self::End(HookAnswer::Output(output.into().to_json()))
    }
}

/// A hook: the steps for an occurrence.
pub(super) type Hook = Box<dyn FnMut(&HookInput) -> Vec<HookStep>>;

/// Performs the steps. A hook without a final step fails.
pub(super) fn play(
    clock: VirtualClock,
    steps: Vec<HookStep>,
    cancel: CancelSignal,
) -> impl Stream<Item = Answer> {
    stream::unfold(Some(steps.into_iter()), move |steps| {
        let (clock, cancel) = (clock.clone(), cancel.clone());
        async move {
            let mut steps = steps?;
            loop {
                let last = match steps.next() {
                    Some(HookStep::Write(stdout)) => {
                        let progress = Answer::HookProgress {
                            stdout,
                            stderr: String::new(),
                        };
                        return Some((progress, Some(steps)));
                    }
                    Some(HookStep::Work(ms)) => {
                        let work = pin!(clock.sleep(ms));
                        match select(work, cancel.cancelled()).await {
                            Either::Left(_) => continue,
                            Either::Right(_) => Answer::Cancelled,
                        }
                    }
                    Some(HookStep::UntilCancelled) => {
                        cancel.cancelled().await;
                        Answer::Cancelled
                    }
                    Some(HookStep::End(answer)) => Answer::Hook(answer),
                    None => Answer::Hook(HookAnswer::Failed(
                        "the steps of this test's hook end without HookStep::End".into(),
                    )),
                };
                return Some((last, None));
            }
        }
    })
}
