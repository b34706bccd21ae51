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

/// What a hook of a test does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStep {
    /// Write to standard output.
    Write(String),
    /// Work for so many milliseconds; a cancelled hook stops in the middle.
    Work(u64),
    /// Hang until it is cancelled.
    UntilCancelled,
    /// Be done.
    End(HookAnswer),
}

impl HookStep {
    /// Be done with this output.
    #[must_use]
    pub fn answer(output: impl Into<HookOutput>) -> Self {
        Self::End(HookAnswer::Output(output.into().to_json()))
    }
}

/// A hook: the steps for an occurrence.
pub(super) type Hook = Box<dyn FnMut(&HookInput) -> Vec<HookStep>>;

/// Plays the steps. A hook that runs out of steps has failed.
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
